"""One4All that is given alpha as a further input: what mixing base models has to beat.

A matrix by alpha is added to the first bias. That is what further inputs of a linear layer do, or channels of
a convolution that hold alpha everywhere; and once alpha is known it is folded away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from scn.core.compact import LAYERS, NORMS
from scn.core.errors import ScnError
from scn.core.maps import LinearMap, Map
from scn.core.storage import load_model
from scn.methods.base import registry
from scn.methods.mixed import Mixed


@registry.register("one4all-alpha")
@dataclass(frozen=True)
class One4AllAlpha(Mixed):
    """A plain network whose first bias is a linear function of alpha."""

    title: ClassVar[str] = "One4All given alpha"

    def base_models(self) -> int:
        return self.transform.alpha_dim + 1

    def _is_learned(self) -> bool:
        return False

    def make_map(self) -> Map:
        return LinearMap(self.alpha_space(), self.base_models())

    def mixed_of(self, backbone: nn.Module) -> tuple[str, ...]:
        for name, module in backbone.named_modules():
            if isinstance(module, (*LAYERS, *NORMS)) and getattr(module, "bias", None) is not None:
                return (f"{name}.bias".lstrip("."),)
        raise ScnError(
            f"{type(backbone).__name__} has no linear layer, convolution or norm layer with a bias, by which "
            "alpha could enter"
        )

    def load(self, path: Path, backbone: Callable[[], nn.Module]) -> nn.Module:
        if "alpha_dim" not in load_model(path)[1]:
            raise ScnError(
                f"{path} was written by an earlier scn, which put alpha beside the readings: train it again"
            )
        return super().load(path, backbone)
