"""Methods that look at an input in several versions: changed again by the transform, over its whole range."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.methods.base import Method
from scn.transforms import Transform


@dataclass(frozen=True)
class Versions(Method):
    """Shown (B, V, ...): each of B inputs in V versions."""

    one_pass: ClassVar[bool] = False

    @classmethod
    def objection(cls, transform: Transform) -> str | None:
        if transform.measured:
            return "it comes with the data, and nothing can be changed again"
        return None if transform.repeatable else "what it made cannot be changed again"

    def settings(self) -> Tensor:
        """(V, P): as many of each parameter as `branches` allows, evenly over its range."""
        count, parameters = self.terms.branches, len(self.transform.parameters)
        steps = max(steps for steps in range(1, count + 1) if steps**parameters <= count)
        return self.transform.grid(steps)

    def inputs(
        self,
        samples: Tensor,
        params: Tensor,
        normalisation: Callable[[Tensor], Tensor],
        assumed: Tensor | None = None,
    ) -> Tensor:
        changed = self.transform.apply(samples, params)
        settings = self.settings()
        again = [normalisation(self.transform.apply(changed, setting)) for setting in settings]
        if len({version.shape for version in again}) > 1:
            raise ScnError(
                f"{type(self).__name__} compares versions of one size, but this change makes several"
            )
        return torch.stack(again, dim=1)

    def blank(self, shape: tuple[int, ...]) -> Tensor:
        return torch.zeros(1, len(self.settings()), *shape)

    def shape_of(self, inputs: Tensor) -> tuple[int, ...]:
        return tuple(inputs.shape[2:])
