"""The runs of a figure or table: every job under the name of its content, so that all entries share them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from scn import methods
from scn.device import targets
from scn.experiment.choice import Choice, choose
from scn.experiment.jobs import Evaluation, Job
from scn.experiment.store import run_name
from scn.reproduce.entries import BUDGETS, SEEDS, PaperEntry, Part
from scn.transforms import get as get_transform

ALONE = 5  # settings of One4One where a part names none


@dataclass(frozen=True, eq=False)
class Planned:
    """One run of an entry, and which part wants it."""

    part: Part
    job: Job


def plan(entry: PaperEntry, budget: str, seeds: int | None = None) -> list[Planned]:
    """Every run of an entry. What it needs and this machine does not have is an error that says so."""
    if entry.target is not None:
        targets.get(entry.target).require()
    found: dict[str, Planned] = {}
    for part in entry.parts:
        if budget in part.budgets:
            for job in _jobs(part, budget, seeds):
                found.setdefault(job.name, Planned(part, job))
    return list(found.values())


def _jobs(part: Part, budget: str, seeds: int | None) -> Iterator[Job]:
    chosen = choose(
        task=part.task,
        budget=BUDGETS[budget],
        width=part.width,
        depth=part.depth,
        preset=None if budget == "full" else part.preset,
        map=part.map,
        changes=part.changes,
    )
    test = _test(part, chosen, budget)
    count = seeds or min(SEEDS[budget], part.seeds or SEEDS[budget])
    for name in part.methods:
        for more in _variants(name, part, chosen, budget, test.settings):
            base = chosen.config(name, **more)
            for seed in range(1 if methods.get(name).needs_fixed else count):
                config = replace(base, seed=seed)
                yield Job(run_name(config), config, test)


def _test(part: Part, chosen: Choice, budget: str) -> Evaluation:
    if part.drawn is None:
        return Evaluation(chosen.settings(None), chosen.test_samples)
    transform = get_transform(chosen.transform, chosen.preset)
    count = part.drawn[list(BUDGETS).index(budget)]
    return Evaluation(transform.sample(count, torch.Generator().manual_seed(0)), chosen.test_samples)


def _variants(
    name: str, part: Part, chosen: Choice, budget: str, settings: Tensor
) -> Iterator[dict[str, Any]]:
    """What is configured of a method beside the part's own: D, or the setting it is for."""
    kind = methods.get(name)
    if kind.mixes:
        yield from ({"dims": d, "configurable": part.configurable} for d in part.of_budget(budget))
    elif kind.needs_fixed:
        yield from ({"fixed": list(setting)} for setting in _alone(part, chosen, budget, settings))
    else:
        yield {"fixed": list(part.fixed)} if part.fixed is not None and kind.may_fix else {}


def _alone(part: Part, chosen: Choice, budget: str, settings: Tensor) -> list[tuple[float, ...]]:
    """The settings of One4One; the smallest budget has two of them, and `cpu` of those that were drawn six."""
    if part.drawn is not None:
        rows = [tuple(row) for row in settings.tolist()]
        return rows[: {"smoke": 2, "cpu": 6}.get(budget, len(rows))]
    transform = get_transform(chosen.transform, chosen.preset)
    usual = [tuple(row) for row in transform.grid(ALONE).tolist()]
    rows = list(part.alone) or usual
    return rows[:2] if budget == "smoke" else rows
