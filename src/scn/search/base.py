"""What every search offers: the setting that explains a batch best, and how sure that is."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from scn.core.errors import ScnError, WrongType
from scn.core.losses import entropy
from scn.core.network import SCN
from scn.core.registry import Registry
from scn.search.doubt import Doubt, get_doubt
from scn.transforms import Transform

NEAR = 1 / 24  # of a parameter's range: candidates closer than this explain an input in the same way
TINY = 1e-6
LEAST_WEIGHT = 0.05  # of an explanation that is worth naming


@dataclass(frozen=True)
class Found:
    """What a search found for each of G groups of inputs that share a setting."""

    params: Tensor  # (G, P)
    logits: Tensor  # (B, classes), the network's outputs under these settings
    evaluations: int  # how many networks each input was shown to
    doubts: Tensor  # (C, G): of every candidate, means over a group
    candidates: Tensor  # (C, P), or (C, G, P) where each group had its own
    error: Tensor | None = None  # (G, P): half the cell that was searched around each, where there are cells

    @property
    def entropy(self) -> Tensor:
        """(G,): mean entropy of the predictions of each group."""
        return entropy(self.logits).view(len(self.params), -1).mean(dim=1)


class Search(ABC):
    """A way to find the setting. It keeps a copy of the network, with whatever it has mixed already.

    `doubt` names the measure that says how badly a setting explains an input: evidence or entropy.
    """

    by_doubt: ClassVar[bool] = True  # whether it goes by the network's doubt, which must be trained for that

    def __init__(self, net: SCN, transform: Transform, doubt: str = "evidence") -> None:
        if not isinstance(net, SCN):
            raise WrongType(f"a search needs an SCN, which can be configured, but got a {type(net).__name__}")
        require_parameters(transform)
        self.net = copy.deepcopy(net).eval().requires_grad_(False)
        self.transform = transform
        self.doubt: Doubt = get_doubt(doubt)
        self.low = torch.tensor([p.low for p in transform.parameters])
        self.span = torch.tensor([p.high - p.low for p in transform.parameters])
        self.circle = torch.tensor([p.periodic for p in transform.parameters])

    def __call__(self, x: Tensor, groups: int = 1) -> Found:
        """x: (B, ...), ready for the network; the first B/G inputs share a setting, and so on."""
        if len(x) == 0 or groups < 1 or len(x) % groups:
            raise ScnError(f"{len(x)} inputs cannot be shared out over {groups} groups")
        if not torch.isfinite(x).all():
            raise ScnError("the input holds numbers that are not finite: check the sensor or file")
        return self.find(x, groups)

    @abstractmethod
    def find(self, x: Tensor, groups: int) -> Found:
        """The same, for inputs that have been checked."""

    def doubts(self, logits: Tensor, groups: int) -> Tensor:
        """(..., B, classes) -> (..., G): the mean doubt of each group."""
        return self.doubt.of(logits).unflatten(-1, (groups, -1)).mean(dim=-1)

    def bounded(self, params: Tensor) -> Tensor:
        """Settings in the range of the transform: around the circle, or no farther than the end."""
        around = self.low + (params - self.low) % self.span
        return torch.where(self.circle, around, params.clamp(self.low, self.low + self.span))

    def offset(self, params: Tensor, others: Tensor) -> Tensor:
        """params - others, on a circle the shorter way round."""
        apart = params - others
        return torch.where(self.circle, (apart + self.span / 2) % self.span - self.span / 2, apart)

    def middle(self, params: Tensor, others: Tensor) -> Tensor:
        """Half way between two settings."""
        return self.bounded(others + self.offset(params, others) / 2)

    def explanations(self, found: Found, group: int = 0) -> tuple[Tensor, Tensor]:
        """Every candidate that explains a group, best first, and its weight: (M, P), (M,).

        A symmetric object has several. Each is the best of its neighbourhood (the next values of a grid,
        at least), and weighs as much as all candidates that are nearest to it.
        """
        batch = len(found.logits) // len(found.params)
        doubts = found.doubts[:, group] * batch / self.doubt.temperature
        candidates = found.candidates if found.candidates.dim() == 2 else found.candidates[:, group]
        belief = (-doubts).softmax(dim=0)
        apart = self.offset(candidates.unsqueeze(1), candidates.unsqueeze(0)).abs() / self.span
        spacing = apart.where(apart > TINY, torch.inf).amin(dim=(0, 1)).nan_to_num(posinf=0.0)
        near = (apart <= spacing.clamp_min(NEAR) + TINY).all(dim=-1)
        best = (belief >= belief.where(near, 0.0).amax(dim=1)).nonzero().squeeze(1)
        owner = apart.amax(dim=-1)[:, best].argmin(dim=1)
        weights = torch.zeros(len(best)).index_add_(0, owner, belief)
        order = weights.argsort(descending=True)
        order = order[weights[order] >= LEAST_WEIGHT * weights.max()]
        return candidates[best[order]], weights[order] / weights[order].sum()


def require_parameters(transform: Transform) -> None:
    if not getattr(transform, "parameters", ()):
        raise ScnError(f"{type(transform).__name__} has no parameters to search for")


registry: Registry[type[Search]] = Registry("search method")
