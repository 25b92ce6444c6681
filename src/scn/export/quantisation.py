"""Whole numbers for values and weights: a number of steps, each of one scale."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from scn.export.fixed_point import Factor, factors_of, whole

MOST = 127
WIDE = 20  # bits of an input on its way to 8 bits


@dataclass(frozen=True)
class Quantisation:
    """The quantisation parameters of a value.

    It is stored as (x / scale, rounded, from low to high) + zero.
    """

    scale: float
    low: int = -128
    high: int = 127
    zero: int = 0

    @property
    def bits(self) -> int:
        return 8 if self.high - self.low <= 255 else 16

    @property
    def exponent(self) -> int:
        """Of an input: the power of two that it is multiplied by, which rounds nothing."""
        if self.bits == 16:
            return -round(math.log2(self.scale))
        return WIDE - math.ceil(math.log2(self.high * self.scale))

    @property
    def narrowing(self) -> Factor:
        """Of an input of 8 bits: from the wide whole number to steps."""
        return factors_of(2.0**-self.exponent / self.scale)[0]

    def of_floats(self, x: Tensor) -> Tensor:
        """An input in numbers of steps."""
        steps = whole(x.float() * 2.0**self.exponent, 2**30)
        if self.bits == 8:
            steps = self.narrowing.times(steps)
        return steps.clamp(self.low, self.high)


def quantised_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """(M, rows, columns) -> whole numbers from -127 to 127, and the scale of each row (M, rows)."""
    scale = weight.abs().amax(dim=2) / MOST
    scale = scale.where(scale > 0, 1.0).float().double()
    return (weight / scale.unsqueeze(2)).round().clamp(-MOST, MOST), scale
