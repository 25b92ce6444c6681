"""From the best setting of a grid downhill, by Newton steps with exact derivatives."""

from __future__ import annotations

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.core.network import SCN
from scn.search.base import NEAR, Found, Search, registry
from scn.search.grid import Grid
from scn.transforms import Transform

FLAT = 1e-6  # a curvature that tells nothing


@registry.register("refine")
class Refine(Search):
    """Another search first, by default a grid, then `newton` steps from what it found.

    From a grid the first place to look is the bottom of a parabola through the best value and its
    neighbours.
    """

    def __init__(
        self,
        net: SCN,
        transform: Transform,
        steps: int | None = None,
        newton: int = 1,
        start: Search | None = None,
        doubt: str = "evidence",
    ) -> None:
        super().__init__(net, transform, doubt)
        if newton < 0:
            raise ScnError(f"newton is a number of steps, but is {newton}")
        self.start = start or Grid(net, transform, steps, doubt)
        self.newton = newton

    def find(self, x: Tensor, groups: int) -> Found:
        first = self.start.find(x, groups)
        walk = _Walk(self, x, groups, first)
        if isinstance(self.start, Grid):
            walk.reach, walk.place = 0.5 / max(1, self.start.steps), self.start.bottom(first.doubts)
        for _ in range(self.newton):
            walk.step()
        walk.look()
        evaluations = first.evaluations + self.newton + 1
        return Found(walk.best, walk.logits, evaluations, first.doubts, first.candidates)


class _Walk:
    """The way downhill of every group at once. Where a step led up, the next place is half way back."""

    reach = NEAR  # longest step, as a share of the range

    def __init__(self, search: Search, x: Tensor, groups: int, first: Found) -> None:
        self.search, self.x, self.groups = search, x, groups
        self.best, self.logits = first.params, first.logits
        self.least = search.doubts(first.logits, groups)
        self.place = self.best  # where to look next

    def step(self) -> None:
        """Look at the place, and choose the next by the slope and curvature there."""
        share = torch.zeros_like(self.place, requires_grad=True)
        doubts = self._doubts(self.place + share * self.search.span)
        (slope,) = torch.autograd.grad(doubts.sum(), share, create_graph=True)
        rows = [torch.autograd.grad(part.sum(), share, retain_graph=True)[0] for part in slope.unbind(dim=1)]
        move = _newton(slope.detach(), torch.stack(rows, dim=1))
        move *= (self.reach / move.norm(dim=1, keepdim=True).clamp_min(FLAT)).clamp_max(1.0)
        back = self.search.middle(self.best, self.place)
        self.place = torch.where(self.lower, self.search.bounded(self.place + move * self.search.span), back)

    @torch.no_grad()
    def look(self) -> None:
        """Look at the last place."""
        self._doubts(self.place)

    def _doubts(self, params: Tensor) -> Tensor:
        """(G,), and remember where they are the lowest so far."""
        logits = self.search.net(self.x, self.search.transform.encode(params))
        doubts = self.search.doubts(logits, self.groups)
        lower = (doubts.detach() < self.least) | (self.place == self.best).all(dim=1)
        self.lower = lower.unsqueeze(1)
        self.best = torch.where(self.lower, self.place, self.best)
        self.least = torch.where(lower, doubts.detach(), self.least)
        each = lower.repeat_interleave(len(self.x) // self.groups).unsqueeze(1)
        self.logits = torch.where(each, logits.detach(), self.logits)
        return doubts


def _newton(slope: Tensor, curvature: Tensor) -> Tensor:
    """slope: (G, P), curvature: (G, P, P) -> the step (G, P), downhill even where the ground curves down."""
    if slope.shape[1] == 1:
        return -slope / curvature.squeeze(2).abs().clamp_min(FLAT)
    values, axes = torch.linalg.eigh(curvature)
    along = (axes.mT @ slope.unsqueeze(2)).squeeze(2) / values.abs().clamp_min(FLAT)
    return -(axes @ along.unsqueeze(2)).squeeze(2)
