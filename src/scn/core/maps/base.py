"""What an SCN asks of a map from alpha to the mixing coefficients beta."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from scn.core.errors import ScnError
from scn.core.registry import Registry
from scn.core.space import Space

POLICIES = ("refuse", "clamp")


class Map(nn.Module, ABC):
    """beta = map(alpha), of which every row sums to 1.

    Args:
        space: what alpha is: the kinds of its values.
        dims: D, how many base models are mixed.
        outside: what becomes of an alpha that the space does not hold: "refuse" it, or "clamp" it to the
            nearest that it holds. It is never extrapolated.
    """

    entries: int | None = None  # k, how many coefficients of a row are not zero; None where all may be
    bounded: ClassVar[bool] = True  # whether alpha must lie in the space

    def __init__(self, space: Space, dims: int, *, outside: str = "refuse") -> None:
        super().__init__()
        if outside not in POLICIES:
            raise ScnError(f"outside must be one of {', '.join(POLICIES)}, but is {outside!r}")
        self.space, self.dims, self.outside = space, dims, outside

    @abstractmethod
    def forward(self, alpha: Tensor) -> Tensor:
        """alpha: (..., S) -> beta: (..., D)."""

    @property
    def saved_as(self) -> type[Map]:
        """The class that reads it again."""
        return type(self)

    def arguments(self) -> dict[str, Any]:
        """What it was made with beside space and dims, as JSON."""
        return {"outside": self.outside}

    def divide(self, parents: list[int]) -> None:
        """Add one coefficient per entry of `parents`, which shares that parent's."""
        raise ScnError(
            f"{type(self).__name__} has a base model for each place of its space, and cannot divide one: "
            "use resample(D) for more places"
        )

    def without(self, kept: list[int]) -> Map | None:
        """The map with these base models alone; None where it cannot do without the others."""
        return None

    def extra_repr(self) -> str:
        return f"{' x '.join(map(str, self.space))}, dims={self.dims}"

    def refuse_outside(self, alpha: Tensor) -> None:
        """Raise if a row of alpha (..., S) is none of the space, unless such rows are to be clamped."""
        if not self.bounded or self.outside == "clamp":
            return
        alpha = alpha.detach()
        numbers: Sequence[Any] = alpha.tolist() if alpha.dim() == 1 else alpha.unbind(dim=-1)
        start = 0
        for axis in self.space:
            values = numbers[start : start + axis.size]
            start += axis.size
            wrong = axis.outside(*values)
            if wrong is False or not torch.as_tensor(wrong).any():
                continue
            first = [float(torch.as_tensor(v)[torch.as_tensor(wrong)].flatten()[0]) for v in values]
            raise ScnError(
                f"alpha holds {', '.join(f'{value:g}' for value in first)}, which is not {axis}: encode the "
                "parameters first (alpha = transform.encode(params)), check the sensor, or set "
                'net.map.outside = "clamp"'
            )


class SparseMap(Map):
    """A map of which k coefficients of each row are not zero."""

    entries: int

    @abstractmethod
    def sparse(self, alpha: Tensor) -> tuple[Tensor, Tensor]:
        """alpha: (..., S) -> which base models are mixed, (..., k), and their coefficients, (..., k)."""

    def pick(self, alpha: Tensor) -> tuple[list[int], list[float]]:
        """The same for one alpha (S,), as numbers."""
        indices, coefficients = self.sparse(alpha)
        return indices.tolist(), coefficients.tolist()

    def forward(self, alpha: Tensor) -> Tensor:
        indices, coefficients = self.sparse(alpha)
        empty = coefficients.new_zeros(*coefficients.shape[:-1], self.dims)
        return torch.scatter_add(empty, -1, indices, coefficients)


registry: Registry[type[Map]] = Registry("map", Map)
