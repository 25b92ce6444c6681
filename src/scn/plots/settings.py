"""The score against D, a line for each setting: which of them gain from more base models, and which not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.plots.options import FigureOptions
from scn.plots.scale import draw_chance, score_axis
from scn.plots.style import GREY, colours, entitle, label, new_figure
from scn.runs.collection import LoadedRun, groups, tested_on
from scn.runs.labels import task_title

Column = dict[tuple[float, ...], float]  # by setting, the mean score over seeds


def draw(loaded: Sequence[LoadedRun], options: FigureOptions) -> Any:
    """The figure `settings`."""
    several = groups(loaded)
    columns = {key: column(runs) for key, runs in several.items()}
    shown = list(dict.fromkeys(setting for found in columns.values() for setting in found))
    if not any(len(found) > 1 for found in columns.values()):
        raise ScnError("the figure settings needs runs that were tested under several: `scn evaluate RUN`")
    shades, figure = colours(list(several)), new_figure(2.8)
    axes = figure.add_subplot()
    for setting in shown:
        line = [found.get(setting, math.nan) for found in columns.values()]
        axes.plot(range(len(columns)), line, color=GREY, linewidth=0.4, alpha=0.7, zorder=1)
    for place, (key, found) in enumerate(columns.items()):
        axes.plot([place] * len(found), list(found.values()), ".", color=shades[key], markersize=3)
        mean = sum(one.mean for one in several[key]) / len(several[key])
        axes.plot([place], [mean], "o", color=shades[key], markeredgecolor="white", markersize=5)
    axes.set_xticks(range(len(columns)), [label(*key) for key in columns], rotation=35, ha="right",
                    rotation_mode="anchor")  # fmt: skip
    axes.set_ylabel(score_axis(loaded[0].score))
    axes.grid(visible=False, axis="x")
    draw_chance(axes, [one.table for one in loaded])
    note = f"a line for each of {len(shown)} settings, large dots: mean; {tested_on(loaded)}"
    entitle(figure, task_title(loaded[0].run, note))
    return figure


def column(runs: Sequence[LoadedRun]) -> Column:
    """What runs of one kind reach under each setting that any of them was tested under."""
    found: dict[tuple[float, ...], list[float]] = {}
    for one in runs:
        for setting, value in zip(_rounded(one.table.params), one.values, strict=True):
            found.setdefault(setting, []).append(value)
    return {setting: sum(values) / len(values) for setting, values in found.items()}


def _rounded(params: Tensor) -> list[tuple[float, ...]]:
    """Settings that are equal but for what writing and reading them does."""
    return [tuple(round(value, 4) for value in row) for row in params.to(torch.float64).tolist()]
