"""How long it takes: seconds of an epoch as they were measured, times epochs, times models.

seconds.json beside this file was made by `python benchmarks/epochs.py`: for every task and size the seconds
of an epoch with one base model and with many, with our recipe and with the published one; between them a line
is drawn. How fast this machine is beside that one is measured anew, on one of these. Methods that are no SCN
count as one of one base model, times what they do more often.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch

from scn import runs
from scn.core.maps import LEARNED
from scn.experiment.choice import Choice, choose
from scn.experiment.tasks import DEMO
from scn.experiment.train import training_data
from scn.reproduce import published
from scn.reproduce.entries import ENTRIES
from scn.reproduce.parts import DATA_CALIBRATOR, FULL, SAFN, SCN, SMOKE, TI_POOLING, PaperEntry
from scn.reproduce.plan import Wanted, wanted
from scn.runs import backbone_of
from scn.training.loop import Training
from scn.training.state import State

STEPS = 12  # of a training that are timed, after the first few
WARM = 1
MOST_SECONDS = 8.0
LARGE, SMALL = 256, 32  # batches
PASSES = {SAFN: 2, DATA_CALIBRATOR: 4}  # of a network for a sample, about


@dataclass(frozen=True)
class Effort:
    """What some models take: seconds on one core, of all of them and of the longest; None where unknown."""

    models: int
    seconds: float | None
    longest: float | None = None


class _Enough(Exception):
    """So many steps tell how long one takes."""


def seconds_of_epoch(chosen: Choice, dims: int) -> float:
    """Measured now, on one core: a few steps of a training, times the steps of an epoch.

    Batches of more than 256 are timed by some of 32: such networks are large, and it is samples that cost.
    """
    with tempfile.TemporaryDirectory() as folder:
        config = chosen.config(SCN, dims=dims)
        if chosen.recipe.batch_size > LARGE:
            config = replace(config, recipe={**config.recipe, "batch_size": SMALL})
        run = runs.create(Path(folder) / "run", config)
        recipe, data = run.recipe(), training_data(run)
        without = replace(data, validation_samples=data.samples[:0], validation_labels=data.labels[:0])
        training = Training(run.method(), recipe, without, run.normalisation(), 0, prefetch=False)
        state = training.start(backbone_of(run), torch.device("cpu"))
        ends: list[float] = []
        with contextlib.suppress(_Enough):
            for _ in training.run(state, partial(_note, ends)):
                pass
    taken = [later - before for before, later in itertools.pairwise(ends[WARM - 1 :])]
    return statistics.median(taken) * len(data.samples) / recipe.batch_size


def _note(ends: list[float], state: State) -> None:
    ends.append(time.process_time())  # of this process alone: machines are shared
    if len(ends) > WARM + 1 and (len(ends) >= WARM + STEPS or ends[-1] - ends[0] > MOST_SECONDS):
        raise _Enough


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
    slope = max(last - first, 0.0) / max(high - low, 1)
    often = {TI_POOLING: one.chosen.recipe.branches, **PASSES}.get(one.method, 1)
    return float(often * (first + slope * (one.dims - low)))


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


def cost(several: Iterable[PaperEntry], budget: str, seeds: int | None = None, whole: bool = False) -> Effort:
    """Of entries together: what they share is counted once."""
    asked = (one for entry in several for one in wanted(entry, budget, seeds))
    found = {one.key: one for one in sorted(asked, key=lambda one: len(one.seeds))}  # with the most seeds
    models = sum(len(one.seeds) for one in found.values())
    taken = [(len(one.seeds), seconds_of(one, budget, whole)) for one in found.values()]
    known = [(count, seconds) for count, seconds in taken if seconds is not None]
    if len(known) < len(taken):
        return Effort(models, None)
    return Effort(models, sum(count * s for count, s in known), max((s for _, s in known), default=0.0))


def smoke_seconds(several: Iterable[PaperEntry]) -> float:
    """Of the smallest budget, where starting and drawing take the most: a share of what all took."""
    whole = table()[SMOKE]
    return float(whole["seconds"]) * cost(several, SMOKE).models / int(whole["models"])


def reference() -> float:
    """Seconds of an epoch that every machine can measure: its data are part of scn."""
    return seconds_of_epoch(choose(task=DEMO.name, budget="cpu", map=LEARNED), 3)


def speed() -> float:
    """How many times as long as on the machine of the table an epoch takes here, measured now."""
    return reference() / float(table()["reference"])


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
        f"the published recipe, {ours.models} models: {words(here)} of one core with the samples that are "
        f"here, {words(official)} with as many as were published",
        f"a thousand such models (the paper trained more than that): {words(of_thousand)} of one core, "
        f"{words(max(of_thousand / 100, longest))} on 100 of them (the longest run takes {words(longest)})",
        "on a GPU: not measured, because there was none; no figure is given",
    ]
