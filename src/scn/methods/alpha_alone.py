"""Alpha alone: a control that never sees the input. What it gets right, the setting gives away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from scn.methods.base import PlainMethod, registry
from scn.transforms import Transform


@registry.register("alpha-alone")
@dataclass(frozen=True)
class AlphaAlone(PlainMethod):
    """A plain network that is shown alpha in place of the sample."""

    title: ClassVar[str] = "Alpha alone"
    shows_input: ClassVar[bool] = False

    @classmethod
    def objection(cls, transform: Transform) -> str | None:
        return None if transform.measured else "settings that are drawn at random say nothing about a sample"

    def see(self, x: Tensor, params: Tensor) -> Tensor:
        """x: (B, ...) -> (B, S)."""
        alpha = self.transform.encode(self.transform.rows(x, params))
        return alpha.repeat_interleave(len(x) // len(alpha), dim=0)
