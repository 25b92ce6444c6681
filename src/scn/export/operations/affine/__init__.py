"""Rows of weights, applied once (a linear layer) or at every position (a convolution).

The one operation whose weights are mixed, and so the heart of the export: its recognition (`recognise`) and
its code (`in_float`, `in_int8`) have files of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, fx, nn
from torch.nn.modules.batchnorm import _BatchNorm

from scn.core.gains import Gains
from scn.export.graph import Graph, Window
from scn.export.operations.affine import in_float, in_int8, recognise
from scn.export.operations.affine.rescale import Rescaling, mixed_rows, rounded_shares, row_values
from scn.export.operations.base import Operation
from scn.export.snippets import from_files
from scn.export.translation import GraphTranslation, LayerCall, LayerTranslator

if TYPE_CHECKING:
    from scn.export.float_code import FloatCode
    from scn.export.int8_code import Int8Code, Scratch
    from scn.export.interpret import Float, Int8


def _linear(t: GraphTranslation, node: fx.Node, call: LayerCall) -> None:
    recognise.add_linear(t, node, call, Affine)


def _convolution(t: GraphTranslation, node: fx.Node, call: LayerCall) -> None:
    recognise.add_convolution(t, node, call, Affine)


def _norm(t: GraphTranslation, node: fx.Node, call: LayerCall) -> None:
    recognise.fold_norm(t, node, call, Affine)


POSITIONS = 4  # of a convolution, taken together


@dataclass
class Affine(Operation):
    """y = gain * (weight x + inner) + bias for each row, then ReLU if so.

    weight: (M, rows, columns), M base models or 1 where shared; the vectors (V, rows) likewise, all with the
    same V. `gain` is the learned factor of a norm layer where it is mixed too: then a row of theta is a
    product of two mixtures, which no base models of its own could give.
    """

    weight: Tensor
    bias: Tensor
    window: Window
    groups: int = 1
    inner: Tensor | None = None
    gain: Tensor | None = None
    relu: bool = False
    pool: Window | None = None  # of a convolution: only the largest of each window is kept
    by_shares: bool = False  # whether shares of base models are rounded (see `rescale.rounded_shares`)

    takes_relu: ClassVar[bool] = True
    widens: ClassVar[bool] = True
    layers: ClassVar[Mapping[type[nn.Module], LayerTranslator]] = {
        nn.Linear: _linear,
        nn.Conv1d: _convolution,
        nn.Conv2d: _convolution,
        _BatchNorm: _norm,
        Gains: _norm,
    }
    float_snippets: ClassVar[Mapping[str, str]] = from_files(
        *("linear_row", "linear_strips", "gather", "gather4", "conv_ram", "conv_row"),
        *("pooled", "gather_pooled", "conv_pooled_ram", "conv_pooled_two", "conv_pooled_row"),
    )
    int8_snippets: ClassVar[Mapping[str, str]] = from_files(
        *(
            "int8_rows",
            "int8_step",
            "int8_steps",
            "int8_shares",
            "int8_mix_pairs",
            "int8_mix",
            "int8_mix_few",
            "int8_alone",
            "int8_rows_ram",
            "int_affine",
            "int8_last",
            "int8_row",
        ),
        *("int_linear_row", "int8_last_row", "int_gather", "int_gather4", "int8_patches", "int_conv_block"),
        *("int_conv", "int_conv_row", "int_gather_pooled", "int_pooled_block"),
        *("int_conv_pooled", "int_conv_pooled_row"),
    )

    @property
    def rows(self) -> int:
        return self.weight.shape[1]

    @property
    def columns(self) -> int:
        return self.weight.shape[2]

    @property
    def bases(self) -> int:
        return self.weight.shape[0]

    @property
    def mixed(self) -> bool:
        """Whether the rows depend on alpha."""
        return self.bases > 1 or self.gain is not None

    @property
    def rescales(self) -> bool:
        return True

    def take_pool(self, graph: Graph, window: Window) -> bool:
        """Windows side by side, of as many positions as a kernel takes at a time."""
        plain = window.stride == window.kernel and window.padding == (0, 0) and window.dilation == (1, 1)
        fits = plain and self.pool is None and math.prod(window.kernel) % POSITIONS == 0
        if not fits or self.is_linear(graph):
            return False
        self.pool = window
        graph.shapes[self.target] = (self.rows, *window.out(*graph.shapes[self.target][1:]))
        return True

    def macs(self, graph: Graph) -> int:
        positions = self.window.out(*graph.shapes[self.sources[0]][1:])
        return self.rows * self.columns * math.prod(positions if self.pool else graph.shapes[self.target][1:])

    def is_linear(self, graph: Graph) -> bool:
        """Whether it sees its whole input once: a linear layer, or a convolution as large as its input."""
        once = graph.shapes[self.target][1:] == (1, 1) and self.groups == 1 and self.window.padding == (0, 0)
        return once and self.pool is None and self.columns == graph.size(self.sources[0])

    def effective(self, beta: Tensor) -> tuple[Tensor, Tensor]:
        """The rows (rows, columns) and biases (rows,) under mixing coefficients beta (D,)."""
        bias = _mixture(self.bias, beta)
        if self.by_shares and self.bases > 1:
            weight = (rounded_shares(self.weight, beta).unsqueeze(2) * self.weight).sum(dim=0)
        else:
            weight = _mixture(self.weight, beta)
        if self.gain is not None:
            gain = _mixture(self.gain, beta)
            assert self.inner is not None
            return gain.unsqueeze(1) * weight, gain * _mixture(self.inner, beta) + bias
        return weight, bias

    def _product(self, graph: Graph, x: Tensor, weight: Tensor) -> Tensor:
        """The rows at every position, without biases."""
        if self.is_linear(graph):
            return (x.flatten(1) @ weight.mT).view(-1, self.rows, 1, 1)
        kernel, window = weight.view(self.rows, -1, *self.window.kernel), self.window
        return F.conv2d(x, kernel, None, window.stride, window.padding, window.dilation, self.groups)

    def run_float(self, arithmetic: Float, *sources: Tensor) -> Tensor:
        weight, bias = self.effective(arithmetic.beta)
        y = self._pooled(self._product(arithmetic.graph, sources[0], weight) + bias.view(-1, 1, 1))
        return y.relu() if self.relu else y

    def _pooled(self, y: Tensor) -> Tensor:
        return y if self.pool is None else F.max_pool2d(y, self.pool.kernel)

    def rescaling(self, graph: Graph, scale: Tensor, source: float, target: float) -> Rescaling:
        """How its sums become values. scale: (M, rows), of its weights; then those of its values."""
        return Rescaling(scale, self.bias, self.gain, self.inner, source, target, graph.dims)

    def run_int8(self, arithmetic: Int8, *sources: Tensor) -> Tensor:
        graph, beta = arithmetic.graph, arithmetic.beta
        weight, scale = arithmetic.stored[self.target]
        target = arithmetic.scale(self.target)
        how = self.rescaling(graph, scale, arithmetic.scale(self.sources[0]), target)
        if self.bases == 1:
            words = row_values(self._sums(graph, sources[0], weight[0]), how.multiplier(beta))
        elif arithmetic.by_rows and self.is_linear(graph):
            parts = [
                row_values(self._sums(graph, sources[0], rows), multiplier)
                for rows, multiplier in zip(weight, how.multipliers(beta), strict=True)
                if multiplier.any()
            ]
            words = torch.stack(parts or [torch.zeros(len(sources[0]), self.rows, 1, 1).long()]).sum(0)
        else:
            rows = mixed_rows(weight, how.shares(beta)[0])
            words = row_values(self._sums(graph, sources[0], rows), how.multiplier(beta))
        steps = self._pooled(arithmetic.within(self.target, how.values(words, beta)))
        return steps * target if self.target == graph.output else steps

    def _sums(self, graph: Graph, x: Tensor, weight: Tensor) -> Tensor:
        """Whole numbers; none is too large for a double."""
        return self._product(graph, x, weight).round().long()

    def write_float(self, code: FloatCode) -> None:
        in_float.write(code, code.arrangement.of(self))

    def write_int8(self, code: Int8Code) -> None:
        in_int8.write(code, code.arrangement.of(self))

    def float_scratch(self, code: FloatCode) -> int:
        return in_float.scratch(code, code.arrangement.of(self))

    def int8_scratch(self, code: Int8Code) -> Scratch:
        return in_int8.scratch(code, code.arrangement.of(self))


def _mixture(values: Tensor, beta: Tensor) -> Tensor:
    if len(values) == 1:
        return values[0]
    return torch.tensordot(beta.to(values), values, dims=1)


def layers_of(graph: Graph) -> list[Affine]:
    """The layers with weights, in order."""
    return [op for op in graph.ops if isinstance(op, Affine)]
