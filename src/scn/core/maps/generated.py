"""Maps without a softmax: theta is one base model plus a sum of differences from it, as generators of weights
have it (a hypernetwork, FiLM, alpha as an input).

    theta = theta_0 + sum_i c_i(alpha) (theta_i - theta_0)      beta = (1 - sum c, c_1, c_2, ...)

So every row of beta sums to 1 as everywhere, but its coefficients may be negative, or more than 1.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn

from scn.core.errors import ScnError
from scn.core.maps.base import Map, registry
from scn.core.maps.learned import HIDDEN_UNITS
from scn.core.space import Space, size_of


class Differences(Map):
    """What the maps below have in common: the coefficients of the differences."""

    bounded: ClassVar[bool] = False

    def forward(self, alpha: Tensor) -> Tensor:
        """alpha: (..., S) -> beta: (..., D)."""
        parts = self.coefficients(alpha)
        return torch.cat([1 - parts.sum(dim=-1, keepdim=True), parts], dim=-1)

    @abstractmethod
    def coefficients(self, alpha: Tensor) -> Tensor:
        """(..., S) -> (..., D - 1)."""

    def divide(self, parents: list[int]) -> None:
        raise ScnError(
            f"{type(self).__name__} has all of its base models from the start, and cannot divide one: "
            "choose dims when it is made"
        )


@registry.register("linear")
class LinearMap(Differences):
    """c = alpha: what is mixed is a linear function of alpha. D must be one more than alpha has values."""

    def __init__(self, space: Space, dims: int, *, outside: str = "refuse") -> None:
        super().__init__(space, dims, outside=outside)
        if dims != size_of(space) + 1:
            raise ScnError(
                f"the map linear has a base model for each value of alpha and one more: with "
                f"{size_of(space)} values dims must be {size_of(space) + 1}, but is {dims}"
            )

    def coefficients(self, alpha: Tensor) -> Tensor:
        return alpha


@registry.register("generated")
class GeneratedMap(Differences):
    """c = W2 relu(W1 alpha + b1) + b2: the published configuration network without its softmax."""

    def __init__(self, space: Space, dims: int, *, outside: str = "refuse") -> None:
        super().__init__(space, dims, outside=outside)
        if dims < 2:
            raise ScnError(
                f"the map generated adds differences to a base model: dims must be at least 2, but is {dims}"
            )
        self.hidden = nn.Linear(size_of(space), HIDDEN_UNITS)
        self.output = nn.Linear(HIDDEN_UNITS, dims - 1)

    def coefficients(self, alpha: Tensor) -> Tensor:
        return self.output(self.hidden(alpha).relu())
