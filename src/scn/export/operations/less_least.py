"""x - min(x) over height and width, for each channel: what a shift-invariant network begins with."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from torch import Tensor, fx

from scn.export.graph import CannotExport
from scn.export.operations.base import Operation
from scn.export.quantisation import Quantisation
from scn.export.translation import FunctionTranslator, GraphTranslation

if TYPE_CHECKING:
    from scn.export.float_code import FloatCode
    from scn.export.int8_code import Int8Code
    from scn.export.interpret import Float


def _least(t: GraphTranslation, node: fx.Node) -> None:
    source = node.args[0]
    assert isinstance(source, fx.Node)
    dims = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim")
    if {int(d) % 4 for d in dims} != {2, 3} or not node.kwargs.get("keepdim"):  # type: ignore[union-attr,arg-type]
        raise CannotExport(f"forward takes the least over {dims} ({node.name}): only over an image exports")
    t.partial[node] = (LessLeast, t.values[source])


def _subtracted(t: GraphTranslation, node: fx.Node) -> None:
    first, second = node.args[:2]
    value = t.values.get(first) if isinstance(first, fx.Node) else None
    least = t.partial.get(second) if isinstance(second, fx.Node) else None
    if value is None or least != (LessLeast, value):
        raise CannotExport(f"forward subtracts ({node.name}): only x - x.amin over the image exports")
    t.add(node, LessLeast(node.name, [value], t.add_value(node.name, node)))


@dataclass
class LessLeast(Operation):
    """Each channel less its least value."""

    reads_16_bits: ClassVar[bool] = False
    functions: ClassVar[Mapping[Any, FunctionTranslator]] = {"amin": _least, operator.sub: _subtracted}
    float_snippets: ClassVar[Mapping[str, str]] = {
        "less_least": """\
/* Each channel less its least value. */
static void scn_less_least(const float *x, float *y, int channels, int area)
{
    int channel, i;
    for (channel = 0; channel < channels; channel++, x += area, y += area) {
        float least = x[0];
        for (i = 1; i < area; i++) {
            least = x[i] < least ? x[i] : least;
        }
        for (i = 0; i < area; i++) {
            y[i] = x[i] - least;
        }
    }
}
"""
    }
    int8_snippets: ClassVar[Mapping[str, str]] = {
        "int8_less_least": """\
/* Each channel less its least value, which leaves 0 to 255: stored less 128. */
static void scn_less_least_int8(const int8_t *x, int8_t *y, int channels, int area)
{
    int channel, i;
    for (channel = 0; channel < channels; channel++, x += area, y += area) {
        int least = x[0];
        for (i = 1; i < area; i++) {
            least = x[i] < least ? x[i] : least;
        }
        for (i = 0; i < area; i++) {
            y[i] = (int8_t)(x[i] - least - 128);
        }
    }
}
"""
    }

    def quantisation(self, source: Quantisation) -> Quantisation:
        return Quantisation(source.scale, 0, 255, -128)

    def run_float(self, arithmetic: Float, *sources: Tensor) -> Tensor:
        return sources[0] - sources[0].amin(dim=(2, 3), keepdim=True)

    def write_float(self, code: FloatCode) -> None:
        code.parts.need("less_least")
        self._write(code, "scn_less_least")

    def write_int8(self, code: Int8Code) -> None:
        code.parts.need("int8_less_least")
        self._write(code, "scn_less_least_int8")

    def _write(self, code: FloatCode | Int8Code, function: str) -> None:
        channels, height, width = code.graph.shapes[self.target]
        code.call(function, code.at(self.sources[0]), code.at(self.target), channels, height * width)
