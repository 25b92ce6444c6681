"""Real factors by whole numbers: what the generated C computes in inference, number for number.

A layer's sums become its values by y = (high word of (sum * multiplier) + offset) >> fraction. Other
operations multiply by a number and shift. Where alpha changes, floats become whole numbers by `whole`; every
step there is a single multiplication or conversion, so that no compiler can round differently.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

WORD = 32
LARGEST = 2**31 - 1
MOST_SHIFT = 62


def whole(values: Tensor, limit: int) -> Tensor:
    """float32 -> the nearest whole numbers, halves to even, from -limit to limit; 0 for what is no number."""
    known = values.float().nan_to_num(0.0, math.inf, -math.inf)
    return known.double().round().clamp(-limit, limit).long()


def high(sums: Tensor, multiplier: Tensor) -> Tensor:
    """The high word of a product of 64 bits, rounded."""
    return (sums * multiplier + 2 ** (WORD - 1)) >> WORD


@dataclass(frozen=True)
class Factor:
    """A real factor as number / 2**shift."""

    number: int
    shift: int

    def times(self, values: Tensor, parts: Tensor | int = 1) -> Tensor:
        """values by the factor, divided into parts: whole numbers, halves upwards."""
        number = torch.as_tensor(self.number) // torch.as_tensor(parts)
        return (values.long() * number + 2 ** (self.shift - 1)) >> self.shift


def factors_of(*values: float) -> tuple[Factor, ...]:
    """Positive factors with a common shift, the largest of 30 bits."""
    shift = min(MOST_SHIFT, 30 - math.ceil(math.log2(max(values))))
    return tuple(Factor(round(value * 2**shift), shift) for value in values)


def power_of_two_above(value: float) -> float:
    return 2.0 ** math.ceil(math.log2(value))
