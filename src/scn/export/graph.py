"""The operations of a network in order, with the shapes of the values between them.

Every value is a block of (channels, height, width) in memory order; a flat vector is (n, 1, 1). What an
operation is, and what it becomes, stands in its own file in `operations`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scn.core.errors import ScnError

if TYPE_CHECKING:
    from scn.export.operations.base import Operation

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
class Graph:
    """Operations in order. shapes[i]: of value i; value 0 is the input, the last operation's the output."""

    shapes: list[Shape]
    ops: list[Operation] = field(default_factory=list)
    dims: int = 1
    entries: int | None = None  # of a map that picks as many base models to mix; None where it mixes all
    searched: bool = False  # whether a search reads the base models row by row, besides

    @property
    def few(self) -> bool:
        """Whether the base models that are mixed are picked out of more."""
        return self.entries is not None and self.entries < self.dims

    @property
    def output(self) -> int:
        return self.ops[-1].target

    def size(self, value: int) -> int:
        return math.prod(self.shapes[value])

    def readers(self, value: int) -> list[Operation]:
        """The operations that read a value, also in another shape."""
        found: list[Operation] = []
        for op in self.ops:
            if value in op.sources:
                found += self.readers(op.target) if op.is_view else [op]
        return found

    def macs(self) -> int:
        """Multiply-accumulates of one inference."""
        return sum(op.macs(self) for op in self.ops)
