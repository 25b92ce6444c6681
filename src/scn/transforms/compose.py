"""Several transforms at once, one after the other: `rotation+scaling`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.transforms.base import Parameter, Transform
from scn.transforms.encoding import Encoding

MOST_SETTINGS = 500  # of the grid that is looked at unless a person says otherwise


class Composed(Transform):
    """Parameters and alpha of the parts in their order; the first part is applied first."""

    def __init__(self, parts: Sequence[tuple[str, Transform]]) -> None:
        wrong = next((name for name, part in parts if part.measured), None)
        if wrong:
            raise ScnError(f"{wrong} is measured with the data, and cannot be part of a composition")
        self.parts = [part for _, part in parts]
        named = [(name, parameter) for name, part in parts for parameter in part.parameters]
        self.parameters = tuple(_distinguished(name, parameter, named) for name, parameter in named)
        self.alpha_dim = sum(part.alpha_dim for part in self.parts)
        self.repeatable = all(part.repeatable for part in self.parts)

    def _divided(self, params: Tensor) -> list[Tensor]:
        return list(self.checked(params).split([len(part.parameters) for part in self.parts], dim=-1))

    def regular(self, step: float | None = None) -> Tensor:
        """By default as many values of each parameter as give a few hundred combinations."""
        if step is not None:
            raise ScnError("the parts of a composition have no step in common: leave it out")
        return self.grid(max(2, int(MOST_SETTINGS ** (1 / len(self.parameters)) + 1e-9)))

    def evenly(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        return torch.cat([part.evenly(n, generator) for part in self.parts], dim=1)

    def encode(self, params: Tensor) -> Tensor:
        pairs = zip(self.parts, self._divided(params), strict=True)
        return torch.cat([part.encode(own) for part, own in pairs], dim=-1)

    def encodings(self) -> tuple[Encoding, ...] | None:
        known = [part.encodings() for part in self.parts]
        return None if None in known else tuple(kind for own in known for kind in own or ())

    def apply(self, x: Tensor, params: Tensor) -> Tensor:
        for part, own in zip(self.parts, self._divided(params), strict=True):
            x = part.apply(x, own)
        return x

    @property
    def invertible(self) -> bool:
        return all(part.invertible for part in self.parts)

    def invert(self, x: Tensor, params: Tensor) -> Tensor:
        for part, own in reversed(list(zip(self.parts, self._divided(params), strict=True))):
            x = part.invert(x, own)
        return x


def _distinguished(name: str, parameter: Parameter, named: list[tuple[str, Parameter]]) -> Parameter:
    """A parameter whose name another part uses as well carries the name of its part."""
    shared = sum(other.name == parameter.name for _, other in named) > 1
    return replace(parameter, name=f"{name} {parameter.name}") if shared else parameter
