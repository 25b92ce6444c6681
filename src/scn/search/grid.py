"""Ask the networks for many settings at once, and take the setting that fits best."""

from __future__ import annotations

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.core.network import SCN
from scn.search.base import Found, Search, registry, require_parameters
from scn.transforms import Transform

STEPS = {1: 72, 2: 17, 3: 8}  # values of each parameter, by the number of parameters
TINY = 1e-12
FEW = 4  # values of each, where there are more parameters than that


@registry.register("candidates")
class Candidates(Search):
    """A finite set of settings (C, P) that the user gives, such as the four ways to mount a camera."""

    def __init__(self, net: SCN, transform: Transform, candidates: Tensor, doubt: str = "evidence") -> None:
        super().__init__(net, transform, doubt)
        candidates = transform.checked(candidates)
        if candidates.dim() != 2 or len(candidates) == 0:
            raise ScnError("there are no candidates to choose from: give at least one setting")
        self.candidates = candidates
        self.bank = self.net.bank(transform.encode(candidates))

    def find(self, x: Tensor, groups: int) -> Found:
        logits = self.bank(x)
        doubts = self.doubts(logits, groups)
        best = doubts.argmin(dim=0)
        each = best.repeat_interleave(len(x) // groups)
        chosen = logits[each, torch.arange(len(x))]
        return Found(self.candidates[best], chosen, len(self.bank), doubts, self.candidates)


@registry.register("grid")
class Grid(Candidates):
    """All settings of a regular grid: `steps` values of each parameter."""

    def __init__(
        self, net: SCN, transform: Transform, steps: int | None = None, doubt: str = "evidence"
    ) -> None:
        require_parameters(transform)
        self.steps = STEPS.get(len(transform.parameters), FEW) if steps is None else steps
        super().__init__(net, transform, transform.grid(self.steps), doubt)
        intervals = torch.where(self.circle, self.steps, max(1, self.steps - 1))
        self.cells = self.span / intervals  # (P,): from one value to the next

    def bottom(self, doubts: Tensor) -> Tensor:
        """doubts: (C, G) -> (G, P): for each parameter where a parabola through three values is lowest.

        The three are the lowest of the grid and its neighbours; at the end of a range it stays there.
        """
        best = doubts.argmin(dim=0)
        settings = self.candidates[best]
        for axis in range(len(self.span)):
            stride = self.steps ** (len(self.span) - 1 - axis)
            place = best // stride % self.steps
            around = [(place + side) % self.steps for side in (-1, 1)]
            before, after = (doubts.gather(0, (best + (p - place) * stride)[None])[0] for p in around)
            bend = before + after - 2 * doubts.amin(dim=0)
            shift = torch.where(bend > 0, (before - after) / (2 * bend).clamp_min(TINY), 0.0)
            inside = self.circle[axis] | ((place > 0) & (place < self.steps - 1))
            settings[:, axis] += torch.where(inside, shift, 0.0) * self.cells[axis]
        return self.bounded(settings)
