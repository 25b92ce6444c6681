"""Whole numbers for values and weights: a number of steps, each of one scale."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

MOST = 127


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


def quantised_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """(M, rows, columns) -> whole numbers from -127 to 127, and the scale of each row (M, rows)."""
    scale = weight.abs().amax(dim=2) / MOST
    scale = scale.where(scale > 0, 1.0).float().double()
    return (weight / scale.unsqueeze(2)).round().clamp(-MOST, MOST), scale
