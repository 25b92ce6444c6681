"""The runs of a figure or table: every job under the name of its content, so that all entries share them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from scn import methods
from scn.device import targets
from scn.experiment.choice import Choice, choose
from scn.experiment.jobs import Evaluation, Job
from scn.experiment.store import run_name
from scn.reproduce.parts import BUDGETS, CPU, FULL, SEEDS, SMOKE, PaperEntry, Part
from scn.transforms import get as get_transform

FEWER = {SMOKE: 2, CPU: 6}  # networks of One4One at most


@dataclass(frozen=True, eq=False)
class Wanted:
    """Runs that differ by their seed alone, before anything of them is looked at: no data are needed yet."""

    part: Part
    chosen: Choice
    method: str
    more: dict[str, Any]  # D and what is configurable, or the setting it is for
    test: Evaluation
    seeds: range

    @property
    def dims(self) -> int:
        return int(self.more.get("dims", 1))

    @property
    def key(self) -> str:
        """The same for what two entries have in common."""
        chosen = self.chosen
        mapped = chosen.map if methods.get(self.method).mixes else ""
        sizes = sorted(chosen.sizes.items())
        return str((self.part.task, chosen.preset, sizes, chosen.recipe, mapped, self.method, self.more))


@dataclass(frozen=True, eq=False)
class PlannedRun:
    """One run of an entry, and which part wants it."""

    part: Part
    job: Job


def plan(entry: PaperEntry, budget: str, seeds: int | None = None) -> list[PlannedRun]:
    """Every run of an entry. What it needs and this machine does not have is an error that says so."""
    if entry.target is not None:
        targets.get(entry.target).require()
    found: dict[str, PlannedRun] = {}
    for one in wanted(entry, budget, seeds):
        base = one.chosen.config(one.method, **one.more)
        for seed in one.seeds:
            config = replace(base, seed=seed)
            job = Job(run_name(config), config, one.test)
            found.setdefault(job.name, PlannedRun(one.part, job))
    return list(found.values())


def wanted(entry: PaperEntry, budget: str, seeds: int | None = None) -> Iterator[Wanted]:
    """What an entry asks for with this budget; by default with as many seeds as the budget has."""
    for part in entry.parts:
        if budget in part.budgets:
            yield from _of_part(part, budget, seeds)


def _of_part(part: Part, budget: str, seeds: int | None) -> Iterator[Wanted]:
    chosen = choose(
        task=part.task,
        budget=BUDGETS[budget],
        width=part.width,
        depth=part.depth,
        preset=None if budget == FULL else part.preset,
        map=part.map,
        changes=part.changes_for(budget),
    )
    test = _test(part, chosen, budget)
    count = seeds or min(SEEDS[budget], part.seeds or SEEDS[budget])
    for name in part.methods:
        own = range(1 if methods.get(name).needs_fixed else count)  # one network for each setting is enough
        for more in _variants(name, part, test, budget):
            yield Wanted(part, chosen, name, more, test, own)


def _test(part: Part, chosen: Choice, budget: str) -> Evaluation:
    if part.drawn is None:
        return Evaluation(chosen.settings(None), chosen.test_samples)
    transform = get_transform(chosen.transform, chosen.preset)
    count = part.drawn[list(BUDGETS).index(budget)]
    return Evaluation(transform.sample(count, torch.Generator().manual_seed(0)), chosen.test_samples)


def _variants(name: str, part: Part, test: Evaluation, budget: str) -> Iterator[dict[str, Any]]:
    """What is configured of a method beside the part's own: D, or the setting it is for."""
    kind = methods.get(name)
    if kind.mixes:
        yield from ({"dims": d, "configurable": part.configurable} for d in part.of_budget(budget))
    elif kind.needs_fixed:
        rows = part.alone or tuple(map(tuple, test.settings.tolist()))
        yield from ({"fixed": list(setting)} for setting in rows[: FEWER.get(budget, len(rows))])
    else:
        yield {"fixed": list(part.fixed)} if part.fixed is not None and kind.may_fix else {}
