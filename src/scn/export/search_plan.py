"""What is searched on a device: candidates, and what is remembered of them; or a network that says alpha."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn


@dataclass(frozen=True)
class ByCandidates:
    """The setting among the candidates (C, P) under which the network explains the inputs best.

    alphas: (C, S) of the candidates. `doubt` is what says how badly a setting explains an input.
    """

    way: str
    candidates: Tensor
    alphas: Tensor
    doubt: str

    def facts(self) -> dict[str, Any]:
        return {"way": self.way, "candidates": len(self.candidates), "doubt": self.doubt}


@dataclass(frozen=True)
class Axis:
    """One parameter of a regular grid: how many values, and how the belief in them spreads with each input.

    kernel: (K,), the weight of a move by 0, 1, ... values; norms: (steps,), what the weights of all moves
    away from each value add up to.
    """

    low: float
    span: float
    circle: bool
    kernel: Tensor
    norms: Tensor

    @property
    def steps(self) -> int:
        return len(self.norms)


@dataclass(frozen=True)
class ByTracker(ByCandidates):
    """A Bayes filter over the candidates, which are the grid of these axes, the last one fastest.

    `near` is the part of the range that counts as one place, `enough` the belief that must be there.
    """

    axes: tuple[Axis, ...]
    temperature: float
    jump: float
    near: float
    enough: float

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "jump": self.jump}


@dataclass(frozen=True)
class Lookup:
    """Values of one parameter (N,) with the values of alpha that each becomes (N, S of it)."""

    values: Tensor
    alphas: Tensor


@dataclass(frozen=True)
class ByEstimator:
    """The setting whose alpha is nearest to the mean of what an estimator, x -> alpha, says of each input."""

    estimator: nn.Module
    lookups: tuple[Lookup, ...]
    way: str = "estimator"

    def facts(self) -> dict[str, Any]:
        return {"way": self.way, "weights": sum(p.numel() for p in self.estimator.parameters())}


Plan = ByCandidates | ByEstimator
