"""For many parameters: look everywhere coarsely, then closer and closer where it looks best."""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.core.network import SCN
from scn.search.base import Found, Search, registry
from scn.search.grid import FEW, STEPS, Grid
from scn.transforms import Transform

SPLIT = {1: 8, 2: 3}  # parts of a cell along each parameter, by how many there are; 2 for more
FINEST = 3e-4  # of the range, a tenth of a degree: no network can tell less


@registry.register("coarse-to-fine")
class CoarseToFine(Search):
    """A coarse grid, whose best `keep` cells are divided again and again until the `budget` is spent or
    they are very small.

    `budget` is how many networks an input may be shown to. The error is half of the
    cell around the best.
    """

    def __init__(
        self,
        net: SCN,
        transform: Transform,
        budget: int = 256,
        keep: int = 2,
        doubt: str = "evidence",
    ) -> None:
        super().__init__(net, transform, doubt)
        count = len(transform.parameters)
        first = min(int((budget / 2) ** (1 / count) + 1e-9), STEPS.get(count, FEW))
        if first < 2:
            raise ScnError(f"a budget of {budget} is too small for {count} parameter(s): give {2 * 2**count}")
        if keep < 1:
            raise ScnError(f"keep must be at least 1, but is {keep}")
        self.coarse, self.keep = Grid(net, transform, first, doubt), keep
        self.split = SPLIT.get(count, 2)
        inside = [(i + 0.5) / self.split - 0.5 for i in range(self.split)]
        self.offsets = torch.tensor(list(itertools.product(inside, repeat=count)))
        affordable = (budget - first**count) // (keep * len(self.offsets))
        useful = math.ceil(math.log((self.coarse.cells / self.span).max().item() / FINEST, self.split))
        self.rounds = min(affordable, useful)

    def find(self, x: Tensor, groups: int) -> Found:
        found = self.coarse.find(x, groups)
        candidates = found.candidates.unsqueeze(1).expand(-1, groups, -1)
        doubts, cells, evaluations = found.doubts, self.coarse.cells, found.evaluations
        error = cells.expand(groups, -1) / 2
        best, logits, least = found.params, found.logits, doubts.amin(dim=0)
        for _ in range(self.rounds):
            kept = doubts.topk(min(self.keep, len(doubts)), dim=0, largest=False).indices
            centres = candidates.gather(0, kept.unsqueeze(2).expand(-1, -1, candidates.shape[2]))
            moves = (self.offsets * cells).view(1, -1, 1, candidates.shape[2])
            candidates = self.bounded((centres.unsqueeze(1) + moves).flatten(0, 1))  # (C, G, P)
            outputs = self._outputs(x, candidates)
            doubts = self.doubts(outputs, groups)
            cells, evaluations = cells / self.split, evaluations + len(candidates)
            lowest, place = doubts.min(dim=0)
            lower = lowest < least
            least = torch.where(lower, lowest, least)
            error = torch.where(lower.unsqueeze(1), cells / 2, error)
            best = torch.where(lower.unsqueeze(1), candidates[place, torch.arange(groups)], best)
            each = place.repeat_interleave(len(x) // groups)
            better = lower.repeat_interleave(len(x) // groups).unsqueeze(1)
            logits = torch.where(better, outputs[each, torch.arange(len(x))], logits)
        return Found(best, logits, evaluations, found.doubts, found.candidates, error)

    @torch.no_grad()
    def _outputs(self, x: Tensor, params: Tensor) -> Tensor:
        """params: (C, G, P) -> (C, B, classes), in one call."""
        repeated = x.expand(len(params), *x.shape).flatten(0, 1)
        outputs: Tensor = self.net(repeated, self.transform.encode(params.flatten(0, 1)))
        return outputs.unflatten(0, (len(params), len(x)))
