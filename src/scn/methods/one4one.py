"""One4One: one plain network for one setting. Several of them bound what adaptation can reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from scn.methods.base import PlainMethod, registry
from scn.transforms import Transform


@registry.register("one4one")
@dataclass(frozen=True)
class One4One(PlainMethod):
    """Trained and tested under `fixed` alone."""

    title: ClassVar[str] = "One4One"
    colour: ClassVar[str] = "#444444"
    needs_fixed: ClassVar[bool] = True

    @classmethod
    def objection(cls, transform: Transform) -> str | None:
        return "it comes with the data and cannot be chosen" if transform.measured else None

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        assert self.fixed is not None
        return self.fixed.expand(count, -1)
