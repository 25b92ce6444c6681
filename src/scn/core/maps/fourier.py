"""Trigonometric interpolation between nodes: theta is a short Fourier series of alpha.

On a circle of D nodes beta_i = (1 + 2 cos p + 2 cos 2p + ...) / D, with p the angle from node i; on a line
the same with cosines of half turns. Coefficients may be negative, and all base models are mixed.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from scn.core.maps.base import Map, registry
from scn.core.maps.places import at_equal_distances, grid_sizes, value_on
from scn.core.space import Axis, Circle, Line, Space, parts_of


@registry.register("fourier")
class Fourier(Map):
    """The smoothest function of alpha that meets each base model at its node."""

    def __init__(self, space: Space, dims: int, *, outside: str = "refuse") -> None:
        super().__init__(space, dims, outside=outside)
        self.sizes = grid_sizes(space, dims, "fourier")
        for number, (axis, size) in enumerate(zip(space, self.sizes, strict=True)):
            places = at_equal_distances(axis, size, centred=True)
            self.register_buffer(f"places_{number}", places, persistent=False)

    def forward(self, alpha: Tensor) -> Tensor:
        beta = alpha.new_ones(*alpha.shape[:-1], 1)
        for number, (axis, values) in enumerate(zip(self.space, parts_of(alpha, self.space), strict=True)):
            own = _series(axis, self.get_buffer(f"places_{number}"), value_on(axis, values))
            beta = (beta.unsqueeze(-1) * own.unsqueeze(-2)).flatten(-2)
        return beta


def _series(axis: Axis, nodes: Tensor, place: Tensor) -> Tensor:
    """(...) -> (..., count), each row with sum 1."""
    count = len(nodes)
    if isinstance(axis, Circle):
        order = torch.arange(1, count // 2 + 1, device=place.device)
        weight = torch.where(2 * order == count, 1.0, 2.0).to(place)
        waves = torch.cos(2 * math.pi * (place.unsqueeze(-1) - nodes).unsqueeze(-1) * order)
        return (1 + (weight * waves).sum(dim=-1)) / count
    assert isinstance(axis, Line)
    order = torch.arange(1, count, device=place.device)
    shares = [math.pi * (value - axis.low) / (axis.high - axis.low) for value in (place, nodes)]
    here, there = (torch.cos(share.unsqueeze(-1) * order) for share in shares)
    return (1 + 2 * here @ there.mT) / count
