"""FiLM (Perez, 2018): a factor and a shift for each output of each layer, from alpha by a small network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from scn.core.compact import GAINS, with_gains_folded
from scn.methods.base import registry
from scn.methods.hypernetwork import Hypernetwork


@registry.register("film")
@dataclass(frozen=True)
class FeatureWise(Hypernetwork):
    """A hypernetwork for the gains alone; norm layers have theirs (conditional normalisation)."""

    title: ClassVar[str] = "FiLM"

    def stored(self) -> str:
        return GAINS

    def configured(self, net: nn.Module, params: Tensor, into: nn.Module | None = None) -> nn.Module:
        """The backbone itself, with the gains in its weights."""
        return with_gains_folded(super().configured(net, params))
