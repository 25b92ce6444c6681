"""How long it takes: seconds of an epoch as they were measured, times epochs, times models.

seconds.json beside this file was made by `python benchmarks/epochs.py`: for every task and size the seconds of
an epoch with few base models and with many, with our recipe and with the published one; between them a line
is drawn. How fast this machine is beside that one is measured anew, on one of these.
"""

from __future__ import annotations

import functools
import json
import statistics
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch

from scn import runs
from scn.experiment.choice import Choice
from scn.experiment.train import training_data
from scn.reproduce import published
from scn.reproduce.entries import ENTRIES, FULL, ROTATION, SCN, SMOKE, PaperEntry
from scn.reproduce.plan import Wanted, wanted
from scn.runs import backbone_of
from scn.training.loop import Training

STEPS = 12  # of a training that are timed, after the first few
WARM = 3


@dataclass(frozen=True)
class Cost:
    """What some models take: seconds on one core, of all of them and of the longest; None where unknown."""

    models: int
    seconds: float | None
    longest: float | None = None


def seconds_of_epoch(chosen: Choice, dims: int) -> float:
    """Measured now, on one core: a few steps of a training, times the steps of an epoch."""
    with tempfile.TemporaryDirectory() as folder:
        run = runs.create(Path(folder) / "run", chosen.config(SCN, dims=dims))
        whole = training_data(run)
        recipe, count = run.recipe(), (STEPS + WARM) * run.recipe().batch_size
        readings = None if whole.measured is None else whole.measured[:count]
        part = replace(
            whole,
            samples=whole.samples[:count],
            labels=whole.labels[:count],
            measured=readings,
            validation_samples=whole.samples[:0],
            validation_labels=whole.labels[:0],
        )
        training = Training(run.method(), replace(recipe, epochs=1), part, run.normalisation(), 0, prefetch=False)
        state = training.start(backbone_of(run), torch.device("cpu"))
        began: list[float] = []
        for _ in training.run(state, lambda _: began.append(time.perf_counter())):
            pass
    steps = [b - a for a, b in zip(began[WARM:], began[WARM + 1 :], strict=False)] or [began[-1] - began[0]]
    return statistics.median(steps) * len(whole.samples) / recipe.batch_size


@functools.cache
def table() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files("scn.reproduce") / "seconds.json").read_text())
    return found


def key_of(task: str, width: int | None, depth: int | None, budget: str) -> str:
    sizes = "".join(f" {name} {size}" for name, size in (("width", width), ("depth", depth)) if size)
    return f"{task}{sizes}, {budget}"


def _epoch(one: Wanted, budget: str) -> float | None:
    """Seconds of an epoch of a run on the machine of the table; no D counts as one base model."""
    points = table()["epochs"].get(key_of(one.part.task, one.part.width, one.part.depth, budget))
    if points is None:
        return None
    (low, first), (high, last) = ((int(d), s) for d, s in points.items())
    slope = (last - first) / max(high - low, 1)
    return max(first + slope * (one.dims - low), 0.2 * first)


def seconds_of(one: Wanted, budget: str, whole: bool = False) -> float | None:
    """Of one run to its end; `whole`: with as many samples as were published."""
    epoch = _epoch(one, budget)
    if epoch is None:
        return None
    scale = 1.0
    if whole:
        data = one.part.task.rpartition("/")[2]
        there, official = table()["samples"].get(data), published.samples().get(data)
        scale = official[0] / there if there and official else 1.0
    return epoch * one.chosen.recipe.epochs * scale


def cost(several: Iterable[PaperEntry], budget: str, seeds: int | None = None, whole: bool = False) -> Cost:
    """Of entries together: what they share is counted once."""
    found = {one.key: one for entry in several for one in wanted(entry, budget, seeds)}
    models = sum(len(one.seeds) for one in found.values())
    taken = [(len(one.seeds), seconds_of(one, budget, whole)) for one in found.values()]
    known = [(count, seconds) for count, seconds in taken if seconds is not None]
    if len(known) < len(taken):
        return Cost(models, None)
    return Cost(models, sum(count * s for count, s in known), max((s for _, s in known), default=0.0))


def smoke_seconds(entry: str) -> float | None:
    """What an entry took with the smallest budget, start and figures included, when the table was made."""
    found = table().get(SMOKE, {}).get(entry)
    return None if found is None else float(found)


def speed() -> float:
    """How many times as long as on the machine of the table an epoch takes here, measured now."""
    reference = next(
        one for one in wanted(ENTRIES["rotation"], "cpu") if one.part.task == ROTATION and one.dims == 3
    )
    known = _epoch(reference, "cpu")
    return seconds_of_epoch(reference.chosen, 3) / known if known else 1.0


def words(seconds: float | None) -> str:
    """A length of time, as exact as it is known."""
    if seconds is None:
        return "?"
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            value = seconds / size
            return f"{value:.0f} {unit}" if value >= 10 else f"{value:.1f} {unit}"
    return f"{max(seconds, 1):.0f} s"


def on_paper(seeds: int | None = None, scale: float = 1.0) -> list[str]:
    """What the published recipe costs, from measurements: here, on 100 cores, on a GPU."""
    entries: Sequence[PaperEntry] = list(ENTRIES.values())
    ours, whole = cost(entries, FULL, seeds), cost(entries, FULL, seeds, whole=True)
    if ours.seconds is None or whole.seconds is None or whole.longest is None:
        return ["what the published recipe costs is not known: `python benchmarks/epochs.py` measures it"]
    here, official, longest = (scale * s for s in (ours.seconds, whole.seconds, whole.longest))
    of_thousand = official * 1000 / whole.models
    return [
        f"the published recipe, {ours.models} models: {words(here)} of one core with the samples that are here, "
        f"{words(official)} with as many as were published",
        f"a thousand models of this kind (the paper trained more than that): {words(of_thousand)} of one core, "
        f"{words(max(of_thousand / 100, longest))} on 100 such cores (the longest single run takes {words(longest)})",
        "on a GPU: not measured, because there was none; no figure is given",
    ]
