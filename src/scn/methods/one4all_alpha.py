"""One4All that is told the setting as a further input: what mixing base models has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from scn.methods.base import PlainMethod, registry
from scn.transforms import Transform


@registry.register("one4all-alpha")
@dataclass(frozen=True)
class One4AllAlpha(PlainMethod):
    """A plain network on the readings of a sensor with alpha beside them."""

    title: ClassVar[str] = "One4All given alpha"

    @classmethod
    def objection(cls, transform: Transform) -> str | None:
        return None if transform.measured else "alpha is put beside readings of a sensor, not into an image"

    def see(self, x: Tensor, params: Tensor) -> Tensor:
        """x: (B, F) -> (B, F + S)."""
        alpha = self.transform.encode(self.transform.rows(x, params))
        return torch.cat([x, alpha.repeat_interleave(len(x) // len(alpha), dim=0)], dim=1)
