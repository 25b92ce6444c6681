"""What every method reaches for what it costs: the score over the work of an answer and over flash.

A mark for each method; those that nothing as cheap equals are joined by a line.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from scn import methods
from scn.export.account import Account, account_of
from scn.plots.options import FigureOptions
from scn.plots.scale import score_axis
from scn.plots.size import MARKERS, best_of_size, draw_spread, for_all_settings, scale_by_size
from scn.plots.style import colours, entitle, label, legend_below, new_figure
from scn.runs.collection import LoadedRun, band, groups, tested_on
from scn.runs.labels import Key, task_title

HOLLOW = "none"


def draw(loaded: Sequence[LoadedRun], options: FigureOptions) -> Any:
    """The figure `cost`."""
    shown = for_all_settings(loaded, "cost")
    found = {key: (account_of(several[0]), several) for key, several in groups(shown).items()}
    panels: dict[str, dict[Key, int | None]] = {
        "multiply-accumulates of an answer": {key: a.operations for key, (a, _) in found.items()},
        "bytes of flash (float32)": {key: a.flash for key, (a, _) in found.items()},
    }
    known = {name: sizes for name, sizes in panels.items() if None not in sizes.values()}
    figure = new_figure(1.2 + 1.6 * len(known) + 0.06 * len(found))
    stacked = figure.subplots(len(known), 1, sharey=True, squeeze=False)[:, 0]
    for axes, (name, sizes) in zip(stacked, known.items(), strict=True):
        _draw_panel(axes, found, sizes)
        axes.set_xlabel(name)
        axes.set_ylabel(score_axis(shown[0].score, "mean test"))
    legend_below(figure, stacked[0], 3)
    counted = [a for a, _ in found.values() if not a.exported]
    note = ", ".join(
        filter(
            None,
            (
                tested_on(shown),
                band(shown, "bars"),
                "hollow: not given alpha",
                "" if not counted else "flash of what C does not express: all weights",
            ),
        )
    )
    entitle(figure, task_title(shown[0].run, note))
    return figure


def _draw_panel(axes: Any, found: dict[Key, tuple[Account, list[LoadedRun]]], sizes: dict[Key, Any]) -> None:
    shades = colours(list(found))
    means = {key: sum(one.mean for one in several) / len(several) for key, (_, several) in found.items()}
    for key, marker in zip(found, itertools.cycle(MARKERS), strict=False):
        _, several = found[key]
        shade, given = shades[key], methods.get(key[0]).knows_setting
        values = [one.mean for one in several]
        face = {"markerfacecolor": shade if given else HOLLOW, "markeredgecolor": shade, "color": shade}
        axes.plot(
            [sizes[key]], [means[key]], marker, label=label(*key), markersize=4, markeredgewidth=0.8, **face
        )
        draw_spread(axes, sizes[key], min(values), means[key], max(values), shade)
    compared = [key for key in found if not methods.get(key[0]).undoes]
    score = next(iter(found.values()))[1][0].score
    best = best_of_size([sizes[key] for key in compared], [means[key] for key in compared], score)
    joined = sorted((sizes[key], means[key]) for key, is_best in zip(compared, best, strict=True) if is_best)
    if len(joined) > 1:
        axes.plot(*zip(*joined, strict=True), color="black", linewidth=0.6, zorder=0, label="best possible")
    axes.margins(y=0.12)
    scale_by_size(axes, list(sizes.values()))
