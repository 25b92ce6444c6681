"""SAFN (Xu, 2019): features of source and target are made longer, step by step, until they transfer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from scn.methods.base import registry
from scn.methods.domains import Domains
from scn.methods.layers import last_linear

WEIGHT, STEP = 0.05, 1.0  # of the term, and how much longer the features shall be than they are


class WithFeatures(nn.Module):
    """A backbone whose last features pass a BatchNorm, ReLU and dropout, and can be asked for."""

    def __init__(self, backbone: nn.Module) -> None:
        super().__init__()
        owner, _, name = last_linear(backbone).rpartition(".")
        last: Any = backbone.get_submodule(last_linear(backbone))
        self.backbone = backbone
        self.features = nn.Sequential(nn.BatchNorm1d(last.in_features), nn.ReLU(), nn.Dropout(0.5))
        setattr(backbone.get_submodule(owner), name, nn.Identity())
        self.last = last

    def both(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The features and the outputs."""
        features = self.features(self.backbone(x))
        return features, self.last(features)

    def forward(self, x: Tensor) -> Tensor:
        return self.both(x)[1]


@registry.register("safn")
@dataclass(frozen=True)
class Safn(Domains):
    """Classification on the source; the norm of all features shall grow."""

    title: ClassVar[str] = "SAFN"

    def build(self, backbone: Callable[[], nn.Module]) -> nn.Module:
        return WithFeatures(backbone())

    def loss(self, net: nn.Module, x: Tensor, labels: Tensor, alphas: dict[str, Tensor]) -> dict[str, Tensor]:
        assert isinstance(net, WithFeatures)
        features, outputs = net.both(x.transpose(0, 1).flatten(0, 1))
        lengths = features.norm(dim=1)
        return {
            self.objective.part: self.objective.loss(outputs[: len(x)], labels),
            "norm": WEIGHT * (lengths - (lengths.detach() + STEP)).square().mean(),
        }
