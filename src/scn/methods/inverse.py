"""Inverse: the change is undone before a plain network sees the input (canonicalisation)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from scn.methods.base import PlainMethod, registry
from scn.transforms import Transform


@registry.register("inverse")
@dataclass(frozen=True)
class Inverse(PlainMethod):
    """Knows the setting as an SCN does, and spends it on restoring the input."""

    title: ClassVar[str] = "Inverse"
    colour: ClassVar[str] = "#009e73"
    undoes: ClassVar[bool] = True

    @classmethod
    def objection(cls, transform: Transform) -> str | None:
        return None if transform.invertible else "it cannot be undone"

    def see(self, x: Tensor, params: Tensor) -> Tensor:
        return self.transform.invert(x, params)
