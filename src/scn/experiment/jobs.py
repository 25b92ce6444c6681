"""The runs that a comparison is made of: one job for each method, D, setting and seed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
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


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a run is tested on."""

    settings: Tensor  # (N, P)
    samples: int = 0  # of the test data, 0 for all


@dataclass(frozen=True)
class Job:
    """One run to be trained and tested."""

    name: str
    config: RunConfig
    test: Evaluation
    more: str = ""  # what tells it from others with the same method and D


def plan_jobs(
    make: Callable[..., RunConfig],
    transform: Transform,
    names: Sequence[str] | None,
    dims: Sequence[int],
    seeds: range,
    test: Evaluation,
    variants: Mapping[str, Sequence[str]] | None = None,
    fixed: list[float] | None = None,
) -> list[Job]:
    """Every run of the comparison; `make(method, dims=..., fixed=...)` gives the configuration of one.

    Without names, the usual methods that can deal with the transform. `variants` are maps and subspaces of
    those that take them, by the names of the arguments. With `fixed`, methods that may be trained for one
    setting are trained for that.
    """
    if not seeds:
        raise ScnError(f"`seeds` must be at least 1, but is {len(seeds)}")
    if not dims or min(dims) < 1:
        raise ScnError(f"`dims` must be at least 1, but got {min(dims, default='none')}")
    if names is None:
        names = [name for name in methods.USUAL if methods.get(name).objection(transform) is None]
    jobs: dict[int, list[Job]] = {seed: [] for seed in seeds}
    for name in dict.fromkeys(names):
        # one network for each of several settings is enough
        own = seeds[:1] if methods.get(name).needs_fixed and fixed is None else seeds
        for label, more, changes in _kinds(methods.get(name), transform, dims, variants or {}, fixed):
            base = make(name, **changes)
            for seed in own:
                jobs[seed].append(Job(job_name(name, label, seed), replace(base, seed=seed), test, more))
    return _with_maps_named([job for several in jobs.values() for job in several])


def names_for(
    asked: str | None, make: Callable[..., RunConfig], transform: Transform
) -> tuple[list[str] | None, dict[str, str]]:
    """The methods that a person asked for, by commas, and why others are left out.

    "auto" are the few that docs/alternatives.md would choose, "all" those that this task allows.
    """
    if asked is None:
        return None, {}
    if asked == "auto":
        return list(methods.advised(transform)), {}
    if asked != "all":
        return [name.strip() for name in asked.split(",")], {}
    refused = {}
    for name in methods.registry:
        *_, changes = next(iter(_kinds(methods.get(name), transform, [1], {})))
        try:
            make(name, **changes)
        except ScnError as error:
            refused[name] = str(error)
    if len(refused) == len(list(methods.registry)):  # then it is not for the methods' sake
        raise ScnError(f"no method can do this: {refused[methods.MIXED]}")
    return [name for name in sorted(methods.registry, key=_first_mixed) if name not in refused], refused


def _first_mixed(name: str) -> bool:
    return name != methods.MIXED


def job_name(method: str, label: str, seed: int) -> str:
    """The name of a run, and of its folder."""
    return "-".join(part for part in (method.replace(":", "."), label, f"seed{seed}") if part)


def kind_label(more: str, dims: int | None) -> str:
    """What the name of a run says beside method and seed, of what a table says and D."""
    for text, written in ((", ", "-"), (" ", "-"), (":", "."), ("*", "")):
        more = more.replace(text, written)
    return "-".join(part for part in (more, "" if dims is None else f"d{dims}") if part)


def telling(chosen: Mapping[str, str], variants: Mapping[str, Sequence[str]]) -> str:
    """What a table says of a variant: the values that others have otherwise."""
    return ", ".join(value for name, value in chosen.items() if len(variants[name]) > 1)


def _with_maps_named(jobs: list[Job]) -> list[Job]:
    """Where D decides which map suits, the jobs say which they have."""
    several = [job for job in jobs if "map" in methods.get(job.config.method).takes and not job.more]
    if len({job.config.map["name"] for job in several}) < 2:
        return jobs
    return [replace(job, more=job.config.map["name"]) if job in several else job for job in jobs]


def _kinds(
    kind: type[Method],
    transform: Transform,
    dims: Sequence[int],
    variants: Mapping[str, Sequence[str]],
    fixed: list[float] | None = None,
) -> list[tuple[str, str, dict[str, Any]]]:
    """What a method is trained with beside its seed: a label for the folder, what a table says beside D, and
    what is configured."""
    if kind.mixes:
        found = []
        variants = {name: values for name, values in variants.items() if name in kind.takes}
        for choice in itertools.product(*(dict.fromkeys(values) for values in variants.values())):
            chosen = dict(zip(variants, choice, strict=True))
            said = telling(chosen, variants)
            found += [(kind_label(said, d), said, {"dims": d, **chosen}) for d in dict.fromkeys(dims)]
        return found
    if kind.factors:
        return [(f"{factor}x", "", {"dims": factor}) for factor in kind.factors]
    if fixed is not None and (kind.needs_fixed or kind.may_fix):
        return [(_setting_label(fixed), "", {"fixed": fixed})]
    if not kind.needs_fixed:
        return [("", "", {})]
    middles = (torch.arange(ONE4ONE_SETTINGS) + 0.5) / ONE4ONE_SETTINGS
    settings = [p.low + (p.high - p.low) * middles for p in transform.parameters]
    rows = torch.stack(settings, dim=1).tolist()
    return [(_setting_label(row), "", {"fixed": row}) for row in rows]


def _setting_label(values: Sequence[float]) -> str:
    return "_".join(f"{value:g}" for value in values)
