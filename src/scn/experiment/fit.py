"""Networks that fit a device: of each kind the largest that does.

Counted is what the C export puts there: weights and tables in flash, without some kilobytes of code, and
theta and activations in RAM. Which of them is best is then measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

import torch

from scn import methods
from scn.core.errors import ScnError
from scn.experiment.choice import Choice
from scn.experiment.jobs import Evaluation, Job, job_name, kind_label, telling
from scn.export import Options
from scn.export.c import facts_of
from scn.export.subject import subject_of
from scn.objectives import Score
from scn.runs import Run, RunConfig, backbone_of
from scn.runs.collection import LoadedRun

DIMS = (2, 3, 4, 5, 6, 8, 9, 12, 16, 24, 25, 32, 36, 48, 64)
SUBSPACES = ("full", "factored:64", "factored:32", "factored:16", "factored:8")
TIMES = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8)  # the width of the backbone, where nothing is mixed
LIMIT = re.compile(r"\s*(flash|ram)\s*=\s*(\d+(?:\.\d+)?)\s*([km]?)b?\s*", re.IGNORECASE)
UNITS = {"": 1, "k": 1024, "m": 1024**2}


@dataclass(frozen=True)
class Limits:
    """Bytes that a device has for a network; None where it has enough."""

    flash: int | None = None
    ram: int | None = None

    @classmethod
    def read(cls, text: str) -> Limits:
        """From "flash=64k,ram=16k"; k is 1,024 bytes and m 1,024 k."""
        found: dict[str, int] = {}
        for part in text.split(","):
            said = LIMIT.fullmatch(part)
            if said is None:
                raise ScnError(f"`fit` takes limits such as flash=64k,ram=16k, but got {part.strip()!r}")
            name, number, unit = said[1].lower(), float(said[2]), UNITS[said[3].lower()]
            if name in found:
                raise ScnError(f"`fit` has two limits for {name}: {text!r}")
            found[name] = int(number * unit)
        return cls(**found)

    def hold(self, size: Size) -> bool:
        return all(
            limit is None or taken <= limit
            for limit, taken in ((self.flash, size.flash), (self.ram, size.ram))
        )

    def __str__(self) -> str:
        given = (("flash", self.flash), ("ram", self.ram))
        return ", ".join(f"{name} {limit:,} bytes" for name, limit in given if limit is not None)


@dataclass(frozen=True)
class Size:
    """Bytes of a network on a device, as float32."""

    flash: int
    ram: int


@dataclass(frozen=True)
class Candidate:
    """A network and its size: the largest of its kind that fits or, where none does, the smallest."""

    more: str  # what tells it from others with the same method and D
    config: RunConfig
    size: Size
    fits: bool

    @property
    def method(self) -> str:
        return self.config.method

    @property
    def dims(self) -> int:
        return self.config.dims


def size_of(config: RunConfig, backbone: str | None = None) -> Size:
    """What the C export of such a network takes untrained; `backbone` names a class of one's own."""
    run = Run(Path(config.method), config)  # of which nothing is written
    make = backbone_of(run, backbone)
    with torch.random.fork_rng():
        facts = facts_of(subject_of(run, "network", network=run.method().build(make)), Options())
    return Size(facts["flash"]["total"], facts["ram"]["total"])


def candidates(
    choice: Choice,
    limits: Limits,
    names: Iterable[str],
    dims: Sequence[int] = DIMS,
    variants: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
) -> list[Candidate]:
    """Of each method, map and subspace the largest network that fits; without one the smallest there is."""
    found: list[Candidate] = []
    refused: list[ScnError] = []
    for name in dict.fromkeys(names):
        kind = methods.get(name)
        if kind.needs_fixed:
            raise ScnError(f"{name} is a network for each setting, and `fit` chooses one for all of them")
        if kind.mixes:
            all_kinds = {"subspace": SUBSPACES, **(variants or {})}
            kinds = {what: values for what, values in all_kinds.items() if what in kind.takes}
            for chosen in product(*kinds.values()):
                said = dict(zip(kinds, chosen, strict=True))
                make = partial(choice.config, name, seed=seed, **said)
                several = _of_dims(make, dims, telling(said, kinds), refused)
                found += _largest(several, limits, choice.backbone)
        else:
            found += _largest(_of_widths(choice, name, seed), limits, choice.backbone)
    if not found:
        raise refused[-1]
    if not any(one.fits for one in found):
        least = min(found, key=lambda one: (one.size.flash, one.size.ram))
        raise ScnError(
            f"nothing fits {limits}: the smallest, {least.method} {least.more}".rstrip()
            + f", takes {least.size.flash:,} bytes of flash and {least.size.ram:,} of RAM"
        )
    return found


def _largest(several: Iterator[tuple[str, RunConfig]], limits: Limits, backbone: str) -> list[Candidate]:
    """Of networks in the order of their size: the last that fits."""
    last: Candidate | None = None
    for more, config in several:
        size = size_of(config, backbone)
        now = Candidate(more, config, size, limits.hold(size))
        if last is None or now.fits:
            last = now
        if not now.fits:
            break
    return [] if last is None else [last]


def _of_dims(
    make: Callable[..., RunConfig], dims: Sequence[int], more: str, refused: list[ScnError]
) -> Iterator[tuple[str, RunConfig]]:
    """More and more base models. What a map or a backbone has no use for is left out, and why is kept."""
    for number in sorted(set(dims)):
        try:
            config = make(dims=number)
        except ScnError as error:
            refused.append(error)
            continue
        yield more, config


def _of_widths(choice: Choice, method: str, seed: int) -> Iterator[tuple[str, RunConfig]]:
    """Wider and wider, where the backbone has a width."""
    usual = choice.config(method, seed=seed)
    width = usual.backbone["arguments"].get("width")
    if type(width) is not int:
        yield "", usual
        return
    for other in dict.fromkeys(max(1, int(times * width)) for times in TIMES):
        wider = replace(choice, sizes={**choice.sizes, "width": other})
        yield f"width {other}", wider.config(method, seed=seed)


def jobs_of(found: Sequence[Candidate], seeds: range, test: Evaluation) -> list[Job]:
    """The runs of those that fit."""
    chosen = [one for one in found if one.fits]
    return [
        Job(job_name(one.method, _label(one), seed), replace(one.config, seed=seed), test, one.more)
        for seed in seeds
        for one in chosen
    ]


def _label(one: Candidate) -> str:
    return kind_label(one.more, one.dims if methods.get(one.method).mixes else None)


def best(jobs: Sequence[Job], folder: Path, score: Score) -> tuple[Job, bool]:
    """The first run of the best kind, and whether data that were held back decided it, or the test data."""
    loaded = {job.name: LoadedRun(Run(folder / job.name, job.config), job.more) for job in jobs}
    held_back = all(one.validation is not None for one in loaded.values())

    def reached(kind: tuple[str, int, str]) -> float:
        same = [loaded[job.name] for job in jobs if _kind(job) == kind]
        return sum((one.validation if held_back else one.mean) or 0.0 for one in same) / len(same)

    first, *rest = dict.fromkeys(_kind(job) for job in jobs)
    for kind in rest:
        if score.better(reached(kind), reached(first)):
            first = kind
    return next(job for job in jobs if _kind(job) == first), held_back


def _kind(job: Job) -> tuple[str, int, str]:
    return job.config.method, job.config.dims, job.more
