"""From the best setting of a grid downhill, by Newton steps with exact derivatives."""

from __future__ import annotations

import torch
from torch import Tensor

from scn.core.network import SCN
from scn.search.base import Found, Search, registry
from scn.search.grid import STEPS, Grid
from scn.transforms import Transform

FLAT = 1e-6  # a curvature that tells nothing


@registry.register("refine")
class Refine(Search):
    """Another search first, by default a coarser grid, then `newton` steps from what it found."""

    def __init__(
        self,
        net: SCN,
        transform: Transform,
        steps: int | None = None,
        newton: int = 2,
        start: Search | None = None,
        objective: str = "evidence",
    ) -> None:
        super().__init__(net, transform, objective)
        coarse = steps or max(4, STEPS.get(len(transform.parameters), 8) // 2)
        self.start = start or Grid(net, transform, coarse, objective)
        self.newton, self.cell = newton, 1 / coarse

    def find(self, x: Tensor, groups: int) -> Found:
        first = self.start.find(x, groups)
        walk = _Walk(self, x, groups, first.params, first.logits, self.cell / 2)
        for _ in range(self.newton):
            walk.step()
        return Found(walk.best, walk.logits, first.evaluations + walk.count, first.doubts, first.candidates)


class _Walk:
    """The way downhill of every group at once. A step that leads up is taken back and made shorter."""

    def __init__(
        self, search: Search, x: Tensor, groups: int, start: Tensor, logits: Tensor, reach: float
    ) -> None:
        self.search, self.x, self.groups = search, x, groups
        self.best, self.logits = start, logits
        self.least = search.doubts(logits, groups)
        self.reach = torch.full((groups, 1), reach)  # longest step, as a share of the range
        self.count = 0

    def step(self) -> None:
        move = self._direction()
        length = move.norm(dim=1, keepdim=True)
        move = move * (self.reach / length.clamp_min(FLAT)).clamp_max(1.0)
        there = self.search.bounded(self.best + move * self.search.span())
        with torch.no_grad():
            logits = self.search.net(self.x, self.search.transform.encode(there))
            doubts = self.search.doubts(logits, self.groups)
        self.count += 2
        lower = doubts < self.least
        self.best = torch.where(lower.unsqueeze(1), there, self.best)
        self.least = torch.where(lower, doubts, self.least)
        each = lower.repeat_interleave(len(self.x) // self.groups).unsqueeze(1)
        self.logits = torch.where(each, logits, self.logits)
        self.reach = torch.where(lower.unsqueeze(1), self.reach, self.reach / 4)

    def _direction(self) -> Tensor:
        """(G, P): the Newton step in shares of the range; where the ground curves down, still downhill."""
        span = self.search.span()
        share = torch.zeros_like(self.best, requires_grad=True)
        logits = self.search.net(self.x, self.search.transform.encode(self.best + share * span))
        doubts = self.search.doubts(logits, self.groups)
        (slope,) = torch.autograd.grad(doubts.sum(), share, create_graph=True)
        rows = [torch.autograd.grad(part.sum(), share, retain_graph=True)[0] for part in slope.unbind(dim=1)]
        curvature, axes = torch.linalg.eigh(torch.stack(rows, dim=1))
        along = (axes.mT @ slope.detach().unsqueeze(2)).squeeze(2) / curvature.abs().clamp_min(FLAT)
        return -(axes @ along.unsqueeze(2)).squeeze(2)
