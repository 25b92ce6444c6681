"""A small network that reads alpha off the input.

Of a long input, such as sound, it reads a summary: how loud each part is in time and in frequency. Values as
they are say next to nothing about pitch or speed to a network of this size.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

WIDTH = 64
LONG = 4096  # values: an input with more of them is summarised
PARTS, QUIET = 256, 0.01  # of a summary, in time and in frequency; what is not worth telling from silence


def is_long(values: int) -> bool:
    return values > LONG


def estimator_for(values: int, alpha_dim: int) -> Estimator:
    """The one for inputs of so many values."""
    return Estimator(2 * PARTS if is_long(values) else values, alpha_dim)


def summarised(x: Tensor) -> Tensor:
    """(B, ...) -> (B, 2 PARTS): how loud the parts of an input are, in time and in frequency."""
    flat = x.flatten(1)
    spectrum = torch.fft.rfft(flat, norm="ortho").abs()
    loud = [F.adaptive_avg_pool1d(values, PARTS) for values in (flat.abs(), spectrum)]
    return torch.log1p(torch.cat(loud, dim=1) / QUIET)


class Estimator(nn.Module):
    """x: (B, ...) -> alpha (B, S), as the transform encodes it: an angle as its cosine and sine."""

    def __init__(self, inputs: int, alpha_dim: int) -> None:
        super().__init__()
        self.inputs = inputs
        self.layers = nn.Sequential(
            nn.Flatten(),
            nn.Linear(inputs, WIDTH),
            nn.ReLU(),
            nn.Linear(WIDTH, WIDTH),
            nn.ReLU(),
            nn.Linear(WIDTH, alpha_dim),
        )

    def forward(self, x: Tensor) -> Tensor:
        alpha: Tensor = self.layers(x if x[0].numel() == self.inputs else summarised(x))
        return alpha
