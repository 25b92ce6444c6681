"""Methods whose network is an SCN: what follows alpha is mixed from base models, and a plain network answers.

FiLM, a hypernetwork and alpha as an input are such methods too, with other maps and other things mixed: so
they are trained, saved, configured, exported and counted by the same code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from scn.core import losses, maps
from scn.core.compact import FULL, compact
from scn.core.errors import ScnError
from scn.core.layout import find_slots
from scn.core.maps import Map
from scn.core.network import SCN
from scn.core.space import Line, Space
from scn.methods.base import Method

FAR_DRAWS = 8
FAR = 1 / 12  # of the range of a parameter: 30 degrees of a circle
ALIKE, TOGETHER = 0.05, 0.5  # for maps in which each base model has a place of its own


@dataclass(frozen=True)
class Mixed(Method):
    """Told the setting, as alpha; classification, separation and, if weighted, entropy terms."""

    @property
    def noise(self) -> float:
        return self._by_map(self.terms.base_noise, ALIKE)

    @property
    def together(self) -> float:
        return self._by_map(self.terms.together, TOGETHER)

    def _by_map(self, said: float | None, with_places: float) -> float:
        """What a person said, or what suits a map with places; a learned one needs neither."""
        if said is not None:
            return said
        return 0.0 if self._is_learned() else with_places

    def _is_learned(self) -> bool:
        return maps.is_learned(self.map["name"])

    def base_models(self) -> int:
        """How many there are."""
        return self.dims

    def stored(self) -> str:
        """The subspace."""
        return self.subspace

    def mixed_of(self, backbone: nn.Module) -> tuple[str, ...]:
        """The parameters that are mixed, by patterns of their names."""
        return self.configurable

    def build(self, backbone: Callable[[], nn.Module]) -> nn.Module:
        first = backbone()
        return SCN(
            first,
            self.transform.alpha_dim,
            self.base_models(),
            map=self.make_map,
            subspace=self.stored(),
            init="pretrained" if self.noise else backbone,
            noise=self.noise,
            configurable=self.mixed_of(first),
        )

    def require(self, backbone: nn.Module) -> None:
        self.make_map()
        slots = find_slots(backbone, self.mixed_of(backbone))
        if self.stored() != FULL:
            compact(self.stored(), backbone, slots)

    def make_map(self) -> Map:
        """The map for this transform; one with places needs a space that the transform knows."""
        arguments = dict(self.map)
        kind = maps.get(arguments.pop("name"))
        if kind.bounded and self.transform.space() is None:
            raise ScnError(
                f"the map {self.map['name']} puts base models at places of alpha, but this transform "
                "does not say what its alpha are: give it encodings() or space(), or use the map learned"
            )
        return kind(self.alpha_space(), self.base_models(), **arguments)

    def alpha_space(self) -> Space:
        """What alpha is, as far as the transform says so."""
        return self.transform.space() or tuple(Line() for _ in range(self.transform.alpha_dim))

    def outputs(self, net: nn.Module, x: Tensor, params: Tensor) -> Tensor:
        return net(x, self.transform.encode(params))

    def alphas(self, params: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
        """alpha, and where the terms that need them are weighted: another alpha, and a wrong one."""
        alpha = self.transform.encode(params)
        found = {"alpha": alpha}
        if self.terms.separation_weight and self.base_models() > 1 and self._is_learned():
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

    def configured(self, net: nn.Module, params: Tensor, into: nn.Module | None = None) -> nn.Module:
        assert isinstance(net, SCN)
        return net.configure(self.transform.encode(params), into=into)

    def save(self, net: nn.Module, path: Path) -> None:
        assert isinstance(net, SCN)
        net.save(path)

    def load(self, path: Path, backbone: Callable[[], nn.Module]) -> nn.Module:
        return SCN.load(path, backbone())
