"""Categories: alpha is the number of a kind, such as one of four places where a camera may be mounted."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from scn.core.errors import ScnError
from scn.core.maps.base import SparseMap, registry
from scn.core.space import Categories, Space


@registry.register("categories")
class CategoryTable(SparseMap):
    """A base model for each category; with fewer base models than categories, a learned mixture for each."""

    def __init__(self, space: Space, dims: int, *, outside: str = "refuse") -> None:
        super().__init__(space, dims, outside=outside)
        (axis,) = space if len(space) == 1 else (None,)
        if not isinstance(axis, Categories):
            raise ScnError(
                "the map categories is for the number of a category, but alpha is "
                f"{' x '.join(map(str, space))}: give the space=(Categories(count),) of scn.core.space"
            )
        if dims > axis.count:
            raise ScnError(f"{axis.count} categories need at most so many base models, but dims is {dims}")
        self.count = axis.count
        self.table = None if dims == self.count else nn.Parameter(torch.randn(self.count, dims))
        self.entries = 1 if self.table is None else dims

    def sparse(self, alpha: Tensor) -> tuple[Tensor, Tensor]:
        number = alpha[..., :1].detach().round().long().clamp(0, self.count - 1)
        if self.table is None:
            return number, 0 * alpha[..., :1] + 1
        every = torch.arange(self.dims, device=alpha.device).expand(*alpha.shape[:-1], self.dims)
        return every, F.embedding(number.squeeze(-1), self.table.softmax(dim=-1))
