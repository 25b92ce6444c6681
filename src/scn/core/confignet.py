"""The configuration network h: it turns the measured parameters alpha into mixing coefficients beta.

One hidden layer of 64 ReLU units and a softmax, so that beta is a point of the simplex: its D
coefficients are positive and sum to 1. With S values in alpha it has 64*(S+1) + 65*D parameters.
"""

from __future__ import annotations

import math
from collections import Counter

import torch
from torch import Tensor, nn

HIDDEN_UNITS = 64


class ConfigurationNetwork(nn.Module):
    """beta = softmax(W2 relu(W1 alpha + b1) + b2)."""

    def __init__(self, alpha_dim: int, dims: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(alpha_dim, HIDDEN_UNITS)
        self.output = nn.Linear(HIDDEN_UNITS, dims)

    def forward(self, alpha: Tensor) -> Tensor:
        """alpha: (..., S) -> beta: (..., D), each row positive with sum 1."""
        if alpha.dim() == 1:
            return self._of_one(alpha)
        return self.output(self.hidden(alpha).relu()).softmax(dim=-1)

    def _of_one(self, alpha: Tensor) -> Tensor:
        """The same for alpha: (S,), as on every reconfiguration, in half the time.

        At this size nn.Linear and the attributes of nn.Module cost more than the arithmetic.
        """
        tables = self._modules
        hidden, output = tables["hidden"]._parameters, tables["output"]._parameters  # type: ignore[union-attr]
        units = torch.addmv(hidden["bias"], hidden["weight"], alpha).relu_()  # type: ignore[arg-type]
        return torch.addmv(output["bias"], output["weight"], units).softmax(dim=-1)  # type: ignore[arg-type]

    @torch.no_grad()
    def divide(self, parents: list[int]) -> None:
        """Add one output per entry of `parents`: a copy of that parent's output.

        A parent and its copies share equally what the parent alone had: each of a family of m
        gets beta/m, because softmax turns a bias lowered by log(m) into a division by m.
        """
        copies = Counter(parents)
        old = self.output
        origin = [*range(old.out_features), *parents]
        share = torch.tensor([math.log(1 + copies[i]) for i in origin]).to(old.bias)
        self.output = nn.Linear(HIDDEN_UNITS, len(origin)).to(old.weight)
        self.output.weight.copy_(old.weight[origin])
        self.output.bias.copy_(old.bias[origin] - share)
        self.output.weight.requires_grad_(old.weight.requires_grad)
        self.output.bias.requires_grad_(old.bias.requires_grad)
