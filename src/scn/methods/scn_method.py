"""SCN: D base models mixed for each setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from scn.core import losses
from scn.core.network import SCN
from scn.core.precision import full_precision
from scn.methods.base import Method, registry

FAR_DRAWS = 4
IN_USE = 0.05


@registry.register("scn")
@dataclass(frozen=True)
class SubspaceConfigurable(Method):
    """Told the setting, as alpha; classification, separation and, if weighted, entropy terms."""

    mixes: ClassVar[bool] = True

    def build(self, backbone: Callable[[], nn.Module]) -> nn.Module:
        noise = self.recipe.base_noise
        return SCN(
            backbone(),
            self.transform.alpha_dim,
            self.dims,
            init="pretrained" if noise else backbone,
            noise=noise,
            configurable=self.configurable,
        )

    def logits(self, net: nn.Module, x: Tensor, params: Tensor) -> Tensor:
        return net(x, self.transform.encode(params))

    def told(self, params: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
        """alpha, and where the terms that need them are weighted: another alpha, and a wrong one."""
        alpha = self.transform.encode(params)
        found = {"alpha": alpha}
        if self.recipe.separation_weight and self.dims > 1:
            found["other"] = self.transform.encode(self.transform.sample(len(params), generator))
        if self.recipe.entropy_weight:
            found["wrong"] = self._far_from(alpha, generator)
        return found

    def loss(self, net: nn.Module, x: Tensor, y: Tensor, told: dict[str, Tensor]) -> dict[str, Tensor]:
        assert isinstance(net, SCN)
        alphas = torch.cat(list(told.values()))
        with full_precision(alphas):
            beta = dict(zip(told, net.confignet(alphas).chunk(len(told)), strict=True))
        logits = net.answer(x, beta["alpha"])
        parts = {"classification": self.classification(logits, y)}
        if "other" in beta:
            apart = losses.separation(beta["alpha"], beta["other"])
            parts["separation"] = self.recipe.separation_weight * apart
        if "wrong" in beta:
            contrast = losses.entropy_contrast(logits, net.answer(x, beta["wrong"]))
            parts["entropy"] = self.recipe.entropy_weight * contrast
        return parts

    def _far_from(self, alpha: Tensor, generator: torch.Generator) -> Tensor:
        """For each alpha (N, S) a wrong one that is really wrong: the farthest of a few draws."""
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
