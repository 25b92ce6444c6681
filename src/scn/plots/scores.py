"""The score over the parameters of a transform, for every D and every baseline.

One angle goes around a circle, one other parameter along a line, two span a heat map for each method. With
three or more there is a panel for each, with the mean over the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.objectives import Score
from scn.plots.options import FigureOptions
from scn.plots.scale import brief, draw_chance, limits, score_axis
from scn.plots.style import HEAT, colours, dashes, entitle, label, legend_below, named, new_figure, said
from scn.runs.collection import LoadedRun, band, groups, tested_on
from scn.runs.labels import Key, task_title
from scn.runs.scores import Scores
from scn.transforms import Parameter, Transform

Tables = Mapping[Key, Sequence[Scores]]  # what the seeds of each kind of run reached
ACROSS, MARGINS = 3, 3  # heat maps, or single parameters of several, beside each other
FEW = 13  # settings that are marked one by one


@dataclass(frozen=True)
class Curve:
    """The score over one parameter: lowest, mean and highest of the seeds."""

    places: Tensor
    low: Tensor
    mean: Tensor
    high: Tensor


def draw(loaded: Sequence[LoadedRun], options: FigureOptions) -> Any:
    """The figure `scores`, which is also called `accuracy`."""
    tables = {key: [one.table for one in several] for key, several in groups(loaded).items()}
    note = ", ".join(filter(None, (tested_on(loaded), band(loaded))))
    return draw_tables(tables, loaded[0].transform, task_title(loaded[0].run, note))


def draw_tables(tables: Tables, transform: Transform, title: str) -> Any:
    """A figure of scores: around, along, or as maps, by the parameters of the transform."""
    if len(transform.parameters) == 2:
        return _maps(tables, transform, title)
    count = len(transform.parameters)
    across = min(count, MARGINS)
    down = math.ceil(count / across)
    around = transform.parameters[0].periodic
    height = 3.4 if count == 1 and around else 2.6 if count == 1 else 1.2 + 1.25 * down
    figure = new_figure(height)
    for place, parameter in enumerate(transform.parameters):
        kind = "polar" if parameter.periodic else None
        axes = figure.add_subplot(down, across, place + 1, projection=kind)
        draw_curves(axes, tables, transform, place, small=count > 1)
    legend_below(figure, figure.axes[0])
    note = "; over each parameter, mean over the others" if count > 1 else ""
    entitle(figure, title + note)
    return figure


def draw_curves(axes: Any, tables: Tables, transform: Transform, place: int = 0, small: bool = False) -> None:
    """The score over one parameter: a curve for each kind of run, points for networks of one setting."""
    parameter = transform.parameters[place]
    shades, dashed = colours(list(tables)), dashes(list(tables))
    for key, several in tables.items():
        if _is_points(several):
            x = torch.stack([table.params[0, place] for table in several])
            y = torch.cat([table.values for table in several])
            axes.plot(angle(x, parameter), y, "o", color=shades[key], label=label(*key))
            continue
        curve = averaged(several, place)
        x, low, mean, high = (
            closed(values, parameter) for values in (curve.places, curve.low, curve.mean, curve.high)
        )
        x = angle(x, parameter)
        if len(several) > 1:
            axes.fill_between(x, low, high, color=shades[key], alpha=0.2, linewidth=0)
        marker = "." if len(curve.places) <= FEW else None  # a line between so few would hide where they are
        axes.plot(x, mean, color=shades[key], linestyle=dashed[key], label=label(*key), marker=marker)
    _set_limits(axes, tables, parameter, small)
    draw_chance(axes, [table for several in tables.values() for table in several])


def averaged(several: Sequence[Scores], place: int = 0) -> Curve:
    """The seeds of one kind of run over one parameter, each as its mean over the other parameters."""
    first = several[0].params
    for table in several[1:]:
        if table.params.shape != first.shape or not torch.allclose(table.params, first):
            raise ScnError(
                f"runs that differ by their seed were evaluated under different settings ({len(first)} and "
                f"{len(table.params)}): `scn evaluate RUN --step X` with the same step for each mends it"
            )
    values, which = first[:, place].unique(return_inverse=True)
    count = torch.bincount(which)
    sums = [torch.bincount(which, weights=table.values) / count for table in several]
    seeds = torch.stack(sums)
    return Curve(values, seeds.amin(dim=0), seeds.mean(dim=0), seeds.amax(dim=0))


def closed(values: Tensor, parameter: Parameter) -> Tensor:
    """A circle ends where it began."""
    return torch.cat([values, values[:1]]) if parameter.periodic else values


def angle(values: Tensor, parameter: Parameter) -> Tensor:
    """Where a value stands on a circle, in radians; other parameters as they are."""
    turn = 2 * math.pi / (parameter.high - parameter.low)
    return values * turn if parameter.periodic else values


def _is_points(several: Sequence[Scores]) -> bool:
    """Whether these were trained for one setting each, and tested under it alone."""
    return all(len(table.params) == 1 for table in several)


def score_of(tables: Tables) -> Score:
    """What these tables hold; all of a figure hold the same."""
    return next(iter(tables.values()))[0].score


def _set_limits(axes: Any, tables: Tables, parameter: Parameter, small: bool) -> None:
    """Scales that end at round numbers; a circle says what its centre is, because it is seldom 0."""
    values = torch.cat([table.values for several in tables.values() for table in several])
    score = score_of(tables)
    low, high = limits(values.tolist(), score, parameter.periodic)
    if parameter.periodic:
        axes.set_ylim(low, high)
        about = f"centre {low:g}" if small else f"{score_axis(score)}, centre {low:g}"
        axes.set_xlabel(f"{parameter.name}\n{about}" if small else f"{named(parameter)}; {about}")
        _mark_circle(axes, parameter, small)
        return
    margin = 0.03 * (high - low)
    axes.set(ylim=(low - margin, high + margin), xlabel=named(parameter), ylabel=score_axis(score))


def _mark_circle(axes: Any, parameter: Parameter, small: bool) -> None:
    from matplotlib.patheffects import withStroke
    from matplotlib.ticker import FormatStrFormatter, MaxNLocator

    axes.yaxis.set_major_locator(MaxNLocator(2 if small else 4, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.set_rlabel_position(67)
    values = parameter.grid(4 if small else 8)
    places = angle(values, parameter) % (2 * math.pi)  # negative ones would leave half a circle
    axes.set_xticks(places.tolist(), [said(parameter, value) for value in values.tolist()])
    axes.tick_params(axis="x", pad=-3 if small else -1)
    for text in axes.get_yticklabels():
        text.set_path_effects([withStroke(linewidth=1.5, foreground="white")])


def _maps(tables: Tables, transform: Transform, title: str) -> Any:
    """A heat map for each kind of run, all on one scale."""
    down = math.ceil(len(tables) / ACROSS)
    across = math.ceil(len(tables) / down)
    figure = new_figure(0.62 + (2.4 / across + 0.32) * down)
    grid = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
    values = torch.cat([table.values for several in tables.values() for table in several])
    score = score_of(tables)
    colour = HEAT if score.higher_is_better else f"{HEAT}_r"  # light is good
    scale = {"vmin": values.min().item(), "vmax": values.max().item(), "cmap": colour}
    shown = None
    for axes, (key, several) in zip(grid.flat, tables.items(), strict=False):
        shown = _map(axes, several, scale)
        mean = sum(table.mean for table in several) / len(several)
        axes.set_title(f"{label(*key)}\nmean {brief(score, mean)}", fontsize=6)
        axes.set_box_aspect(1)
        axes.grid(visible=False)
    label_outer(grid, len(tables))
    first, second = transform.parameters
    figure.supxlabel(named(first), fontsize=7)
    figure.supylabel(named(second), fontsize=7)
    figure.colorbar(shown, ax=grid, shrink=0.8, aspect=20, pad=0.02, label=score_axis(score))
    entitle(figure, title)
    return figure


def label_outer(grid: Any, count: int) -> None:
    """Of a grid whose last places are empty, the lowest axes of each column are labelled below."""
    across = grid.shape[1]
    for place, axes in enumerate(grid.flat):
        axes.set_visible(place < count)
        axes.tick_params(labelbottom=place + across >= count)


def _map(axes: Any, several: Sequence[Scores], scale: dict[str, Any]) -> Any:
    """One kind of run: a mesh of the mean over seeds, or points for networks of one setting."""
    if _is_points(several):
        x, y = torch.cat([table.params for table in several]).T
        reached = torch.cat([table.values for table in several]).numpy()
        return axes.scatter(
            x.numpy(), y.numpy(), c=reached, s=16, edgecolors="black", linewidths=0.4, **scale
        )
    averaged(several)  # refuses seeds that were tested differently
    mean = torch.stack([table.values for table in several]).mean(dim=0)
    mesh = (values.numpy() for values in pivoted(several[0].params, mean))
    return axes.pcolormesh(*mesh, shading="nearest", **scale)


def pivoted(params: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows (N, 2) with values (N,) -> x (X,), y (Y,) and the values (Y, X), nan where there is none."""
    x, column = params[:, 0].unique(return_inverse=True)
    y, row = params[:, 1].unique(return_inverse=True)
    grid = torch.full((len(y), len(x)), math.nan, dtype=values.dtype)
    grid[row, column] = values
    return x, y, grid
