"""The figures of an entry, each beside the numbers it shows."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from scn.core.storage import write_atomically
from scn.plots import figures
from scn.plots.beta import betas
from scn.plots.options import FigureOptions
from scn.plots.style import label
from scn.reproduce.parts import PaperEntry
from scn.reproduce.plan import PlannedRun
from scn.runs.collection import LoadedRun, load
from scn.runs.scores import suffixes

Table = Iterator[list[Any]]

STEPS = {1: 180, 2: 21, 3: 9}  # of each parameter, where beta is written down


def draw(entry: PaperEntry, planned: Sequence[PlannedRun], models: Path, folder: Path) -> list[Path]:
    """Every figure of an entry for each of its tasks and presets, as a picture and as a table."""
    several: dict[tuple[str, str], list[Path]] = {}
    for one in planned:
        several.setdefault((one.part.task, one.job.config.preset), []).append(models / one.job.name)
    written = []
    for end, runs in zip(_ends(list(several)), several.values(), strict=True):
        loaded = load(runs, command="scn reproduce")
        for name in entry.figures:
            path = folder / f"{name}{end}.png"
            figures.write(figures.make(name, loaded, FigureOptions()), path)
            written.append(path)
            if name in NUMBERS:
                write_csv(path.with_suffix(".csv"), NUMBERS[name](loaded))
    _close()
    return written


def _ends(several: Sequence[tuple[str, str]]) -> Iterator[str]:
    """What tells the files of each task and preset from the others; nothing for what is alone or first."""
    tasks = list(dict.fromkeys(task for task, _ in several))
    first = dict(reversed(several))
    for task, preset in several:
        of_task = "-" + task.replace("/", "-") if len(tasks) > 1 else ""
        yield of_task + ("" if first[task] == preset else f"-{preset}")


def _close() -> None:
    import matplotlib.pyplot as plt

    plt.close("all")


def write_csv(path: Path, rows: Table) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_atomically(path, text.getvalue().encode())


def _head(loaded: Sequence[LoadedRun], *more: str) -> list[Any]:
    return ["network", "seed", *(p.name for p in loaded[0].transform.parameters), *more]


def scores(loaded: Sequence[LoadedRun]) -> Table:
    """Every run under every setting."""
    yield _head(loaded, loaded[0].score.key)
    for one in loaded:
        for setting, value in zip(one.settings, one.values, strict=True):
            yield [label(*one.key), one.run.config.seed, *setting, value]


def frozen(loaded: Sequence[LoadedRun]) -> Table:
    """Networks that stay as they are, under every setting."""
    yield _head(loaded, loaded[0].score.key)
    for one in loaded:
        for suffix in suffixes(one.folder, "-fixed-"):
            table = one.stored(suffix)
            for setting, value in zip(table.params.tolist(), table.values.tolist(), strict=True):
                yield [label(*one.key), one.run.config.seed, *setting, value]


def mixing(loaded: Sequence[LoadedRun]) -> Table:
    """The mixing coefficients over a grid: a row for each base model."""
    yield _head(loaded, "base model", "beta")
    for one in (one for one in loaded if one.mixes and one.run.config.seed == 0):
        count = len(one.transform.parameters)
        settings = one.transform.grid(STEPS.get(count, 3))
        beta = betas(one, settings)
        for setting, row in zip(settings.tolist(), beta.tolist(), strict=True):
            for base, value in enumerate(row, start=1):
                yield [label(*one.key), 0, *setting, base, f"{value:.6g}"]


def means(loaded: Sequence[LoadedRun]) -> Table:
    """Every run as its mean over settings."""
    yield ["network", "seed", loaded[0].score.key]
    for one in loaded:
        yield [label(*one.key), one.run.config.seed, one.mean]


NUMBERS: dict[str, Callable[[Sequence[LoadedRun]], Table]] = {
    "accuracy": scores,
    "violin": scores,
    "settings": scores,
    "specialisation": frozen,
    "beta": mixing,
    "capacity": means,
    "device": means,
}
