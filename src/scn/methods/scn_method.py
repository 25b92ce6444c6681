"""SCN: D base models mixed for each setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor, nn

from scn.core import losses, maps
from scn.core.compact import FULL, compact
from scn.core.errors import ScnError
from scn.core.layout import find_slots
from scn.core.maps import Map
from scn.core.maps.places import fits_grid
from scn.core.network import SCN
from scn.core.space import Circle, Line
from scn.methods.base import Method, registry
from scn.transforms import Transform

DRAWS, FAR_DRAWS = 1024, 8
FAR = 1 / 12  # of the range of a parameter: 30 degrees of a circle
IN_USE = 0.05
ALIKE, TOGETHER = 0.05, 0.5  # for maps in which each base model has a place of its own


@registry.register("scn")
@dataclass(frozen=True)
class SubspaceConfigurable(Method):
    """Told the setting, as alpha; classification, separation and, if weighted, entropy terms."""

    title: ClassVar[str] = "SCN D={dims}"
    mixes: ClassVar[bool] = True

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
        return 0.0 if maps.is_learned(self.map["name"]) else with_places

    def build(self, backbone: Callable[[], nn.Module]) -> nn.Module:
        return SCN(
            backbone(),
            self.transform.alpha_dim,
            self.dims,
            map=self.make_map,
            subspace=self.subspace,
            init="pretrained" if self.noise else backbone,
            noise=self.noise,
            configurable=self.configurable,
        )

    def require(self, backbone: nn.Module) -> None:
        self.make_map()
        if self.subspace != FULL:
            compact(self.subspace, backbone, find_slots(backbone, self.configurable))

    def make_map(self) -> Map:
        """The map for this transform; one with places needs a space that the transform knows."""
        arguments = dict(self.map)
        kind = maps.get(arguments.pop("name"))
        space = self.transform.space()
        if space is None:
            if kind.bounded:
                raise ScnError(
                    f"the map {self.map['name']} puts base models at places of alpha, but this transform "
                    "does not say what its alpha are: give it encodings() or space(), or use the map learned"
                )
            space = tuple(Line() for _ in range(self.transform.alpha_dim))
        return kind(space, self.dims, **arguments)

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

    def outputs(self, net: nn.Module, x: Tensor, params: Tensor) -> Tensor:
        return net(x, self.transform.encode(params))

    def alphas(self, params: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
        """alpha, and where the terms that need them are weighted: another alpha, and a wrong one."""
        alpha = self.transform.encode(params)
        found = {"alpha": alpha}
        if self.terms.separation_weight and self.dims > 1 and maps.is_learned(self.map["name"]):
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

    def configured(self, net: nn.Module, params: Tensor, into: nn.Module | None = None) -> nn.Module:
        assert isinstance(net, SCN)
        return net.configure(self.transform.encode(params), into=into)

    def save(self, net: nn.Module, path: Path) -> None:
        assert isinstance(net, SCN)
        net.save(path)

    def load(self, path: Path, backbone: Callable[[], nn.Module]) -> nn.Module:
        return SCN.load(path, backbone())
