"""Find alpha from the input itself, where no sensor gives it: the right alpha gives a clear prediction.

To add a way to search, write a subclass of `Search` decorated by `@registry.register("name")` and import it
here.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from scn.backbones.estimator import Estimator
from scn.core.network import SCN
from scn.search.base import Found, Search, registry
from scn.search.basin_hopping import BasinHopping
from scn.search.coarse_to_fine import CoarseToFine
from scn.search.estimator import Estimated, train_estimator
from scn.search.grid import Candidates, Grid
from scn.search.refine import Refine
from scn.search.tracker import Tracked, Tracker
from scn.transforms import Transform

get = registry.get


def search(
    net: SCN, x: Tensor, transform: Transform, method: str = "grid", groups: int = 1, **options: Any
) -> Found:
    """The setting under which the network explains x (B, ...) best, one for each of the groups.

    For a stream make the `Search` once and call it for each batch: it keeps what it has mixed.
    """
    return get(method)(net, transform, **options)(x, groups)


__all__ = [
    "BasinHopping",
    "Candidates",
    "CoarseToFine",
    "Estimated",
    "Estimator",
    "Found",
    "Grid",
    "Refine",
    "Search",
    "Tracked",
    "Tracker",
    "get",
    "registry",
    "search",
    "train_estimator",
]
