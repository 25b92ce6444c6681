"""Run a graph in Python: in floating point, or in the whole numbers that the generated C computes with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor

from scn.export.graph import Add, Affine, Graph, LessLeast, Op, Pad, Pool, Relu, Reshape
from scn.export.layers import is_linear

if TYPE_CHECKING:
    from scn.export.quantise import Step

SHARE = 32768  # parts of a whole in which the base models' shares are counted


def run(arithmetic: Float, x: Tensor) -> dict[int, Tensor]:
    """x: (N, ...) -> every value of the graph (N, channels, height, width), in double precision."""
    graph = arithmetic.graph
    values = {0: arithmetic.start(x.reshape(-1, *graph.shapes[0]))}
    for op in graph.ops:
        sources = [values[source] for source in op.sources]
        values[op.target] = arithmetic.apply(op, *sources)
    return values


class Float:
    """Each operation as torch has it, with the weights for one beta."""

    def __init__(self, graph: Graph, beta: Tensor) -> None:
        self.graph, self.beta = graph, beta.double()

    def start(self, x: Tensor) -> Tensor:
        return x

    def apply(self, op: Op, *sources: Tensor) -> Tensor:
        table: dict[type[Op], Callable[..., Tensor]] = {
            Affine: self.affine,
            Pool: self.pool,
            Add: self.add,
            Relu: lambda _, x: x.relu(),
            Pad: self.pad,
            LessLeast: lambda _, x: x - x.amin(dim=(2, 3), keepdim=True),
            Reshape: lambda o, x: x.reshape(-1, *self.graph.shapes[o.target]),
        }
        return table[type(op)](op, *sources)

    def product(self, op: Affine, x: Tensor, weight: Tensor) -> Tensor:
        """The rows at every position, without biases."""
        if is_linear(self.graph, op):
            return (x.flatten(1) @ weight.mT).view(-1, op.rows, 1, 1)
        kernel = weight.view(op.rows, -1, *op.window.kernel)
        window = op.window
        return F.conv2d(x, kernel, None, window.stride, window.padding, window.dilation, op.groups)

    def affine(self, op: Affine, x: Tensor) -> Tensor:
        weight, bias = op.effective(self.beta)
        y = self.product(op, x, weight) + bias.view(-1, 1, 1)
        return y.relu() if op.relu else y

    def pool(self, op: Pool, x: Tensor) -> Tensor:
        window = op.window
        if op.largest:
            y = F.max_pool2d(x, window.kernel, window.stride, window.padding, window.dilation)
        else:
            y = F.avg_pool2d(
                x, window.kernel, window.stride, window.padding, count_include_pad=op.count_padding
            )
        return y.relu() if op.relu else y

    def add(self, op: Add, a: Tensor, b: Tensor) -> Tensor:
        return (a + b).relu() if op.relu else a + b

    def pad(self, op: Pad, x: Tensor) -> Tensor:
        top, bottom, left, right = op.margins
        return F.pad(x, (left, right, top, bottom), "replicate" if op.nearest else "constant")


class Int8(Float):
    """The same in whole numbers of steps; values are counted without their zero points."""

    def __init__(
        self, graph: Graph, beta: Tensor, steps: dict[int, Step], stored: dict[int, tuple[Tensor, Tensor]]
    ) -> None:
        super().__init__(graph, beta)
        self.steps, self.stored = steps, stored  # stored[target]: whole weights (M, rows, columns), scales

    def _stored(self, target: int, y: Any) -> Tensor:
        step = self.steps[target]
        away = y.sign() * (y.abs() + 0.5).floor()  # halves are rounded away from 0
        return away.clamp(step.low, step.high)

    def start(self, x: Tensor) -> Tensor:
        return self._stored(0, x / self.steps[0].scale)

    def mixed(self, op: Affine) -> tuple[Tensor, Tensor]:
        """The rows in whole numbers and their steps."""
        weight, scale = self.stored[op.target]
        if len(weight) == 1:
            return weight[0], scale[0]
        step = (self.beta.abs().unsqueeze(1) * scale).sum(dim=0)
        shares = (self.beta.unsqueeze(1) * scale / step * SHARE).round().clamp(-SHARE + 1, SHARE - 1)
        sums = (shares.unsqueeze(2) * weight).sum(dim=0)
        return ((sums + SHARE / 2) / SHARE).floor().clamp(-127, 127), step

    def affine(self, op: Affine, x: Tensor) -> Tensor:
        weight, step = self.mixed(op)
        gain = torch.ones_like(step) if op.gain is None else torch.tensordot(self.gains(op), op.gain, dims=1)
        _, bias = op.effective(self.beta)
        scaled = self.product(op, x, weight) * (gain * step * self.steps[op.sources[0]].scale).view(-1, 1, 1)
        y = scaled + bias.view(-1, 1, 1)
        y = y.relu() if op.relu else y
        if op.target == self.graph.output:
            return y
        return self._stored(op.target, y / self.steps[op.target].scale)

    def gains(self, op: Affine) -> Tensor:
        assert op.gain is not None
        return self.beta if len(op.gain) > 1 else torch.ones(1, dtype=torch.float64)

    def pool(self, op: Pool, x: Tensor) -> Tensor:
        y = super().pool(op, x)
        if op.largest:
            return y
        return self._stored(op.target, y * self.steps[op.sources[0]].scale / self.steps[op.target].scale)

    def add(self, op: Add, a: Tensor, b: Tensor) -> Tensor:
        first, second = (self.steps[source].scale for source in op.sources)
        y = super().add(op, a * first, b * second)
        return self._stored(op.target, y / self.steps[op.target].scale)
