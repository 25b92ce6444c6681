"""What the map makes of alpha: beta over the parameters, a panel for each D.

One angle goes around a cylinder whose height is beta, one other parameter along a line, and two span
surfaces. Of three or more, every two span surfaces while the others stay at no change: slices.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from scn.plots.options import FigureOptions
from scn.plots.scores import angle, closed, label_outer
from scn.plots.style import COLUMN, GREY, base_colours, entitle, label, named, new_figure, said
from scn.runs.collection import LoadedRun, scns
from scn.runs.labels import task_title
from scn.transforms import Parameter, Transform

STEPS, SURFACE_STEPS = 180, 31
EACH = 6  # steps between the places of two base models, at least
ACROSS = 4
MOST_NAMED = 8  # bases with an entry in the legend
NEGATIVE = 1e-3  # a coefficient below zero, and not for rounding


@torch.no_grad()
def betas(one: LoadedRun, params: Tensor) -> Tensor:
    """params (N, P) -> the mixing coefficients (N, D)."""
    return one.scn.beta(one.transform.encode(params))


def floor(beta: Tensor) -> float:
    """Where the scale of coefficients begins: at 0, or at a round number below those that are negative."""
    least = beta.min().item()
    return 0.0 if least > -NEGATIVE else math.floor(10 * least) / 10


def draw(loaded: Sequence[LoadedRun], options: FigureOptions) -> Any:
    """The figure `beta`."""
    shown, transform = scns(loaded, "beta"), loaded[0].transform
    count = len(transform.parameters)
    if count == 1:
        draw_one = _cylinder if transform.parameters[0].periodic else _curves
        figure, note = _panels(shown, [draw_one]), "β over " + named(transform.parameters[0])
    else:
        pairs = list(itertools.combinations(range(count), 2))
        figure = _panels(shown, [_surface_over(pair) for pair in pairs])
        note = _slices(transform, pairs)
    _legend(figure, max(one.key[1] for one in shown))
    entitle(figure, task_title(loaded[0].run, f"{note}; seed\N{NO-BREAK SPACE}{shown[0].run.config.seed}"))
    return figure


def _panels(shown: Sequence[LoadedRun], kinds: Sequence[Any]) -> Any:
    """A panel for each run, and for each kind of panel a block of rows; of one run all kinds side by side."""
    several = len(shown) > 1
    blocks = (
        [[(kind, one) for one in shown] for kind in kinds] if several else [[(k, shown[0]) for k in kinds]]
    )
    across = min(ACROSS, len(blocks[0]))
    down = math.ceil(len(blocks[0]) / across)
    flat = kinds[0] is _curves
    side = COLUMN / across
    figure = new_figure(0.8 + len(blocks) * down * (0.75 * side + 0.25 if flat else min(side + 0.12, 2.4)))
    settings = {"sharex": True, "sharey": True} if flat else {"subplot_kw": {"projection": "3d"}}
    grid = figure.subplots(down * len(blocks), across, squeeze=False, **settings)
    for number, block in enumerate(blocks):
        places = grid[number * down : (number + 1) * down]
        for axes, (kind, one) in zip(places.flat, block, strict=False):
            kind(axes, one)
            axes.set_title(titled(one), fontsize=6, pad=2 if flat else 5 if kind is _cylinder else -8)
        for axes in list(places.flat)[len(block) :]:
            axes.remove()  # hidden ones in space have no extent, which the layout asks for
    if flat:
        drawn = [torch.as_tensor(line.get_ydata()) for axes in grid.flat for line in axes.lines]
        grid[0, 0].set_ylim(floor(torch.cat(drawn)) - 0.03, 1.03)  # of all, which share it
        label_outer(grid, len(shown))
        for axes in list(grid.flat)[len(shown) - across : len(shown)]:
            axes.set_xlabel(named(shown[0].transform.parameters[0]))
        for axes in grid[:, 0]:
            axes.set_ylabel("β")
    return figure


def titled(one: LoadedRun) -> str:
    """Over a narrow panel: what it is, and below that, where it is said, what tells it from others."""
    method, dims, more = one.key
    return label(method, dims) + (f"\n{more}" if more else "")


def _steps(one: LoadedRun) -> int:
    """Along one parameter: of many base models so many that the place of each is one of them."""
    dims = one.key[1]
    return dims * max(STEPS // dims, EACH) if dims > STEPS // EACH else STEPS


def _curves(axes: Any, one: LoadedRun) -> None:
    params = one.transform.grid(_steps(one) + 1)
    beta = betas(one, params)
    for base, colour in enumerate(base_colours(beta.shape[1])):
        axes.plot(params[:, 0], beta[:, base], color=colour, label=f"β{base + 1}")


def _cylinder(axes: Any, one: LoadedRun) -> None:
    (parameter,) = one.transform.parameters
    params = one.transform.grid(_steps(one))
    beta = betas(one, params)
    turn = angle(closed(params[:, 0], parameter), parameter)
    x, y, low = turn.cos(), turn.sin(), floor(beta)
    for level in sorted({low, 0, 0.5, 1}):
        axes.plot(x, y, torch.full_like(x, level), color=GREY, linewidth=0.3, alpha=0.5)
    for value in parameter.grid(4):
        place = angle(value, parameter)
        x0, y0 = place.cos().item(), place.sin().item()
        axes.plot([x0, x0], [y0, y0], [low, 1], color=GREY, linewidth=0.3, alpha=0.5)
        behind = y0 - x0 > 0.5  # as seen from the camera: above, so that it covers no curve
        axes.text(
            *(1.25 * x0, 1.25 * y0, 1.08 if behind else low - 0.1),
            said(parameter, value.item()),
            fontsize=5,
            ha="center",
            va="center",
        )
    for base, colour in enumerate(base_colours(beta.shape[1])):
        height = closed(beta[:, base], parameter)
        axes.plot(x, y, height, color=colour, label=f"β{base + 1}", linewidth=1.0)
    _bare(axes, (1.0, 0.7), zoom=1.25, low=low)


def _surface_over(pair: tuple[int, int]) -> Any:
    """Draws beta over two parameters, the others at no change."""

    def surface(axes: Any, one: LoadedRun) -> None:
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        parameters = [one.transform.parameters[place] for place in pair]
        heights = over_two(one, pair)
        steps = torch.linspace(-1, 1, SURFACE_STEPS)
        x, y = torch.meshgrid(steps, steps, indexing="ij")
        tiles, faces = [], []
        for height, colour in zip(heights, base_colours(len(heights)), strict=True):
            corners = torch.stack([x, y, height], dim=-1)
            quads = torch.stack(
                [corners[:-1, :-1], corners[1:, :-1], corners[1:, 1:], corners[:-1, 1:]], dim=2
            ).flatten(0, 1)
            tiles.append(quads)
            faces += [colour] * len(quads)
        # One collection of all tiles: so each is drawn behind what is nearer, of whatever surface.
        mesh = Poly3DCollection(torch.cat(tiles).numpy(), facecolors=faces, edgecolors=faces, linewidths=0.2)
        mesh.set_rasterized(True)  # thousands of tiles would make a drawing of lines huge
        axes.add_collection3d(mesh)
        _floor(axes, parameters, floor(heights))

    return surface


def over_two(one: LoadedRun, pair: tuple[int, int], steps: int = SURFACE_STEPS) -> Tensor:
    """(D, steps, steps): beta over two parameters from end to end, the first one down the rows."""
    first, second = (one.transform.parameters[place] for place in pair)
    params = one.transform.neutral().repeat(steps * steps, 1)
    ends = (torch.linspace(p.low, p.high, steps) for p in (first, second))
    params[:, list(pair)] = torch.cartesian_prod(*ends)
    return betas(one, params).T.reshape(-1, steps, steps)


def _floor(axes: Any, parameters: Sequence[Parameter], low: float) -> None:
    """The box that surfaces stand in, with the ends of both ranges."""
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]
    for height in sorted({low, 0, 1}):
        axes.plot(*zip(*corners, strict=True), height, color=GREY, linewidth=0.3, alpha=0.5)
    for x, y in corners[:4]:
        axes.plot([x, x], [y, y], [low, 1], color=GREY, linewidth=0.3, alpha=0.5)
    first, second = parameters
    small = {"fontsize": 4.5, "ha": "center", "va": "center"}
    axes.text(0, -1.5, low - 0.1, first.name, **small)
    axes.text(1.5, 0, low - 0.1, second.name, **small)
    axes.text(-0.85, -1.35, low - 0.05, f"{first.low:g}", **small)
    axes.text(0.85, -1.35, low - 0.05, f"{first.high:g}", **small)
    axes.text(1.4, -0.85, low - 0.05, f"{second.low:g}", **small)
    axes.text(1.4, 0.85, low - 0.05, f"{second.high:g}", **small)
    _bare(axes, (-1.15, -1.15), zoom=0.92, low=low)


def _bare(axes: Any, edge: tuple[float, float], zoom: float, low: float) -> None:
    """Without matplotlib's own axes, which are too large for a small panel; the scale of beta at one edge."""
    for height in sorted({low, 0, 1}):
        axes.text(*edge, height, f"{height:g}", fontsize=4.5, ha="center", va="center")
    axes.set_axis_off()
    axes.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(low, 1))
    axes.view_init(elev=24, azim=-58)
    axes.set_box_aspect((1, 1, 0.8), zoom=zoom)


def _slices(transform: Transform, pairs: Sequence[tuple[int, int]]) -> str:
    """What the surfaces stand over, and where the other parameters are."""
    units = {p.unit for p in transform.parameters}
    unit = f" ({units.pop()})" if len(units) == 1 else ""
    if len(pairs) == 1:
        first, second = transform.parameters
        return f"β (height) over {first.name} and {second.name}{unit}"
    return f"β (height) over two parameters{unit}, others at {transform.neutral()[0].item():g}"


def _legend(figure: Any, dims: int) -> None:
    from matplotlib.lines import Line2D

    shades = base_colours(dims)
    named_bases = range(dims) if dims <= MOST_NAMED else (0, dims - 1)
    handles = [Line2D([], [], color=shades[i], label=f"β{i + 1}", linewidth=2) for i in named_bases]
    figure.legend(handles=handles, loc="outside lower center", ncols=MOST_NAMED)
