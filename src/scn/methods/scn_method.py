"""SCN: D base models mixed for each setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from scn.core import losses
from scn.core.network import SCN
from scn.methods.base import Method, registry

FAR_DRAWS = 4
IN_USE = 0.05


@registry.register("scn")
@dataclass(frozen=True)
class SubspaceConfigurable(Method):
    """Told the setting, as alpha; classification, separation and, if weighted, entropy terms."""

    mixes: ClassVar[bool] = True

    def build(self, backbone: Callable[[], nn.Module]) -> nn.Module:
        return SCN(backbone(), self.transform.alpha_dim, self.dims, init=backbone)

    def logits(self, net: nn.Module, x: Tensor, params: Tensor) -> Tensor:
        return net(x, self.transform.encode(params))

    def loss(
        self, net: nn.Module, x: Tensor, y: Tensor, params: Tensor, generator: torch.Generator
    ) -> dict[str, Tensor]:
        assert isinstance(net, SCN)
        alpha = self.transform.encode(params)
        logits = net(x, alpha)
        parts = {"classification": self.classification(logits, y)}
        if self.recipe.separation_weight and net.dims > 1:
            other = self.transform.encode(self.transform.sample(len(params), generator))
            apart = losses.separation(*net.beta(torch.cat([alpha, other])).chunk(2))
            parts["separation"] = self.recipe.separation_weight * apart
        if self.recipe.entropy_weight:
            wrong = net(x, self._far_from(alpha, generator))
            parts["entropy"] = self.recipe.entropy_weight * losses.entropy_contrast(logits, wrong)
        return parts

    def _far_from(self, alpha: Tensor, generator: torch.Generator) -> Tensor:
        """For each alpha (K, S) a wrong one that is really wrong: the farthest of a few draws."""
        draws = self.transform.sample(FAR_DRAWS * len(alpha), generator)
        others = self.transform.encode(draws).view(FAR_DRAWS, *alpha.shape)
        farthest = (others - alpha).norm(dim=-1).argmax(dim=0)
        return others[farthest, torch.arange(len(alpha))]

    @torch.no_grad()
    def statistics(self, net: nn.Module) -> dict[str, float]:
        """How many base models are in use: those with more than a trace of beta somewhere."""
        assert isinstance(net, SCN)
        beta = net.beta(self.transform.encode(self.transform.sample(256, torch.Generator().manual_seed(0))))
        return {"active_bases": int((beta.max(dim=0).values > IN_USE).sum())}

    def configured(self, net: nn.Module, params: Tensor, into: nn.Module | None = None) -> nn.Module:
        assert isinstance(net, SCN)
        return net.configure(self.transform.encode(params), into=into)
