"""Test-time augmentation: One4All, which answers by the mean over several versions of the input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from scn.methods.base import registry
from scn.methods.one4all import One4All
from scn.methods.versions import Versions


class Averaged(nn.Module):
    """x: (B, V, ...) -> (B, outputs), the mean over V."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x.flatten(0, 1)).unflatten(0, x.shape[:2]).mean(dim=1)


@registry.register("augmented")
@dataclass(frozen=True)
class Augmented(Versions, One4All):
    """Trained as One4All is, on one version; the mean is over outputs."""

    title: ClassVar[str] = "One4All, augmented"
    colour: ClassVar[str] = ""

    def training_inputs(
        self, samples: Tensor, params: Tensor, normalisation: Callable[[Tensor], Tensor]
    ) -> Tensor:
        return normalisation(self.transform.apply(samples, params))

    def outputs(self, net: nn.Module, x: Tensor, params: Tensor) -> Tensor:
        return Averaged(net)(x)

    def configured(self, net: nn.Module, params: Tensor, into: nn.Module | None = None) -> nn.Module:
        return Averaged(net)
