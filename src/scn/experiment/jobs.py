"""The runs that a comparison is made of: one job for each method, D, setting and seed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from scn import methods
from scn.core.errors import ScnError
from scn.methods import Method
from scn.runs import RunConfig
from scn.transforms import Transform

ONE4ONE_SETTINGS = 5


@dataclass(frozen=True)
class Job:
    """One run of a comparison."""

    name: str
    config: RunConfig


@dataclass(frozen=True)
class Evaluation:
    """What every run is tested on."""

    settings: Tensor  # (N, P)
    samples: int = 0  # of the test data, 0 for all


def plan_jobs(
    make: Callable[..., RunConfig],
    transform: Transform,
    names: Sequence[str] | None,
    dims: Sequence[int],
    seeds: range,
) -> list[Job]:
    """Every run of the comparison; `make(method, dims=..., fixed=...)` gives the configuration of one.

    Without names, all methods that can deal with the transform.
    """
    if not seeds:
        raise ScnError(f"`seeds` must be at least 1, but is {len(seeds)}")
    if not dims or min(dims) < 1:
        raise ScnError(f"`dims` must be at least 1, but got {min(dims, default='none')}")
    if names is None:
        able = [name for name in methods.registry if methods.get(name).objection(transform) is None]
        names = sorted(able, key=lambda name: not methods.get(name).mixes)
    jobs: dict[int, list[Job]] = {seed: [] for seed in seeds}
    for name in dict.fromkeys(names):
        variants = _variants(methods.get(name), transform, dims)
        base = make(name, **variants[0][1])
        own = seeds[:1] if methods.get(name).needs_fixed else seeds  # one network for each setting is enough
        for seed, (label, changes) in itertools.product(own, variants):
            parts = (name.replace(":", "."), label, f"seed{seed}")
            full = "-".join(part for part in parts if part)
            jobs[seed].append(Job(full, replace(base, seed=seed, **changes)))
    return [job for several in jobs.values() for job in several]


def _variants(
    kind: type[Method], transform: Transform, dims: Sequence[int]
) -> list[tuple[str, dict[str, Any]]]:
    """What a method is trained with beside its seed: a label for the folder, and what is configured."""
    if kind.mixes:
        return [(f"d{d}", {"dims": d}) for d in dict.fromkeys(dims)]
    if not kind.needs_fixed:
        return [("", {})]
    middles = (torch.arange(ONE4ONE_SETTINGS) + 0.5) / ONE4ONE_SETTINGS
    settings = [p.low + (p.high - p.low) * middles for p in transform.parameters]
    rows = torch.stack(settings, dim=1).tolist()
    return [("_".join(f"{v:g}" for v in row), {"fixed": row}) for row in rows]
