"""TI-Pooling (Laptev, 2016): one network looks at all versions of the input, and the strongest features of
any of them decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from scn.core.errors import ScnError
from scn.methods.base import PlainMethod, registry
from scn.methods.layers import before_outputs
from scn.methods.versions import Versions


class Pooled(nn.Module):
    """x: (B, V, ...) -> (B, outputs), with the maximum over V where the last linear layer begins."""

    def __init__(self, backbone: nn.Module) -> None:
        super().__init__()
        self.backbone = backbone
        self.at = before_outputs(backbone)

    def forward(self, x: Tensor) -> Tensor:
        batch, versions = x.shape[:2]

        def strongest(layer: nn.Module, given: tuple[Any, ...]) -> tuple[Tensor]:
            (features,) = given
            if features.dim() != 2 or len(features) != batch * versions:
                raise ScnError(
                    f"TI-Pooling needs a row of features for each input before {self.at!r}, but their shape "
                    f"is {tuple(features.shape)}"
                )
            return (features.unflatten(0, (batch, versions)).amax(dim=1),)

        hook = self.backbone.get_submodule(self.at).register_forward_pre_hook(strongest)
        try:
            return self.backbone(x.flatten(0, 1))
        finally:
            hook.remove()


@registry.register("ti-pooling")
@dataclass(frozen=True)
class TIPooling(Versions, PlainMethod):
    """Knows nothing of the setting, and pays for it by as many passes as there are versions."""

    title: ClassVar[str] = "TI-Pooling"
    knows_setting: ClassVar[bool] = False

    def build(self, backbone: Callable[[], nn.Module]) -> nn.Module:
        return Pooled(backbone())
