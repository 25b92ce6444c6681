"""How the score is distributed over all settings: against D, beside the baselines.

Where an SCN was also evaluated without knowing the setting (I-SCN), that stands beside it, by batch size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from scn.objectives import Score
from scn.plots.options import FigureOptions
from scn.plots.scale import brief, draw_chance, score_axis
from scn.plots.style import colours, entitle, label, new_figure
from scn.runs.collection import LoadedRun, groups, tested_on
from scn.runs.labels import task_title
from scn.runs.scores import suffixes

INVARIANT = "-invariant-"
SEARCHED = re.compile(INVARIANT + r"(?P<way>.+)-(?P<size>\d+)")

FEW = 10  # values that are shown as they are: a density of so few would be made up
MOST_ACROSS = 12  # violins whose numbers have room beside each other


@dataclass(frozen=True)
class Spread:
    """One violin: the scores under all settings, and their mean."""

    name: str
    colour: str
    values: list[float]
    mean: float
    searched: bool = False


def draw(loaded: Sequence[LoadedRun], options: FigureOptions) -> Any:
    """The figure `violin`."""
    found = []
    shades = colours(list(groups(loaded)))
    for key, several in groups(loaded).items():
        values = torch.cat([one.table.values for one in several]).tolist()
        mean = sum(one.mean for one in several) / len(several)
        found.append(Spread(label(*key), shades[key], values, mean))
        found += searched(several, shades[key])
    figure = new_figure(2.6)
    axes = figure.add_subplot()
    draw_violins(axes, found, loaded[0].score)
    draw_chance(axes, [one.table for one in loaded])
    over = "test samples" if loaded[0].transform.measured else "settings"
    entitle(figure, task_title(loaded[0].run, f"{tested_on(loaded)}; dot and number: mean over all {over}"))
    return figure


def searched(several: Sequence[LoadedRun], colour: str) -> list[Spread]:
    """What these runs reached when they had to search, smallest batch first: whole tables, or means alone."""
    values: dict[tuple[int, str], list[float]] = {}
    means: dict[tuple[int, str], list[float]] = {}
    for one in several:
        for suffix in suffixes(one.folder, INVARIANT):
            found = SEARCHED.fullmatch(suffix)
            if found:
                table = one.stored(suffix)
                kind = int(found["size"]), found["way"]
                values.setdefault(kind, []).extend(table.values.tolist())
                means.setdefault(kind, []).append(table.mean)
    for one in several:
        for path in one.run.search_files():
            content = json.loads(path.read_text())
            for row in content.get("rows", []):
                kind = row["batch_size"], content["method"]
                if kind not in values:
                    means.setdefault(kind, []).append(row[one.score.key])
    ways = {way for _, way in means}
    _, dims, more = several[0].key
    said = f"I-SCN D={dims}" + (f", {more}" if more else "")
    return [
        Spread(
            f"{said}, batch {size}" + (f", {way}" if len(ways) > 1 else ""),
            colour,
            values.get((size, way), means[size, way]),
            sum(means[size, way]) / len(means[size, way]),
            searched=True,
        )
        for size, way in sorted(means)
    ]


def draw_violins(axes: Any, spreads: Sequence[Spread], score: Score) -> None:
    """A violin for each, or its values where they are few, with the mean as a dot and in numbers."""
    crowded = len(spreads) > MOST_ACROSS
    for place, one in enumerate(spreads):
        if 1 < len(one.values) < FEW:
            axes.plot([place] * len(one.values), one.values, "_", color=one.colour, markersize=8)
        elif len(set(one.values)) > 1:
            parts = axes.violinplot(one.values, [place], widths=0.8, showextrema=False)
            for body in parts["bodies"]:
                body.set(facecolor=one.colour, alpha=0.25 if one.searched else 0.6)
                body.set_label(one.name)
        axes.plot(
            [place],
            [one.mean],
            "D" if one.searched else "o",
            color=one.colour,
            markeredgecolor="white",
            markersize=4,
        )
        axes.annotate(
            brief(score, one.mean), (place, max(one.values)), (0, 3), textcoords="offset points", ha="center",
            fontsize=6 if len(spreads) < 8 else 5, rotation=90 if crowded else 0,
        )  # fmt: skip
    axes.set_xticks(range(len(spreads)), [one.name for one in spreads], rotation=35, ha="right",
                    rotation_mode="anchor")  # fmt: skip
    axes.set_xlim(-0.6, len(spreads) - 0.4)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + (0.15 if crowded else 0.06) * (high - low))  # room for the numbers
    axes.grid(visible=False, axis="x")
    axes.set_ylabel(score_axis(score))
