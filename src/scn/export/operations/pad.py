"""A wider frame around an image or a sound, filled with 0 or with the nearest value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import torch.nn.functional as F
from torch import Tensor, fx, nn

from scn.export.graph import CannotExport
from scn.export.operations.base import Operation
from scn.export.translation import GraphTranslation, LayerCall, LayerTranslator

if TYPE_CHECKING:
    from scn.export.float_code import FloatCode
    from scn.export.int8_code import Int8Code
    from scn.export.interpret import Float


def _pad(t: GraphTranslation, node: fx.Node, call: LayerCall, nearest: bool) -> None:
    layer: Any = call.layer
    left, right, top, bottom = (*layer.padding, 0, 0)[:4]
    if min(left, right, top, bottom) < 0:
        raise CannotExport(f'the padding "{call.name}" cuts: its sizes are {layer.padding}')
    if not nearest and getattr(layer, "value", 0) != 0:
        raise CannotExport(f'the padding "{call.name}" fills with {layer.value}: only 0 exports')
    target = t.add_value(call.name, node)
    t.add(node, Pad(call.name, call.sources, target, (top, bottom, left, right), nearest))


@dataclass
class Pad(Operation):
    """Margins: (top, bottom, left, right)."""

    margins: tuple[int, int, int, int]
    nearest: bool

    layers: ClassVar[Mapping[type[nn.Module], LayerTranslator]] = {
        nn.ConstantPad1d: partial(_pad, nearest=False),
        nn.ConstantPad2d: partial(_pad, nearest=False),
        nn.ReplicationPad1d: partial(_pad, nearest=True),
        nn.ReplicationPad2d: partial(_pad, nearest=True),
    }
    float_snippets: ClassVar[Mapping[str, str]] = {
        "pad": """\
/* A wider frame, filled with 0 or with the nearest value. */
static void scn_pad(const float *x, float *y, int channels, int height, int width, int top, int bottom, int left,
                    int right, int nearest)
{
    int channel, i, j;
    for (channel = 0; channel < channels; channel++, x += height * width) {
        for (i = -top; i < height + bottom; i++) {
            for (j = -left; j < width + right; j++) {
                const int row = i < 0 ? 0 : i < height ? i : height - 1;
                const int column = j < 0 ? 0 : j < width ? j : width - 1;
                *y++ = (nearest || (row == i && column == j)) ? x[row * width + column] : 0.0f;
            }
        }
    }
}
"""  # noqa: E501
    }
    int8_snippets: ClassVar[Mapping[str, str]] = {
        "int_pad": """\
/* A wider frame, filled with 0 or with the nearest value. */
static void scn_pad_int@1@(const int@1@_t *x, int@1@_t *y, int channels, int height, int width, int top, int bottom,
                         int left, int right, int nearest, int zero)
{
    int channel, i, j;
    for (channel = 0; channel < channels; channel++, x += height * width) {
        for (i = -top; i < height + bottom; i++) {
            for (j = -left; j < width + right; j++) {
                const int row = i < 0 ? 0 : i < height ? i : height - 1;
                const int column = j < 0 ? 0 : j < width ? j : width - 1;
                *y++ = (nearest || (row == i && column == j)) ? x[row * width + column] : (int@1@_t)zero;
            }
        }
    }
}
"""  # noqa: E501
    }

    def run_float(self, arithmetic: Float, *sources: Tensor) -> Tensor:
        top, bottom, left, right = self.margins
        return F.pad(sources[0], (left, right, top, bottom), "replicate" if self.nearest else "constant")

    def write_float(self, code: FloatCode) -> None:
        code.parts.need("pad")
        sizes = (*code.graph.shapes[self.sources[0]], *self.margins, int(self.nearest))
        code.call("scn_pad", code.at(self.sources[0]), code.at(self.target), *sizes)

    def write_int8(self, code: Int8Code) -> None:
        source = self.sources[0]
        bits, zero = code.bits(source), code.steps(code.quantisation[source].zero)
        code.parts.need(f"int_pad:{bits}")
        sizes = (*code.graph.shapes[source], *self.margins, int(self.nearest), zero)
        code.call(f"scn_pad_int{bits}", code.at(source), code.at(self.target), *sizes)
