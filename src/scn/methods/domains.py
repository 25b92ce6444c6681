"""Methods that adapt from one domain to another: unchanged inputs with labels, changed ones without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from scn.methods.base import PlainMethod
from scn.transforms import Transform


@dataclass(frozen=True)
class Domains(PlainMethod):
    """Trained on pairs (B, 2, ...): a source input, whose label is given, and a target input of another.

    The target is changed by `fixed`, where that is given, and otherwise by any setting.
    """

    knows_setting: ClassVar[bool] = False
    may_fix: ClassVar[bool] = True
    needs_labels: ClassVar[bool] = False

    @classmethod
    def objection(cls, transform: Transform) -> str | None:
        return "it comes with the data: none of them are unchanged" if transform.measured else None

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        if self.fixed is not None:
            return self.fixed.expand(count, -1)
        return self.transform.sample(count, generator)

    def training_inputs(
        self, samples: Tensor, params: Tensor, normalisation: Callable[[Tensor], Tensor]
    ) -> Tensor:
        source = self.transform.apply(samples, self.transform.neutral())
        target = self.transform.apply(samples, params).roll(1, dims=0)
        return torch.stack([normalisation(source), normalisation(target)], dim=1)
