"""Interpolation between nodes: each base model is the network for one place of the space.

Between two places the network is a mix of the two, so that k = 2 base models are read on a line or circle,
however many there are. On a grid of two axes four are, and among turns in space the four nearest ones.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.core.maps.base import SparseMap, registry
from scn.core.maps.places import (
    alpha_at,
    at_equal_distances,
    checked_positions,
    grid_sizes,
    number_on,
    spread_turns,
    value_on,
)
from scn.core.space import Axis, Circle, Space, Turns, parts_of

NEIGHBOURS = 4  # of a turn in space
TINY = 1e-6
FARTHEST = 3.0  # more than two turns can be apart, in the measure of `_among_turns`


def _of(nodes: Tensor, chosen: Tensor) -> Tensor:
    """nodes[chosen], which for a single one would wait for its value: a compiler cannot."""
    return nodes.index_select(0, chosen.flatten()).view(chosen.shape)


@registry.register("nodes")
class Nodes(SparseMap):
    """beta by interpolation between the D nodes around alpha.

    `positions` puts the nodes of a single line (values of alpha) or circle (parts of a turn, 0 to 1) where a
    person wants them, such as at quantiles of what a sensor measures.
    """

    centred = False  # whether the first and last place of a line are half a step from its ends

    def __init__(
        self, space: Space, dims: int, *, positions: Sequence[float] | None = None, outside: str = "refuse"
    ) -> None:
        super().__init__(space, dims, outside=outside)
        self.given = None if positions is None else [float(value) for value in positions]
        self.turns = space == (Turns(),)
        if self.given is not None and (len(space) > 1 or self.turns):
            raise ScnError("positions are for a single line or circle: other spaces have their own")
        self.sizes = (dims,) if self.turns else grid_sizes(space, dims, type(self).__name__.lower())
        if self.turns:
            tables = [spread_turns(dims).flatten(1)]
        elif self.given is not None:
            tables = [checked_positions(space[0], self.given, dims)]
        else:
            pairs = zip(space, self.sizes, strict=True)
            tables = [at_equal_distances(axis, size, self.centred) for axis, size in pairs]
        self._read: list[list[float]] | None = None
        for number, table in enumerate(tables):
            self.register_buffer(f"places_{number}", table)
        self.entries = self._entries()

    def _entries(self) -> int:
        if self.turns:
            return min(NEIGHBOURS, self.dims)
        return math.prod(min(2, size) for size in self.sizes)

    def arguments(self) -> dict[str, Any]:
        return {**super().arguments(), **({} if self.given is None else {"positions": self.given})}

    def _load_from_state_dict(self, *args: Any) -> None:
        super()._load_from_state_dict(*args)
        self._read = None

    def places(self) -> list[Tensor]:
        """The positions on each axis; among turns the rotation matrices, (D, 9)."""
        return [self.get_buffer(f"places_{number}") for number in range(len(self.space))]

    def sparse(self, alpha: Tensor) -> tuple[Tensor, Tensor]:
        if self.turns:
            return self._among_turns(alpha)
        indices, coefficients = None, None
        for axis, nodes, values in zip(self.space, self.places(), parts_of(alpha, self.space), strict=True):
            chosen, share = self._on(axis, nodes, value_on(axis, values))
            if indices is None or coefficients is None:
                indices, coefficients = chosen, share
            else:
                joined = indices.unsqueeze(-1) * len(nodes) + chosen.unsqueeze(-2)
                product = coefficients.unsqueeze(-1) * share.unsqueeze(-2)
                indices, coefficients = joined.flatten(-2), product.flatten(-2)
        assert indices is not None
        assert coefficients is not None
        return indices, coefficients

    def pick(self, alpha: Tensor) -> tuple[list[int], list[float]]:
        """Without tensors, which would cost more than mixing two small networks."""
        if self.turns:
            return super().pick(alpha)
        found, start = [(0, 1.0)], 0
        numbers = alpha.tolist()
        for axis, nodes in zip(self.space, self._numbers(), strict=True):
            around = self._around(axis, nodes, number_on(axis, numbers[start : start + axis.size]))
            found = [(i * len(nodes) + j, c * share) for i, c in found for j, share in around]
            start += axis.size
        indices, coefficients = zip(*found, strict=True)
        return list(indices), list(coefficients)

    def _numbers(self) -> list[list[float]]:
        """The positions on each axis, read once."""
        if self._read is None:
            self._read = [table.tolist() for table in self.places()]
        return self._read

    def _around(self, axis: Axis, nodes: list[float], place: float) -> list[tuple[int, float]]:
        """`_on` for one place."""
        if len(nodes) == 1:
            return [(0, 1.0)]
        if isinstance(axis, Circle):
            before = (bisect.bisect_right(nodes, place) - 1) % len(nodes)
            after = (before + 1) % len(nodes)
            gap, way = (nodes[after] - nodes[before]) % 1.0, (place - nodes[before]) % 1.0
        else:
            before = bisect.bisect_right(nodes, place, 1, len(nodes) - 1) - 1
            after = before + 1
            gap, way = nodes[after] - nodes[before], place - nodes[before]
        share = min(max(way / gap, 0.0), 1.0)
        return [(before, 1 - share), (after, share)]

    def _on(self, axis: Axis, nodes: Tensor, place: Tensor) -> tuple[Tensor, Tensor]:
        """The nodes on both sides of each place of one axis, and how near it is to each: (..., 2)."""
        count = len(nodes)
        if count == 1:
            return torch.zeros_like(place, dtype=torch.long).unsqueeze(-1), (0 * place + 1).unsqueeze(-1)
        if isinstance(axis, Circle):
            before = (torch.bucketize(place.detach(), nodes, right=True) - 1) % count
            after = (before + 1) % count
            gap, way = (_of(nodes, after) - _of(nodes, before)) % 1.0, (place - _of(nodes, before)) % 1.0
        else:
            before = torch.bucketize(place.detach(), nodes[1:-1], right=True)
            after = before + 1
            gap, way = _of(nodes, after) - _of(nodes, before), place - _of(nodes, before)
        share = (way / gap).clamp(0.0, 1.0)
        return torch.stack([before, after], dim=-1), torch.stack([1 - share, share], dim=-1)

    def _among_turns(self, alpha: Tensor) -> tuple[Tensor, Tensor]:
        """The nearest turns, each weighted by how much nearer it is than the first that is left out.

        So a turn that takes another's place among the nearest does so at weight zero: beta is continuous.
        """
        (nodes,) = self.places()
        distance = (6 - 2 * alpha @ nodes.mT).clamp_min(TINY).sqrt()  # grows with the angle between two turns
        count = min(self.entries + 1, self.dims)
        near, order = distance.topk(count, dim=-1, largest=False)
        reach = near[..., -1:] if count > self.entries else torch.full_like(near[..., :1], FARTHEST)
        near, order = near[..., : self.entries], order[..., : self.entries]
        weight = ((reach - near).clamp_min(TINY) / (reach * near)).square()
        return order, weight / weight.sum(dim=-1, keepdim=True)

    def node_alphas(self) -> Tensor:
        """(D, S): alpha at each node."""
        if self.turns:
            return self.places()[0]
        found = torch.zeros(1, 0)
        for axis, nodes in zip(self.space, self.places(), strict=True):
            values = alpha_at(axis, nodes)
            found = torch.cat(
                [found.to(nodes).repeat_interleave(len(nodes), dim=0), values.repeat(len(found), 1)], dim=1
            )
        return found

    def resampled(self, dims: int) -> Nodes:
        """The same kind of map with D places."""
        if self.given is not None:
            raise ScnError("places that were put by hand cannot be resampled: make a new network")
        return type(self)(self.space, dims, outside=self.outside).to(self.places()[0].device)

    def without(self, kept: list[int]) -> Nodes | None:
        """A grid, and turns among which the nearest count, need all."""
        if len(self.space) > 1 or self.turns:
            return None
        positions = self.places()[0][kept].tolist()
        return type(self)(self.space, len(kept), positions=positions, outside=self.outside)
