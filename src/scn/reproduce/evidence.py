"""What the runs of an entry came to, as plain numbers that are written down: the ground of every verdict."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from scn import methods
from scn.core.errors import ScnError
from scn.core.maps import LEARNED
from scn.plots.style import label
from scn.reproduce.facts import FACTS
from scn.reproduce.plan import PlannedRun
from scn.runs import Run
from scn.runs.collection import LoadedRun
from scn.runs.labels import arguments

SIZES = ("width", "depth")


class NotMeasured(ScnError):
    """What a claim needs is not among what was measured."""


@dataclass(frozen=True)
class Values:
    """One quantity, a value for each seed."""

    by_seed: tuple[float, ...]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.by_seed)

    @property
    def std(self) -> float:
        """The standard deviation over seeds, 0 for one."""
        return statistics.stdev(self.by_seed) if len(self.by_seed) > 1 else 0.0

    @property
    def finite(self) -> bool:
        return bool(self.by_seed) and all(map(math.isfinite, self.by_seed))

    def __str__(self) -> str:
        spread = f" ± {self.std:.4f}" if len(self.by_seed) > 1 else ""
        return f"{self.mean:.4f}{spread}"


def in_words(sizes: dict[str, int]) -> str:
    """The sizes of a backbone."""
    return ", ".join(f"{name} {size}" for name, size in sizes.items())


@dataclass(frozen=True)
class Reached:
    """Runs that differ by their seed alone (of One4One, by the setting they are for)."""

    task: str
    method: str
    dims: int
    map: str  # empty where nothing is mixed
    configurable: str
    sizes: dict[str, int]
    fixed: list[float] | None  # the setting of methods that may be trained for one
    for_search: bool
    seeds: list[int]
    means: list[float]  # by seed
    worst: list[float]
    settings: list[list[float]]
    values: list[list[float]]  # by seed, under each setting
    stored: int
    used: int
    epochs: int
    late_gain: float | None
    seconds: float | None  # of an epoch, the median
    samples: dict[str, int]
    of: dict[str, int]  # samples that there are
    preset: str
    runs: list[str]
    facts: dict[str, list[float]] = field(default_factory=dict)  # by seed


@dataclass(frozen=True)
class Evidence:
    """Everything that was measured for one entry with one budget."""

    entry: str
    budget: str
    rows: list[Reached]

    def find(self, task: str, method: str, dims: int | None = None, **more: Any) -> Reached:
        """The first row of this description; `more` are other fields of it, or sizes.

        Of several presets that is the first of the entry, which is the published one as far as it can be.
        """
        wanted = {"map": LEARNED if methods.get(method).mixes else "", **more}
        for row in self.rows:
            same = (row.task, row.method) == (task, method) and dims in (None, row.dims)
            if same and all(_value(row, name) == value for name, value in wanted.items()):
                return row
        sizes = {name: value for name, value in more.items() if value is not None}
        said = [label(method, dims or 1)] + [f"{name.replace('_', ' ')} {v}" for name, v in sizes.items()]
        raise NotMeasured(f"not measured: {', '.join(said)} of {task}")

    def score(self, task: str, method: str, dims: int | None = None, **more: Any) -> Values:
        return Values(tuple(self.find(task, method, dims, **more).means))

    def fact(self, what: str, task: str, method: str, dims: int | None = None, **more: Any) -> Values:
        row = self.find(task, method, dims, **more)
        if what not in row.facts:
            raise NotMeasured(f"not measured: {what} of {task}")
        return Values(tuple(row.facts[what]))

    def under(
        self, setting: Sequence[float], task: str, method: str, dims: int | None = None, **more: Any
    ) -> Values:
        """The score under one setting."""
        row = self.find(task, method, dims, **more)
        for place, known in enumerate(row.settings):
            if all(math.isclose(a, b, abs_tol=1e-4) for a, b in zip(known, setting, strict=True)):
                return Values(tuple(values[place] for values in row.values))
        raise NotMeasured(f"not measured: {method} of {task} at {', '.join(f'{v:g}' for v in setting)}")

    def beside(self, other: Reached, task: str, method: str, dims: int | None = None) -> Values:
        """How far a method is above another under each of the settings that the other was measured at.

        The scores are means over seeds, of the nearest setting; the values are by setting.
        """
        row = self.find(task, method, dims)
        gaps = []
        for place, setting in enumerate(other.settings):
            near = min(range(len(row.settings)), key=lambda index: math.dist(row.settings[index], setting))
            ours, theirs = ([v[at] for v in one.values] for one, at in ((row, near), (other, place)))
            gaps.append(statistics.fmean(ours) - statistics.fmean(theirs))
        return Values(tuple(gaps))

    def dims(self, task: str, **more: Any) -> list[int]:
        """D of the SCNs with the published map, from small to large."""
        wanted = {"map": LEARNED, **more}
        return sorted(
            {
                row.dims
                for row in self.rows
                if row.task == task and all(_value(row, name) == value for name, value in wanted.items())
            }
        )

    def to_text(self, key: str, version: int) -> str:
        """As JSON, a line for each row so that two can be compared; `key`: what it was measured of."""
        head = json.dumps({"key": key, "version": version, "entry": self.entry, "budget": self.budget})
        rows = ",\n".join(json.dumps(asdict(row)) for row in self.rows)
        return f'{head[:-1]}, "rows": [\n{rows}\n]}}\n'

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Evidence:
        return cls(content["entry"], content["budget"], [Reached(**row) for row in content["rows"]])


def _value(row: Reached, name: str) -> Any:
    return row.sizes.get(name) if name in SIZES else getattr(row, name)


def gather(
    entry: str, budget: str, measures: Sequence[str], planned: Sequence[PlannedRun], models: Path
) -> Evidence:
    """Read what every run reached, and measure what else the entry asks for."""
    several: dict[tuple[Any, ...], list[PlannedRun]] = {}
    for one in planned:
        several.setdefault(_kind(one), []).append(one)
    rows = [_reached(same, measures, models) for same in several.values()]
    return Evidence(entry, budget, rows)


def _kind(one: PlannedRun) -> tuple[Any, ...]:
    """What runs of one row have in common."""
    config = one.job.config
    fixed = None if methods.get(config.method).needs_fixed else config.fixed
    sizes = tuple(sorted(config.backbone.get("arguments", {}).items(), key=str))
    searched = Run(Path(), config).recipe().for_search
    task = (one.part.task, config.preset)
    same = (*task, config.method, config.dims, config.map["name"], tuple(config.configurable))
    return (*same, str(sizes), str(fixed), searched)


def _reached(same: Sequence[PlannedRun], measures: Sequence[str], models: Path) -> Reached:
    loaded = [LoadedRun(Run(models / one.job.name, one.job.config)) for one in same]
    first, config, job = loaded[0], loaded[0].run.config, same[0].job
    kind, outcomes = methods.get(config.method), [one.outcome for one in loaded]
    apart = kind.needs_fixed  # runs for one setting each: one row, whose settings are theirs
    settings = [row for o in outcomes for row in o.settings] if apart else outcomes[0].settings
    values = [[v for o in outcomes for v in o.values]] if apart else [o.values for o in outcomes]
    means = [statistics.fmean(o.mean for o in outcomes)] if apart else [o.mean for o in outcomes]
    worst = [first.score.worst(of_seed) for of_seed in values]
    gains = [o.late_gain for o in outcomes if o.late_gain is not None]
    facts: dict[str, list[float]] = {}
    for one in loaded:
        for name in measures:
            for what, value in FACTS[name](one, job.test).items():
                facts.setdefault(what, []).append(value)
    return Reached(
        task=same[0].part.task,
        method=config.method,
        dims=config.dims,
        map=config.map["name"] if kind.mixes else "",
        configurable=" ".join(config.configurable),
        sizes={name: arguments(first.run)[name] for name in SIZES if name in arguments(first.run)},
        fixed=None if apart else config.fixed,
        for_search=first.run.recipe().for_search,
        seeds=sorted({one.run.config.seed for one in loaded}),
        means=means,
        worst=worst,
        settings=settings,
        values=values,
        stored=outcomes[0].stored,
        used=outcomes[0].used,
        epochs=first.run.recipe().epochs,
        late_gain=statistics.fmean(gains) if gains else None,
        seconds=statistics.median(line["seconds"] for one in loaded for line in one.metrics),
        samples=_used(first, job.test.samples),
        of=dict(config.samples),
        preset=config.preset,
        runs=[one.folder.name for one in loaded],
        facts=facts,
    )


def _used(one: LoadedRun, tested: int) -> dict[str, int]:
    """Samples that were trained and tested on."""
    limits = {"train": one.run.recipe().train_samples, "test": tested}
    return {name: min(limits.get(name) or count, count) for name, count in one.run.config.samples.items()}
