"""Inverse: the change is undone before a plain network sees the input (canonicalisation)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from scn.methods.base import Plain, registry


@registry.register("inverse")
@dataclass(frozen=True)
class Inverse(Plain):
    """Knows the setting as an SCN does, and spends it on restoring the input."""

    def see(self, x: Tensor, params: Tensor) -> Tensor:
        return self.transform.invert(x, params)
