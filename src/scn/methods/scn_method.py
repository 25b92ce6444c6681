"""SCN: D base models mixed for each setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor, nn

from scn.core import losses
from scn.core.network import SCN
from scn.methods.base import Method, registry

FAR_DRAWS = 8
FAR = 1 / 12  # of the range of a parameter: 30 degrees of a circle
IN_USE = 0.05


@registry.register("scn")
@dataclass(frozen=True)
class SubspaceConfigurable(Method):
    """Told the setting, as alpha; classification, separation and, if weighted, entropy terms."""

    title: ClassVar[str] = "SCN D={dims}"
    mixes: ClassVar[bool] = True

    def build(self, backbone: Callable[[], nn.Module]) -> nn.Module:
        noise = self.terms.base_noise
        return SCN(
            backbone(),
            self.transform.alpha_dim,
            self.dims,
            init="pretrained" if noise else backbone,
            noise=noise,
            configurable=self.configurable,
        )

    def outputs(self, net: nn.Module, x: Tensor, params: Tensor) -> Tensor:
        return net(x, self.transform.encode(params))

    def alphas(self, params: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
        """alpha, and where the terms that need them are weighted: another alpha, and a wrong one."""
        alpha = self.transform.encode(params)
        found = {"alpha": alpha}
        if self.terms.separation_weight and self.dims > 1:
            found["other"] = self.transform.encode(self.transform.sample(len(params), generator))
        if self.terms.wrong_entropy_weight or self.terms.evidence_weight:
            found["wrong"] = self.transform.encode(self._far_from(params, generator))
        return found

    def loss(self, net: nn.Module, x: Tensor, labels: Tensor, alphas: dict[str, Tensor]) -> dict[str, Tensor]:
        assert isinstance(net, SCN)
        beta = dict(zip(alphas, net.beta(torch.cat(list(alphas.values()))).chunk(len(alphas)), strict=True))
        outputs = net.answer(x, beta["alpha"])
        parts = {self.objective.part: self.objective.loss(outputs, labels)}
        if "other" in beta:
            apart = losses.separation(beta["alpha"], beta["other"])
            parts["separation"] = self.terms.separation_weight * apart
        if self.terms.entropy_weight:
            parts["entropy"] = self.terms.entropy_weight * losses.entropy(outputs).mean()
        if "wrong" in beta:
            wrong = net.answer(x, beta["wrong"])
            if self.terms.wrong_entropy_weight:
                parts["wrong_entropy"] = -self.terms.wrong_entropy_weight * losses.entropy(wrong).mean()
            if self.terms.evidence_weight:
                parts["evidence"] = self.terms.evidence_weight * losses.evidence_contrast(outputs, wrong)
        return parts

    def _far_from(self, params: Tensor, generator: torch.Generator) -> Tensor:
        """For each setting (N, P) another that is really wrong: the first of a few draws that is far off.

        Where none is, the farthest.
        """
        draws = self.transform.sample(FAR_DRAWS * len(params), generator).view(FAR_DRAWS, *params.shape)
        distance = self.transform.distance(draws, params)
        ranked = (distance >= FAR).double() + 1e-3 * distance.where(distance < FAR, 0)
        return draws[ranked.argmax(dim=0), torch.arange(len(params))]

    @torch.no_grad()
    def statistics(self, net: nn.Module) -> dict[str, float]:
        """How many base models are in use: those with more than a trace of beta somewhere."""
        assert isinstance(net, SCN)
        beta = net.beta(self.transform.encode(self.transform.sample(256, torch.Generator().manual_seed(0))))
        return {"active_bases": int((beta.max(dim=0).values > IN_USE).sum())}

    def configured(self, net: nn.Module, params: Tensor, into: nn.Module | None = None) -> nn.Module:
        assert isinstance(net, SCN)
        return net.configure(self.transform.encode(params), into=into)

    def save(self, net: nn.Module, path: Path) -> None:
        assert isinstance(net, SCN)
        net.save(path)

    def load(self, path: Path, backbone: Callable[[], nn.Module]) -> nn.Module:
        return SCN.load(path, backbone())
