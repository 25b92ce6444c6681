"""Weights as whole numbers of 8 bits: one scale for each row of each base model."""

from __future__ import annotations

from torch import Tensor

MOST = 127


def quantised_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """(M, rows, columns) -> whole numbers from -127 to 127, and the scale of each row (M, rows)."""
    scale = weight.abs().amax(dim=2) / MOST
    scale = scale.where(scale > 0, 1.0).float().double()
    return (weight / scale.unsqueeze(2)).round().clamp(-MOST, MOST), scale
