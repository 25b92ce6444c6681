"""Hypernetworks (Ha, 2017): a network gives all weights of another, here from alpha.

With 64 hidden units and a linear layer on them theta = theta_0 + sum_j h_j(alpha) W_j: a mix of 65 base
models, of which the coefficients are no longer those of a simplex.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scn.core.maps import GeneratedMap, Map
from scn.core.maps.learned import HIDDEN_UNITS
from scn.methods.base import registry
from scn.methods.mixed import Mixed

RANK = 8


@registry.register("hypernetwork")
@dataclass(frozen=True)
class Hypernetwork(Mixed):
    """The full one: as many base models as the linear layer on the hidden units has columns."""

    title: ClassVar[str] = "Hypernetwork"
    rank: ClassVar[int] = HIDDEN_UNITS

    def base_models(self) -> int:
        return self.rank + 1

    def _is_learned(self) -> bool:
        return False

    def make_map(self) -> Map:
        return GeneratedMap(self.alpha_space(), self.base_models())


@registry.register("hypernetwork-low-rank")
@dataclass(frozen=True)
class LowRankHypernetwork(Hypernetwork):
    """Whose layer of weights has rank 8."""

    title: ClassVar[str] = f"Hypernetwork, rank {RANK}"
    rank: ClassVar[int] = RANK
