"""What runs reached, and the table of it: one row for each method and D over its seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Outcome:
    """What one run reached."""

    method: str
    dims: int
    seed: int
    parameters: int  # all that is stored
    inference: int  # what one answer needs
    params: list[list[float]]
    accuracy: list[float]
    mean: float


@dataclass(frozen=True)
class Row:
    """One line of the table: a method (with D) over its seeds."""

    method: str
    dims: int
    mean: float
    std: float
    worst: float  # the lowest accuracy under any setting, as a mean over seeds
    seeds: int
    parameters: int
    inference: int


def table(outcomes: Sequence[Outcome]) -> list[Row]:
    """One row for each method and D: the mean over seeds and its standard deviation."""
    rows = []
    for method, dims in dict.fromkeys((o.method, o.dims) for o in outcomes):
        same = [o for o in outcomes if (o.method, o.dims) == (method, dims)]
        seeds = sorted({o.seed for o in same})
        means = torch.tensor([_mean([o.mean for o in same if o.seed == s]) for s in seeds])
        worst = _mean([min(min(o.accuracy) for o in same if o.seed == s) for s in seeds])
        spread = means.std().item() if len(seeds) > 1 else 0.0
        rows.append(
            Row(
                method,
                dims,
                means.mean().item(),
                spread,
                worst,
                len(seeds),
                same[0].parameters,
                same[0].inference,
            )
        )
    return rows


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
