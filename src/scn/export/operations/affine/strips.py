"""Two pooled convolutions of sounds behind each other, in strips: what is between is never kept whole."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scn.export.graph import Graph
from scn.export.layers import Arrangement, Place

if TYPE_CHECKING:
    from scn.export.operations.affine import Affine

OUTPUTS = 4  # of the second convolution, in a strip


def strips(graph: Graph, arrangement: Arrangement) -> dict[int, Affine]:
    """The values that exist in strips only, and what makes each; no two of them follow each other."""
    found: dict[int, Affine] = {}
    for layer in arrangement.layers:
        behind, (source,) = layer.op, layer.op.sources
        made = next((one for one in arrangement.layers if one.op.target == source), None)
        if made is None or made.op.sources[0] in found:
            continue
        rows_stay = Place.STRIPS not in (made.place, layer.place)  # otherwise each strip would mix them again
        alone = graph.readers(source) == [behind] and _on_a_line(graph, made.op) and _on_a_line(graph, behind)
        if rows_stay and alone and 2 * positions(behind) < graph.shapes[source][2]:
            found[source] = made.op
    return found


def positions(behind: Affine) -> int:
    """How many positions of its input a strip has."""
    assert behind.pool is not None
    (_, step), (_, kernel), (_, gap) = behind.window.stride, behind.window.kernel, behind.window.dilation
    return OUTPUTS * behind.pool.kernel[1] * step + (kernel - 1) * gap + 1 - step


def _on_a_line(graph: Graph, op: Affine) -> bool:
    """Whether it is pooled, of one dimension, without margins, and passes over nothing."""
    if op.pool is None or op.groups > 1 or op.window.padding != (0, 0):
        return False
    heights = {graph.shapes[value][1] for value in (op.sources[0], op.target)} | {op.pool.kernel[0]}
    seen = (op.window.kernel[1] - 1) * op.window.dilation[1] + 1
    return heights == {1} and op.window.kernel[0] == 1 and seen >= op.window.stride[1]


def size(graph: Graph, behind: Affine) -> int:
    """Values of a strip."""
    return math.prod((graph.shapes[behind.sources[0]][0], positions(behind)))
