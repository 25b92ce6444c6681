"""The configuration network h: the published map, learned together with the base models.

One hidden layer of 64 ReLU units and a softmax, so that beta is a point of the simplex: its D
coefficients are positive and sum to 1. With S values in alpha it has 64*(S+1) + 65*D parameters.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import ClassVar

import torch
from torch import Tensor, nn

from scn.core.maps.base import Map, registry
from scn.core.maps.nodes import Nodes
from scn.core.space import Space, draw, size_of

HIDDEN_UNITS = 64
STEPS, DRAWS, RATE = 400, 256, 2e-2  # of the start from nodes
LEAST = 1e-6


@registry.register("learned")
class Learned(Map):
    """beta = softmax(W2 relu(W1 alpha + b1) + b2), for alpha of any kind."""

    bounded: ClassVar[bool] = False

    def __init__(self, space: Space, dims: int, *, outside: str = "refuse") -> None:
        super().__init__(space, dims, outside=outside)
        self.hidden = nn.Linear(size_of(space), HIDDEN_UNITS)
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
        self.dims = len(origin)

    @torch.no_grad()
    def without(self, kept: list[int]) -> Learned:
        """What the others had of beta is shared out over those that are kept, in their proportions."""
        fewer = Learned(self.space, len(kept), outside=self.outside).to(self.output.weight)
        fewer.hidden.load_state_dict(self.hidden.state_dict())
        fewer.output.weight.copy_(self.output.weight[kept])
        fewer.output.bias.copy_(self.output.bias[kept])
        return fewer


@registry.register("learned-from-nodes")
class LearnedFromNodes(Learned):
    """The same network, which starts as an interpolation between D nodes of the space."""

    @property
    def saved_as(self) -> type[Map]:
        return Learned

    def __init__(self, space: Space, dims: int, *, outside: str = "refuse") -> None:
        super().__init__(space, dims, outside=outside)
        nodes = Nodes(space, dims)
        optimiser = torch.optim.Adam(self.parameters(), RATE)
        with torch.enable_grad():
            for step in range(STEPS):
                for group in optimiser.param_groups:
                    group["lr"] = RATE * (1 - step / STEPS)
                alpha = draw(space, DRAWS)
                optimiser.zero_grad()
                missed = -(nodes(alpha) * self(alpha).clamp_min(LEAST).log()).sum(dim=-1).mean()
                missed.backward()
                optimiser.step()
