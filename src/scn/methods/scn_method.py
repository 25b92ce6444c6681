"""SCN: D base models mixed for each setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from scn.core import maps
from scn.core.maps.places import fits_grid
from scn.core.network import SCN
from scn.core.space import Circle, Line
from scn.methods.base import registry
from scn.methods.mixed import Mixed
from scn.transforms import Transform

DRAWS = 1024
IN_USE = 0.05


@registry.register("scn")
@dataclass(frozen=True)
class SubspaceConfigurable(Mixed):
    """D base models, by any map and in any subspace."""

    title: ClassVar[str] = "SCN D={dims}"
    mixes: ClassVar[bool] = True
    takes: ClassVar[tuple[str, ...]] = ("map", "subspace")

    @classmethod
    def usual_map(cls, transform: Transform, dims: int, searched: bool = False) -> str:
        """The map that serves such a change best, as measured (docs/decisions.md): nodes where places can be
        put at equal distances, and a learned map among turns in space or where nothing is known of alpha. An
        angle that is to be found is found best by Fourier series: no place of the circle is special to them.
        """
        space = transform.space()
        if searched and space == (Circle(),):
            return "fourier"
        if space is None or not all(isinstance(axis, Line | Circle) for axis in space):
            return maps.LEARNED
        return "nodes" if fits_grid(space, dims) else maps.LEARNED

    @torch.no_grad()
    def statistics(self, net: nn.Module) -> dict[str, float]:
        """How many base models are in use: those with more than a trace of beta somewhere, and the number of
        equally used ones that would be as evenly used, exp of the entropy of their shares."""
        assert isinstance(net, SCN)
        beta = net.beta(self.transform.encode(self.transform.sample(DRAWS, torch.Generator().manual_seed(0))))
        share = beta.abs().mean(dim=0)
        share = share / share.sum()
        effective = torch.exp(-(share * share.clamp_min(1e-12).log()).sum())
        return {
            "active_bases": int((beta.abs().amax(dim=0) > IN_USE).sum()),
            "effective_bases": round(float(effective), 2),
        }
