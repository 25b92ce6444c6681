"""The picture of a comparison: the score over the parameter, and its distribution for each method."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from scn.objectives import Score
from scn.plots.files import write_figure
from scn.plots.scores import draw_curves
from scn.plots.style import colours, column_style, entitle, label, legend_below, new_figure
from scn.plots.violin import Spread, draw_violins
from scn.runs.labels import Key
from scn.runs.outcome import Outcome
from scn.runs.scores import Scores
from scn.transforms import Transform


def draw_comparison(
    outcomes: Sequence[Outcome], transform: Transform, score: Score, title: str, path: Path
) -> None:
    """Write the picture of what every run reached."""
    tables: dict[Key, list[Scores]] = {}
    for one in outcomes:
        settings, values = (torch.tensor(part).double() for part in (one.settings, one.values))
        table = Scores(settings, values, score, facts={"mean": one.mean})
        tables.setdefault((one.method, one.dims, one.more), []).append(table)
    shades = colours(list(tables))
    spreads = [
        Spread(
            label(*key),
            shades[key],
            torch.cat([table.values for table in several]).tolist(),
            sum(table.mean for table in several) / len(several),
        )
        for key, several in tables.items()
    ]
    single = len(transform.parameters) == 1
    with column_style():
        figure = new_figure(3.2, 7.0 if single else 4.2)
        if single:
            kind = "polar" if transform.parameters[0].periodic else None
            left = figure.add_subplot(1, 2, 1, projection=kind)
            draw_curves(left, tables, transform)
            legend_below(figure, left, most=8)
        draw_violins(figure.add_subplot(1, 1 + single, 1 + single), spreads, score)
        entitle(figure, title)
        write_figure(figure, path, 180)
