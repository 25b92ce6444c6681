"""For many parameters: look everywhere coarsely, then closer and closer where it looks best."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from scn.core.network import SCN
from scn.search.base import Found, Search, registry
from scn.search.grid import Grid
from scn.transforms import Transform

FINEST = 6  # times that a cell is halved: finer than any network can tell


@registry.register("coarse-to-fine")
class CoarseToFine(Search):
    """A coarse grid, whose best `keep` cells are divided again and again until the `budget` is spent or
    they are very small.

    `budget` is how many networks an input may be shown to. The error is half of the last cell.
    """

    def __init__(
        self,
        net: SCN,
        transform: Transform,
        budget: int = 256,
        keep: int = 2,
        objective: str = "evidence",
    ) -> None:
        super().__init__(net, transform, objective)
        count = len(transform.parameters)
        self.offsets = torch.tensor(list(itertools.product((-0.25, 0.25), repeat=count)))
        self.keep = keep
        first = int((budget / 2) ** (1 / count) + 1e-9)
        if first < 2:
            raise ValueError(f"a budget of {budget} is too small for {count} parameters: give {2 * 2**count}")
        self.coarse = Grid(net, transform, first, objective)
        self.cells = 1 / torch.tensor(
            [float(first if p.periodic else first - 1) for p in transform.parameters]
        )
        spent = first**count
        self.rounds = min(FINEST, (budget - spent) // (keep * len(self.offsets)))

    def find(self, x: Tensor, groups: int) -> Found:
        found = self.coarse.find(x, groups)
        candidates = found.candidates.unsqueeze(1).expand(-1, groups, -1)
        doubts, cells, evaluations = found.doubts, self.cells, found.evaluations
        best, logits, least = found.params, found.logits, doubts.amin(dim=0)
        for _ in range(self.rounds):
            kept = doubts.topk(min(self.keep, len(doubts)), dim=0, largest=False).indices
            centres = candidates.gather(0, kept.unsqueeze(2).expand(-1, -1, candidates.shape[2]))
            moves = (self.offsets * cells * self.span).view(1, -1, 1, candidates.shape[2])
            candidates = self.bounded((centres.unsqueeze(1) + moves).flatten(0, 1))  # (keep * 2^P, G, P)
            answers = self._ask(x, candidates)
            doubts = self.doubts(answers, groups)
            cells, evaluations = cells / 2, evaluations + len(candidates)
            lowest, place = doubts.min(dim=0)
            lower = lowest < least
            least = torch.where(lower, lowest, least)
            best = torch.where(lower.unsqueeze(1), candidates[place, torch.arange(groups)], best)
            each = place.repeat_interleave(len(x) // groups)
            better = lower.repeat_interleave(len(x) // groups).unsqueeze(1)
            logits = torch.where(better, answers[each, torch.arange(len(x))], logits)
        error = cells * self.span / 2
        return Found(best, logits, evaluations, found.doubts, found.candidates, error)

    @torch.no_grad()
    def _ask(self, x: Tensor, params: Tensor) -> Tensor:
        """params: (C, G, P) -> (C, B, classes), in one call."""
        repeated = x.expand(len(params), *x.shape).flatten(0, 1)
        answers: Tensor = self.net(repeated, self.transform.encode(params.flatten(0, 1)))
        return answers.unflatten(0, (len(params), len(x)))
