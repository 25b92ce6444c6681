"""What a larger network would reach: the score against the width or depth of the backbone, for each D."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from scn.core.errors import ScnError
from scn.plots.options import FigureOptions
from scn.plots.scale import score_axis
from scn.plots.style import colours, dashes, entitle, label, legend_below, new_figure
from scn.runs.collection import LoadedRun, band, tested_on
from scn.runs.labels import Key, arguments, distinguish, task_title

Points = dict[int, list[float]]  # by size, the mean score of each seed


def draw(loaded: Sequence[LoadedRun], options: FigureOptions) -> Any:
    """The figure `capacity`."""
    varied = sizes(loaded)
    figure = new_figure(2.6)
    row = figure.subplots(1, len(varied), squeeze=False, sharey=True)[0]
    for axes, name in zip(row, varied, strict=True):
        others = {other: _usual(loaded, other, name) for other in varied if other != name}
        _draw_size(axes, _at(loaded, others), name, varied)
        if others:
            axes.set_title(", ".join(f"{other} {value}" for other, value in others.items()))
    row[0].set_ylabel(score_axis(loaded[0].score, "mean test"))
    legend_below(figure, row[0])
    entitle(
        figure, task_title(loaded[0].run, ", ".join(filter(None, (tested_on(loaded), band(loaded, "bars")))))
    )
    return figure


def sizes(loaded: Sequence[LoadedRun]) -> list[str]:
    """The arguments of the backbone that count something and differ between runs."""
    given = [_arguments(one) for one in loaded]
    names = [name for name in given[0] if all(name in own for own in given)]
    varied = [name for name in names if len({own[name] for own in given}) > 1]
    if not varied:
        raise ScnError(
            "the figure capacity needs runs of several sizes, and these have all the same: "
            "`scn compare --width 16 -o DIR`, and again with other widths or depths, makes them"
        )
    return varied


def _arguments(one: LoadedRun) -> dict[str, int]:
    given = arguments(one.run)
    return {name: value for name, value in given.items() if type(value) is int and name != "classes"}


def _usual(loaded: Sequence[LoadedRun], other: str, name: str) -> Any:
    """The value of one size at which another takes the most values."""
    seen = {(_arguments(one)[other], _arguments(one)[name]) for one in loaded}
    return Counter(value for value, _ in sorted(seen, key=str)).most_common(1)[0][0]


def _at(loaded: Sequence[LoadedRun], others: dict[str, Any]) -> list[LoadedRun]:
    return [one for one in loaded if all(_arguments(one)[name] == value for name, value in others.items())]


def _draw_size(axes: Any, loaded: Sequence[LoadedRun], name: str, varied: Sequence[str]) -> None:
    curves: dict[Key, Points] = {}
    said = distinguish([one.run for one in loaded], varied)
    for one, more in zip(loaded, said, strict=True):
        method, dims, _ = one.key
        points = curves.setdefault((method, dims, more), {})
        points.setdefault(_arguments(one)[name], []).append(one.mean)
    shades, dashed = colours(list(curves)), dashes(list(curves))
    for key, points in curves.items():
        places = sorted(points)
        mean = [sum(points[place]) / len(points[place]) for place in places]
        down = [value - min(points[place]) for place, value in zip(places, mean, strict=True)]
        up = [max(points[place]) - value for place, value in zip(places, mean, strict=True)]
        spread = (down, up) if any(len(seeds) > 1 for seeds in points.values()) else None
        drawn = {"color": shades[key], "linestyle": dashed[key], "label": label(*key)}
        axes.errorbar(places, mean, spread, fmt="o", capsize=1.5, **drawn)
    ticks = sorted({place for points in curves.values() for place in points})
    if ticks[-1] >= 8 * ticks[0]:
        axes.set_xscale("log", base=2)
        axes.minorticks_off()
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_xlabel(f"{name} of the backbone")
