"""A factor and a shift for each output of a layer: the least that can be configured of it."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Gains(nn.Module):
    """y = weight * x + bias, for each of `size` units: the last dimension, or, `at=1`, that of channels.

    It computes what a norm layer in use does with the statistics 0 and 1, and so has its kernel.
    """

    eps = 0.0
    running_mean: Tensor
    running_var: Tensor

    def __init__(self, size: int, at: int = -1) -> None:
        super().__init__()
        self.at = at
        self.weight, self.bias = nn.Parameter(torch.empty(size)), nn.Parameter(torch.empty(size))
        self.register_buffer("running_mean", torch.zeros(size), persistent=False)
        self.register_buffer("running_var", torch.ones(size), persistent=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.ones_(self.weight)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, ..., size), or (B, size, ...) for channels."""
        y = x if self.at == 1 else x.movedim(-1, 1)
        y = F.batch_norm(y, self.running_mean, self.running_var, self.weight, self.bias, False, 0.0, self.eps)
        return y if self.at == 1 else y.movedim(1, -1)

    def extra_repr(self) -> str:
        return f"{len(self.running_mean)}"
