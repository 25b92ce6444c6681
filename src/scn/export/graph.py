"""The layers of a network as a list of simple operations, with the weights of every base model.

Every value is a block of (channels, height, width) in memory order; a flat vector is (n, 1, 1). An `Affine`
holds each layer with weights: rows of a matrix, applied once (linear) or at every position (convolution).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from scn.core.errors import ScnError

Shape = tuple[int, int, int]
Pair = tuple[int, int]


class CannotExport(ScnError):
    """A layer that the generated code cannot express."""


@dataclass(frozen=True)
class Window:
    """Where a convolution or pooling looks, in height and width."""

    kernel: Pair
    stride: Pair
    padding: Pair = (0, 0)
    dilation: Pair = (1, 1)

    def out(self, height: int, width: int) -> Pair:
        down, across = (
            (size + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
            for size, pad, dilation, kernel, stride in zip(
                (height, width), self.padding, self.dilation, self.kernel, self.stride, strict=True
            )
        )
        return down, across


@dataclass
class Op:
    """An operation that reads the values `sources` (numbers) and makes the value `target`."""

    name: str
    sources: list[int]
    target: int


@dataclass
class Affine(Op):
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

    def effective(self, beta: Tensor) -> tuple[Tensor, Tensor]:
        """The rows (rows, columns) and biases (rows,) under mixing coefficients beta (D,)."""
        bias = _mixture(self.bias, beta)
        weight = _mixture(self.weight, beta)
        if self.gain is not None:
            gain = _mixture(self.gain, beta)
            assert self.inner is not None
            return gain.unsqueeze(1) * weight, gain * _mixture(self.inner, beta) + bias
        return weight, bias


def _mixture(values: Tensor, beta: Tensor) -> Tensor:
    if len(values) == 1:
        return values[0]
    return torch.tensordot(beta.to(values), values, dims=1)


@dataclass
class Pool(Op):
    """The largest or the mean of each window. The mean is over `kernel` values where padding counts."""

    window: Window
    largest: bool
    count_padding: bool = True
    relu: bool = False


@dataclass
class Add(Op):
    """The sum of two values of one shape."""

    relu: bool = False


@dataclass
class Relu(Op):
    pass


@dataclass
class Reshape(Op):
    """The same numbers in another shape."""


@dataclass
class Pad(Op):
    """A wider frame: (top, bottom, left, right), filled with 0 or with the nearest value."""

    margins: tuple[int, int, int, int]
    nearest: bool


@dataclass
class LessLeast(Op):
    """x - min(x) over height and width, for each channel."""


@dataclass
class Graph:
    """Operations in order. shapes[i]: of value i; value 0 is the input, the last operation's the answer."""

    shapes: list[Shape]
    ops: list[Op] = field(default_factory=list)
    dims: int = 1

    @property
    def affine(self) -> list[Affine]:
        return [op for op in self.ops if isinstance(op, Affine)]

    @property
    def output(self) -> int:
        return self.ops[-1].target

    def size(self, value: int) -> int:
        return math.prod(self.shapes[value])

    def macs(self) -> int:
        """Multiply-accumulates of one inference."""
        return sum(op.rows * op.columns * math.prod(self.shapes[op.target][1:]) for op in self.affine)
