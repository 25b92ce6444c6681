"""ReLU: part of the operation before it where that takes one, otherwise by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, fx, nn

from scn.export.operations.base import Operation
from scn.export.operations.reshape import take_same
from scn.export.translation import FunctionTranslator, GraphTranslation, LayerCall, LayerTranslator, as_layer

if TYPE_CHECKING:
    from scn.export.float_code import FloatCode
    from scn.export.int8_code import Int8Code
    from scn.export.interpret import Float


def _relu(t: GraphTranslation, node: fx.Node, call: LayerCall) -> None:
    before = t.last(call.sources[0])
    if before is not None and before.takes_relu:
        before.relu = True
        take_same(t, node, call.sources[0])
    else:
        t.add(node, Relu(call.name, call.sources, t.add_value(call.name, node)))


@dataclass
class Relu(Operation):
    """The larger of x and 0."""

    in_place: ClassVar[bool] = True
    layers: ClassVar[Mapping[type[nn.Module], LayerTranslator]] = {nn.ReLU: _relu}
    functions: ClassVar[Mapping[Any, FunctionTranslator]] = dict.fromkeys(
        (F.relu, torch.relu, "relu", "relu_"), as_layer(nn.ReLU)
    )
    float_snippets: ClassVar[Mapping[str, str]] = {
        "relu": """\
static void scn_relu(const float *x, float *y, int count)
{
    int i;
    for (i = 0; i < count; i++) {
        y[i] = x[i] < 0.0f ? 0.0f : x[i];
    }
}
"""
    }
    int8_snippets: ClassVar[Mapping[str, str]] = {
        "int_relu": """\
static void scn_relu_int@1@(const int@1@_t *x, int@1@_t *y, int count, int zero)
{
    int i;
    for (i = 0; i < count; i++) {
        y[i] = x[i] < zero ? (int@1@_t)zero : x[i];
    }
}
"""
    }

    def run_float(self, arithmetic: Float, *sources: Tensor) -> Tensor:
        return sources[0].relu()

    def write_float(self, code: FloatCode) -> None:
        code.parts.need("relu")
        code.call("scn_relu", code.at(self.sources[0]), code.at(self.target), code.graph.size(self.target))

    def write_int8(self, code: Int8Code) -> None:
        source = self.sources[0]
        bits, zero = code.bits(source), code.steps(code.quantisation[source].zero)
        code.parts.need(f"int_relu:{bits}")
        x, y, count = code.at(source), code.at(self.target), code.graph.size(self.target)
        code.call(f"scn_relu_int{bits}", x, y, count, zero)
