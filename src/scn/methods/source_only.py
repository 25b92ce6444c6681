"""Source only: a plain network that was trained on unchanged inputs, and is used as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from scn.methods.base import PlainMethod, registry
from scn.transforms import Transform


@registry.register("source-only")
@dataclass(frozen=True)
class SourceOnly(PlainMethod):
    """What adaptation starts from: it has seen no changed input at all."""

    title: ClassVar[str] = "Source only"
    knows_setting: ClassVar[bool] = False
    needs_labels: ClassVar[bool] = False

    @classmethod
    def objection(cls, transform: Transform) -> str | None:
        return "it comes with the data: none of them are unchanged" if transform.measured else None

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        return self.transform.neutral().expand(count, -1)
