"""What a network of a size reaches: the score over stored bytes, bytes of theta, and work of a prediction.

A mark for each kind of run. Networks that differ in D alone, or in the width or depth of the backbone, are
joined. Those that nothing as small equals have a ring, among all that need no more than what is counted.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scn import methods
from scn.core.errors import ScnError
from scn.objectives import Score
from scn.plots.options import FigureOptions
from scn.plots.scale import score_axis
from scn.plots.style import colours, dashes, entitle, label, legend_below, new_figure
from scn.runs.collection import LoadedRun, band, groups, tested_on
from scn.runs.cost import Cost, cost_of
from scn.runs.labels import Key, arguments, distinguish, task_title

SIZES = ("width", "depth")  # of a backbone
BEST = "best of its size"
MOST_TICKS = 7
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


@dataclass(frozen=True)
class Mark:
    """Runs that differ by their seed alone."""

    kind: Key  # without what is a size
    said: str  # of a mark, beside it: D, or the size of the backbone
    cost: Cost
    low: float
    mean: float
    high: float

    @property
    def line(self) -> Key:
        """Those that differ in D alone are on one."""
        method, _, more = self.kind
        return method, 0, more

    @property
    def compared(self) -> bool:
        """Whether all it needs is counted: undoing a change, for one, is work that no network does."""
        return not methods.get(self.kind[0]).undoes


def draw(loaded: Sequence[LoadedRun], options: FigureOptions) -> Any:
    """The figure `size`."""
    shown = for_all_settings(loaded, "size")
    found = marks(shown)
    panels: dict[str, list[Any]] = {
        "stored bytes (float32)": [mark.cost.stored_bytes for mark in found],
        "bytes of θ in RAM (float32)": [mark.cost.theta_bytes for mark in found],
        "multiply-accumulates of a prediction": [mark.cost.operations for mark in found],
    }
    known = {name: sizes for name, sizes in panels.items() if None not in sizes}
    figure = new_figure(0.9 + 1.45 * len(known))
    stacked = figure.subplots(len(known), 1, sharey=True, squeeze=False)[:, 0]
    for axes, (name, sizes) in zip(stacked, known.items(), strict=True):
        _draw_panel(axes, found, sizes, shown[0].score)
        axes.set_xlabel(name)
        axes.set_ylabel(score_axis(shown[0].score, "mean test"))
    legend_below(figure, stacked[0], 3)
    note = ", ".join(filter(None, (tested_on(shown), band(shown, "bars"), _numbers(found))))
    entitle(figure, task_title(shown[0].run, note))
    return figure


def for_all_settings(loaded: Sequence[LoadedRun], figure: str) -> list[LoadedRun]:
    """Without networks that are for one setting each."""
    shown = [one for one in loaded if not methods.get(one.run.config.method).needs_fixed]
    if not shown:
        raise ScnError(
            f"the figure {figure} compares networks for all settings, and these are for one each: "
            "`scn compare --methods scn,one4all -o DIR` makes some"
        )
    return shown


def marks(shown: Sequence[LoadedRun]) -> list[Mark]:
    """One for each kind of run, in the order of the runs."""
    more = dict(zip(shown, distinguish([one.run for one in shown], SIZES), strict=True))
    varied = [name for name in SIZES if len({_sizes(one).get(name) for one in shown}) > 1]
    found = []
    for several in groups(shown).values():
        first, means = several[0], [one.mean for one in several]
        method, dims, _ = first.key
        kind = (method, dims, more[first])
        sizes = [str(size) for name, size in _sizes(first).items() if name in varied]
        said = f"{dims}" if first.mixes else " x ".join(sizes)
        found.append(Mark(kind, said, cost_of(first), min(means), sum(means) / len(means), max(means)))
    return found


def _sizes(one: LoadedRun) -> dict[str, int]:
    given = arguments(one.run)
    return {name: given[name] for name in SIZES if type(given.get(name)) is int}


def best_of_size(sizes: Sequence[int], values: Sequence[float], score: Score) -> list[bool]:
    """Which of these nothing equals that is as small."""

    def beaten(place: int) -> bool:
        size, value = sizes[place], values[place]
        for other_size, other in zip(sizes, values, strict=True):
            as_good = other == value or score.better(other, value)
            if other_size <= size and as_good and (other_size, other) != (size, value):
                return True
        return False

    return [not beaten(place) for place in range(len(sizes))]


def _draw_panel(axes: Any, found: Sequence[Mark], sizes: Sequence[int], score: Score) -> None:
    """A line for each kind, a mark for each network on it."""
    lines = list(dict.fromkeys(mark.line for mark in found))
    shades, dashed = colours(lines), dashes(lines)
    for line, marker in zip(lines, itertools.cycle(MARKERS), strict=False):
        places = [i for i, mark in enumerate(found) if mark.line == line]
        places.sort(key=lambda i: (sizes[i], found[i].cost.stored))
        x, y = [sizes[i] for i in places], [found[i].mean for i in places]
        drawn = {"color": shades[line], "marker": marker, "markersize": 3.5}
        axes.plot(x, y, label=_named(line), linestyle=dashed[line], linewidth=0.7, **drawn)
        for i in places:
            _draw_mark(axes, sizes[i], found[i], shades[line])
    compared = [i for i, mark in enumerate(found) if mark.compared]
    values = [found[i].mean for i in compared]
    ringed = best_of_size([sizes[i] for i in compared], values, score)
    best = [(sizes[i], found[i].mean) for i, is_best in zip(compared, ringed, strict=True) if is_best]
    if best:
        ring = {"color": "black", "markerfacecolor": "none", "markersize": 7, "markeredgewidth": 0.7}
        axes.plot(*zip(*sorted(best), strict=True), "o", label=BEST, **ring)
    axes.margins(y=0.12)
    scale_by_size(axes, sizes)


def _draw_mark(axes: Any, size: int, mark: Mark, shade: str) -> None:
    """The spread over seeds, and which network it is."""
    draw_spread(axes, size, mark.low, mark.mean, mark.high, shade)
    place = {"textcoords": "offset points", "fontsize": 4.5, "color": shade}
    axes.annotate(mark.said, (size, mark.mean), (3.5, 2), **place)


def draw_spread(axes: Any, size: int, low: float, mean: float, high: float, shade: str) -> None:
    """From the lowest seed to the highest."""
    if high > low:
        axes.errorbar([size], [mean], ([mean - low], [high - mean]), fmt="none", color=shade, capsize=1.5)


def _named(kind: Key) -> str:
    """Of networks that differ in D: what they have in common."""
    method, _, more = kind
    name = label(method, 0).replace(" D=0", "")
    return f"{name}, {more}" if more else name


def _numbers(found: Sequence[Mark]) -> str:
    """What the numbers beside the marks are."""
    mixed = [methods.get(mark.kind[0]).mixes for mark in found]
    sized = any(mark.said for mark, mixes in zip(found, mixed, strict=True) if not mixes)
    said = (["D of SCNs"] if any(mixed) else []) + (["size of others"] if sized else [])
    return f"numbers: {', '.join(said)}" if said else ""


def scale_by_size(axes: Any, sizes: Sequence[int]) -> None:
    """By logarithm, with a place for nothing at all; 1, 2 and 5 of each power are marked, or the powers."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    known = [size for size in sizes if size > 0]
    if not known:
        axes.set_xticks([0])
        return
    low, high = min(known), max(known)
    if 0 in sizes:
        axes.set_xscale("symlog", linthresh=low / 2, linscale=0.3)
        axes.set_xlim(-low / 8, 1.6 * high)
    else:
        axes.set_xscale("log")
        axes.set_xlim(low / 1.4, 1.6 * high)
    every = [digit * 10**power for power in range(13) for digit in (1, 2, 5)]
    near = [size for size in every if low / 1.4 <= size <= 1.6 * high]
    ticks = near if len(near) <= MOST_TICKS else [size for size in near if str(size)[0] == "1"]
    if len(set(known)) == 1:  # which may be far from any round number
        ticks = [low]
    axes.xaxis.set_major_locator(FixedLocator([0, *ticks] if 0 in sizes else ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: _brief(size)))


def _brief(size: float) -> str:
    for much, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= much:
            return f"{size / much:.4g}{unit}"
    return f"{size:g}"
