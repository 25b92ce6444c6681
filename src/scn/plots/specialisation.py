"""How special a configured network is: one that stays as it is, on inputs under all settings.

The larger D, the narrower the range in which it is good, and the better it is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from scn.plots.options import FigureOptions
from scn.plots.scores import angle, draw_tables
from scn.plots.style import in_words
from scn.runs.collection import LoadedRun, band, groups, scns
from scn.runs.evaluation import evaluate_run
from scn.runs.labels import task_title
from scn.runs.scores import Scores, table_file

MOST_SETTINGS = 250
STEPS = {1: 72, 2: 9, 3: 4}  # values of each parameter, where a run was tested under more settings


def draw(loaded: Sequence[LoadedRun], options: FigureOptions) -> Any:
    """The figure `specialisation`."""
    scns(loaded, "specialisation")
    mixing, transform = [one for one in loaded if one.mixes], loaded[0].transform
    fixed = transform.neutral() if options.fixed is None else options.fixed
    tables = {
        key: [frozen_table(one, fixed, options) for one in several] for key, several in groups(mixing).items()
    }
    counts = sorted({int(table.facts["samples"]) for several in tables.values() for table in several})
    samples = " to ".join(f"{count:,}" for count in (counts[0], counts[-1])[: len(counts)])
    once = f"configured once, for {in_words(transform, fixed.tolist())}; {samples} test samples"
    note = ", ".join(filter(None, (once, band(mixing))))
    figure = draw_tables(tables, transform, task_title(loaded[0].run, note))
    _mark(figure, fixed, transform)
    return figure


def frozen_table(one: LoadedRun, fixed: Tensor, options: FigureOptions) -> Scores:
    """What `scn evaluate --fixed` wrote, or else measured now on some of the test samples."""
    suffix = "-fixed-" + "_".join(f"{value:g}" for value in fixed.tolist())
    if table_file(one.folder, suffix).is_file():
        return one.stored(suffix)
    settings = _settings(one)
    found = evaluate_run(
        one.run, one.network, settings, fixed=fixed, samples=options.samples, progress=options.progress
    )
    return found.with_enough()


def _settings(one: LoadedRun) -> Tensor:
    """Those of the test, if they are not too many."""
    regular = one.transform.regular()
    if len(regular) <= MOST_SETTINGS:
        return regular
    return one.transform.grid(STEPS.get(len(one.transform.parameters), 3))


def _mark(figure: Any, fixed: Tensor, transform: Any) -> None:
    """Where the network was configured for: a line, or a cross on a map."""
    if len(transform.parameters) == 2:
        for axes in figure.axes:
            if axes.get_title():
                axes.plot(*fixed.tolist(), "x", color="white", markeredgewidth=1.2, markersize=5)
        return
    for axes, value, parameter in zip(figure.axes, fixed.tolist(), transform.parameters, strict=False):
        place = angle(fixed.new_tensor(value), parameter).item()
        axes.axvline(place, color="black", linewidth=0.8, linestyle=":")
