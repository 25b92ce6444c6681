"""Make the channels of a value equally large before it is rounded, without changing what a network computes.

A row of a layer may be divided by any positive number if the columns that read it are multiplied by it: ReLU,
pooling and reshaping do not mind. So every channel gets the full range of 8 bits, at no cost at run time.
"""

from __future__ import annotations

import copy
import math

from torch import Tensor

from scn.export.graph import Affine, Graph, Op, Pad, Pool, Relu, Reshape

LEAST = 1e-3  # of the largest channel: what is smaller than that is not worth the columns' range


def equalised(graph: Graph, values: dict[int, Tensor]) -> Graph:
    """The same function with channels of equal size. values[v]: (N, C, H, W), seen on samples."""
    graph = copy.deepcopy(graph)
    for op in graph.affine:
        readers = _readers(graph, op.target)
        if op.target == graph.output or not readers:
            continue
        largest = values[op.target].abs().amax(dim=(0, 2, 3))
        if float(largest.max()) > 0:
            size = largest / largest.max()
            _rescale(graph, op, readers, size.clamp_min(LEAST))
    return graph


def _readers(graph: Graph, value: int) -> list[Affine] | None:
    """The layers that read a value, through operations that keep channels apart; None if others do."""
    found: list[Affine] = []
    for op in graph.ops:
        if value not in op.sources:
            continue
        further = _further(graph, op)
        if further is None:
            return None
        found += further
    return found


def _further(graph: Graph, op: Op) -> list[Affine] | None:
    if isinstance(op, Affine):
        return [op]
    return _readers(graph, op.target) if isinstance(op, Pool | Relu | Reshape | Pad) else None


def _rescale(graph: Graph, op: Affine, readers: list[Affine], size: Tensor) -> None:
    if op.gain is None:
        op.weight = op.weight / size.view(-1, 1)
    else:
        op.gain = op.gain / size
    op.bias = op.bias / size
    for reader in readers:
        channels, *area = graph.shapes[reader.sources[0]]
        inner = math.prod(area) if channels == len(size) else channels // len(size)
        if reader.columns == len(size) * inner:  # it reads everything at once
            each = size.repeat_interleave(inner).expand(reader.rows, -1)
        else:
            window = math.prod(reader.window.kernel)
            groups = size.view(reader.groups, -1).repeat_interleave(window, dim=1)
            each = groups.repeat_interleave(reader.rows // reader.groups, dim=0)
        reader.weight = reader.weight * each
