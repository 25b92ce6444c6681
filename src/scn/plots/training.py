"""How a training went: loss, validation score and, of SCNs, the base models in use, over epochs.

Methods add terms of their own to the loss, so that only the part which the objective asks for is comparable
between them: that is what curves of several methods show. Of one method alone all parts are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from scn.plots.options import FigureOptions
from scn.plots.scale import score_axis, wrapped
from scn.plots.style import BASES, colours, dashes, entitle, label, legend_below, new_figure
from scn.runs.collection import LoadedRun, band, groups
from scn.runs.labels import Key, task_title

WHOLE = "loss"
COUNTED = {"active_bases": "active bases", "effective_bases": "effective bases"}


def metric_names(one: LoadedRun) -> dict[str, str]:
    """What is compared over epochs, by its name in metrics.jsonl, with its label."""
    part = own_part(one)
    said = "training loss" if part == WHOLE else f"training loss: {part}"
    return {part: said, validation_metric(one): score_axis(one.score, "validation"), **COUNTED}


def own_part(one: LoadedRun) -> str:
    """The part of the loss that every method of a task has."""
    part = one.run.objective().part
    return part if one.epochs and part in one.epochs[0] else WHOLE


def validation_metric(one: LoadedRun) -> str:
    return f"validation_{one.score.key}"


def draw(loaded: Sequence[LoadedRun], options: FigureOptions) -> Any:
    """The figure `training`."""
    several = groups(loaded)
    labels = metric_names(loaded[0])
    if len(several) == 1:
        labels = {WHOLE: "training loss"} | dict(list(labels.items())[1:])
    known = [
        name for name in labels if any(line.get(name) is not None for one in loaded for line in one.metrics)
    ]
    figure = new_figure(0.9 + 1.15 * len(known))
    stacked = figure.subplots(len(known), 1, sharex=True, squeeze=False)[:, 0]
    for axes, name in zip(stacked, known, strict=True):
        _draw_metric(axes, name, several)
        axes.set_ylabel(wrapped(labels[name]))
    if len(several) == 1:
        _draw_parts(stacked[0], next(iter(several.values())))
    _count_in_whole_numbers(stacked, known)
    stacked[-1].set_xlabel("epoch")
    legend_below(figure, stacked[0], 4 if len(several) > 1 else 3)
    entitle(figure, task_title(loaded[0].run, band(loaded)))
    return figure


def _draw_metric(axes: Any, name: str, several: dict[Key, list[LoadedRun]]) -> None:
    shades, dashed = colours(list(several)), dashes(list(several))
    for key, runs in several.items():
        values = over_epochs(runs, name)
        if values is None:
            continue
        epochs = range(1, values.shape[1] + 1)
        if len(runs) > 1:
            axes.fill_between(
                epochs, values.amin(0), values.amax(0), color=shades[key], alpha=0.2, linewidth=0
            )
        marker = "o" if values.shape[1] == 1 else None
        drawn = {"color": shades[key], "linestyle": dashed[key], "marker": marker}
        axes.plot(epochs, values.mean(0), label=label(*key), **drawn)


def over_epochs(runs: Sequence[LoadedRun], name: str) -> Tensor | None:
    """(seeds, epochs) of one metric, as far as all seeds have come; None where it was not noted."""
    rows = [[line.get(name) for line in one.metrics] for one in runs]
    if any(value is None for row in rows for value in row):
        return None
    shortest = min(map(len, rows))
    return torch.tensor([row[:shortest] for row in rows], dtype=torch.float64)


def _draw_parts(axes: Any, runs: Sequence[LoadedRun]) -> None:
    """The parts of the loss of the only kind of run, where it has more than one."""
    names = list(runs[0].metrics[0])
    parts = names[names.index(WHOLE) + 1 : names.index(validation_metric(runs[0]))]
    if len(parts) < 2:
        return
    for part, colour in zip(parts, BASES[1:], strict=False):
        values = over_epochs(runs, part)
        if values is not None:
            epochs = range(1, values.shape[1] + 1)
            axes.plot(epochs, values.mean(0), "--", color=colour, label=f"{part.replace('_', ' ')} (part)")
    axes.lines[0].set_label(f"{axes.lines[0].get_label()}: whole loss")


def _count_in_whole_numbers(stacked: Sequence[Any], known: Sequence[str]) -> None:
    """Epochs and bases are counted: no ticks between whole numbers; bases from 0 on."""
    from matplotlib.ticker import MaxNLocator

    stacked[-1].xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]))
    for name in COUNTED.keys() & set(known):
        axes = stacked[list(known).index(name)]
        axes.yaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
        axes.set_ylim(0, axes.get_ylim()[1] * 1.05)
