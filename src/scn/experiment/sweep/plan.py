"""From the file of a sweep to its runs: every combination that is another run, once."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from scn import methods, transforms
from scn.core.errors import AlreadyThere, Failed, NotThere, ScnError
from scn.experiment.choice import choose
from scn.experiment.jobs import Evaluation, Job, plan_jobs
from scn.experiment.store import content_key, run_name
from scn.experiment.sweep.file import OF_RECIPE, OF_TASK, SweepFile

DIMS = 8  # where nothing is said, as of `scn train`
BY_VALUE = ("map", "subspace")  # said by their values alone, which are words
APART = {*OF_TASK, "method", "dims"}  # for which tables have places of their own

Combination = dict[str, Any]


@dataclass(frozen=True)
class Planned:
    """The runs of a sweep, and what is left out: the combination and why."""

    jobs: list[Job]
    refused: dict[str, str]


def plan_sweep(file: SweepFile) -> Planned:
    """Every run of a grid."""
    crossed = [
        {**file.shared, **dict(zip(grid, values, strict=True))}
        for grid in file.grids
        for values in itertools.product(*grid.values())
    ]
    varied = _varied(crossed)
    found: list[Job] = []
    refused: dict[str, str] = {}
    for said in _once(concerned(each) for each in crossed):
        try:
            found += jobs_of(file, said, varied)
        except Refused as error:
            if not file.skip_refused:
                raise
            refused[error.combination] = error.reason
    if not found:
        raise ScnError(f"{file.path}: no run is left, because every combination is refused")
    return Planned(each_once(found), refused)


class Refused(ScnError):
    """A combination that cannot work, and why."""

    def __init__(self, file: SweepFile, said: Combination, error: ScnError) -> None:
        self.combination = ", ".join(f"{name} = {value}" for name, value in said.items()) or "the defaults"
        self.reason = str(error).replace("`", '"')  # names of keys, not of options
        super().__init__(
            f"{file.path}: {self.combination} cannot work: {self.reason} (skip_refused = true leaves such "
            "runs out)"
        )


def jobs_of(file: SweepFile, said: Combination, varied: Iterable[str]) -> list[Job]:
    """The runs of one combination: one for each seed or, for a method that needs it, for each setting."""
    try:
        return _jobs(said, file.seeds, file.step, _words(said, varied))
    except (NotThere, Failed):  # nothing is wrong with the combination
        raise
    except ScnError as error:
        raise Refused(file, said, error) from error


def _jobs(said: Combination, seeds: Sequence[int], step: float | None, more: str) -> list[Job]:
    rest = {name: value for name, value in said.items() if name not in OF_RECIPE}
    method, dims = rest.pop("method", methods.MIXED), rest.pop("dims", DIMS)
    chosen = choose(**rest, changes={name: said[name] for name in said.keys() & OF_RECIPE.keys()})
    transform = transforms.get(chosen.transform, chosen.preset)
    test = Evaluation(chosen.settings(step), chosen.test_samples)
    planned = plan_jobs(chosen.config, transform, [method], [dims], seeds, test)
    return [replace(job, name=run_name(job.config), more=more) for job in planned]


def concerned(said: Combination) -> Combination:
    """A combination without what does not concern its method: a network that mixes nothing has no D."""
    kind = methods.get(said.get("method", methods.MIXED))
    silent = {name for name in BY_VALUE if name not in kind.takes} | (set() if kind.mixes else {"dims"})
    return {name: value for name, value in said.items() if name not in silent}


def _once(several: Iterable[Combination]) -> Iterator[Combination]:
    yield from {tuple(said.items()): said for said in several}.values()


def _varied(several: Sequence[Combination]) -> list[str]:
    """The names whose values differ."""
    names = dict.fromkeys(name for said in several for name in said)
    return [name for name in names if len({said.get(name) for said in several}) > 1]


def _words(said: Combination, varied: Iterable[str]) -> str:
    """What tells a run from others of its task, method and D."""
    apart = [name for name in varied if name in said and name not in APART]
    shown = {name: f"{said[name]:.6g}" if type(said[name]) is float else str(said[name]) for name in apart}
    return ", ".join(v if name in BY_VALUE else f"{name.replace('_', ' ')} {v}" for name, v in shown.items())


def each_once(jobs: Iterable[Job]) -> list[Job]:
    """Each run once: lines that come to the same one are no clash, unless they test it in two ways."""
    found: dict[str, Job] = {}
    by_name: dict[str, str] = {}
    for job in jobs:
        key = content_key(job.config)
        first = found.setdefault(key, job)
        if not _same_test(first.test, job.test):
            raise ScnError(
                f"two lines of the sweep are the same run, {first.name}, but test it under other settings or "
                "samples: make two sweeps of them"
            )
        if by_name.setdefault(first.name, key) != key:
            raise AlreadyThere(f"two runs of the sweep would have one name, {first.name}: make two sweeps")
    return list(found.values())


def _same_test(one: Evaluation, other: Evaluation) -> bool:
    return one.samples == other.samples and torch.equal(one.settings, other.settings)
