"""The configured network travelling through the beta-space while alpha turns, as a GIF or an MP4.

Every frame shows one setting: where it is on the curve of the score, where beta is on its way, the shares of
the base models, and the weights of the units that change the most.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.core.storage import failures_named
from scn.plots.beta import betas, floor
from scn.plots.files import save
from scn.plots.options import FigureOptions
from scn.plots.scores import angle, draw_curves
from scn.plots.style import (
    BASES,
    BLUE,
    GREY,
    SIGNED,
    VERMILION,
    base_colours,
    column_style,
    entitle,
    in_words,
    new_figure,
)
from scn.plots.style import label as named_run
from scn.plots.theta import first_layer, liveliest, pictures
from scn.runs.collection import LoadedRun, scns
from scn.runs.evaluation import evaluate_run
from scn.runs.labels import task_title
from scn.runs.scores import Scores
from scn.transforms import Transform

FRAMES, PER_SECOND, DPI = 48, 12, 150
SMOOTH = 8  # points of the way for each frame
SUFFIXES = (".gif", ".mp4")
UNITS = 4

Update = Callable[[int], None]


@dataclass(frozen=True)
class Film:
    """A figure, what brings it to a frame, and what the frames show: a row of each tensor for each frame."""

    figure: Any
    update: Update
    params: Tensor
    beta: Tensor
    scores: Tensor


def path(transform: Transform, frames: int) -> Tensor:
    """(N, P): from no change each parameter in turn once over its range and back, the others as they are.

    An angle goes around; any other parameter goes up to its end, down to the other, and back.
    """
    each, rest = max(2, frames // len(transform.parameters)), transform.neutral()
    steps = torch.arange(each) / each
    legs = []
    for place, parameter in enumerate(transform.parameters):
        span = parameter.high - parameter.low
        leg = rest.repeat(each, 1)
        begin = rest[place] - parameter.low
        if parameter.periodic:
            leg[:, place] = parameter.low + (begin + span * steps) % span
        else:
            leg[:, place] = parameter.low + span - ((begin + 2 * span * steps) % (2 * span) - span).abs()
        legs.append(leg)
    return torch.cat(legs)


def film(loaded: Sequence[LoadedRun], options: FigureOptions, frames: int = FRAMES) -> Film:
    """Frames of the SCN with the largest D among these runs."""
    one = max(scns(loaded, "of an animation"), key=lambda run: run.key[1])
    params = path(one.transform, frames)
    beta = betas(one, params)
    with column_style():
        figure = new_figure(3.4)
        table, reached = _measure(one, params, options)
        corner = figure.add_subplot(2, 2, 1, projection="polar" if _turns(one) else None)
        updates = [
            _draw_scores(corner, one, params, reached, table),
            _draw_way(figure.add_subplot(2, 2, 2), beta, betas(one, path(one.transform, SMOOTH * frames))),
            _draw_shares(figure.add_subplot(2, 2, 3), beta),
            _draw_weights(figure.add_subplot(2, 2, 4), one, params),
        ]
        title = f"{named_run(*one.key)} configured for "

        def update(frame: int) -> None:
            for each in updates:
                each(frame)
            entitle(figure, task_title(one.run, title + in_words(one.transform, params[frame].tolist())))

        update(0)
    return Film(figure, update, params, beta, reached)


def _turns(one: LoadedRun) -> bool:
    return len(one.transform.parameters) == 1 and one.transform.parameters[0].periodic


def _measure(one: LoadedRun, params: Tensor, options: FigureOptions) -> tuple[Scores, Tensor]:
    """The score on some test samples under the settings of the way, and that of each frame."""
    settings = params.unique(dim=0)
    result = evaluate_run(one.run, one.network, settings, samples=options.samples, progress=options.progress)
    far = one.transform.distance(params.unsqueeze(1), result.params.unsqueeze(0))
    nearest = far.argmin(dim=1)  # of measured settings not all have a sample
    return result, result.values[nearest]


def _draw_scores(axes: Any, one: LoadedRun, params: Tensor, reached: Tensor, table: Scores) -> Update:
    """Over the parameter, or along the way where there are several."""
    title = f"test {table.score.label} ({table.facts['samples']:,} samples)"
    if len(one.transform.parameters) == 1:
        draw_curves(axes, {one.key: [table]}, one.transform, small=True)
        places = angle(params[:, 0], one.transform.parameters[0])
        axes.set_title(title, pad=10 if _turns(one) else None)
    else:
        places = torch.arange(len(params)) * 1.0
        axes.plot(places, reached, color=BLUE)
        names = ", ".join(parameter.name for parameter in one.transform.parameters)
        axes.set(xlabel=f"step: {names} in turn", title=title)
    (point,) = axes.plot(places[:1], reached[:1], "o", color=VERMILION, markersize=5)
    return lambda frame: point.set_data(places[frame : frame + 1], reached[frame : frame + 1])


def plane(way: Tensor) -> Callable[[Tensor], Tensor]:
    """Takes beta (N, D) to the plane (N, 2) in which most of the way lies; for D = 2 that is all."""
    if way.shape[1] < 3:
        return lambda beta: torch.nn.functional.pad(beta, (0, 2 - way.shape[1]))
    middle = way.mean(dim=0)
    _, _, directions = torch.linalg.svd(way - middle, full_matrices=False)
    return lambda beta: (beta - middle) @ directions[:2].T


def _draw_way(axes: Any, beta: Tensor, way: Tensor) -> Update:
    """Where the frames have beta (N, D), on the whole way (M, D), which ends where it began."""
    flat = plane(way)
    places = flat(beta)
    axes.plot(*flat(torch.cat([way, way[:1]])).T, color=GREY, linewidth=0.7)
    (point,) = axes.plot(*places[:1].T, "o", color=VERMILION, markersize=5)
    axes.set_title("way through the β-space")
    few = beta.shape[1] < 3
    axes.set(xlabel="β1" if few else "1st principal direction", ylabel="β2" if few else "2nd direction")
    axes.margins(0.1)
    axes.set_aspect("equal", adjustable="datalim")
    return lambda frame: point.set_data(*places[frame : frame + 1].T)


def _draw_shares(axes: Any, beta: Tensor) -> Update:
    dims = beta.shape[1]
    bars = axes.bar(range(1, dims + 1), beta[0].tolist(), color=base_colours(dims))
    axes.set(ylim=(floor(beta), 1), title="mixing coefficients β", xlabel="base model")
    if dims <= 10:
        axes.set_xticks(range(1, dims + 1))
    axes.grid(visible=False, axis="x")

    def update(frame: int) -> None:
        for bar, height in zip(bars, beta[frame].tolist(), strict=True):
            bar.set_height(height)

    return update


def _draw_weights(axes: Any, one: LoadedRun, params: Tensor) -> Update:
    name, weights = first_layer(one, params)
    shown, _ = pictures(weights[:, liveliest(weights, UNITS)], one)
    largest = max(shown.abs().max().item(), 1e-12)
    axes.set(xticks=[], yticks=[], title=f"weights {name}", xlabel=f"colours: ±{largest:.2g}")
    axes.grid(visible=False)
    if shown.dim() == 3:
        pairs = zip(shown[0], BASES, strict=False)
        lines = [axes.plot(curve, linewidth=0.7, color=colour)[0] for curve, colour in pairs]
        axes.set(ylim=(-largest, largest), xlabel=f"height: ±{largest:.2g}")

        def bend(frame: int) -> None:
            for line, curve in zip(lines, shown[frame], strict=True):
                line.set_ydata(curve)

        return bend
    tiles = _mosaic(shown if shown.shape[2] == 1 else 0.5 + shown / (2 * largest))
    scale = {"cmap": SIGNED, "vmin": -largest, "vmax": largest} if shown.shape[2] == 1 else {}
    image = axes.imshow(tiles[0].numpy(), **scale)
    return lambda frame: image.set_data(tiles[frame].numpy())


def _mosaic(images: Tensor) -> Tensor:
    """(N, units, C, H, W) -> (N, rows, columns[, C]): two units beside each other, with a line between."""
    count, units = images.shape[:2]
    if units % 2:
        images = torch.cat([images, torch.zeros_like(images[:, :1])], dim=1)
    gap = max(1, images.shape[-1] // 16)
    padded = torch.nn.functional.pad(images, (0, gap, 0, gap), value=float("nan"))
    channels, height, width = padded.shape[2:]
    grid = padded.view(count, -1, 2, channels, height, width).permute(0, 1, 4, 2, 5, 3)
    whole = grid.reshape(count, -1, 2 * width, channels)[:, :-gap, :-gap]
    return whole.squeeze(-1) if channels == 1 else whole.nan_to_num(1.0)


def write_film(made: Film, path: Path) -> None:
    """Write all frames; the suffix says how."""
    from matplotlib.animation import FFMpegWriter, PillowWriter

    moving = path.suffix.lower() == ".mp4"
    if moving:
        require_ffmpeg(path)
    writer = FFMpegWriter(fps=PER_SECOND) if moving else PillowWriter(fps=PER_SECOND)
    with tempfile.TemporaryDirectory() as folder, column_style():
        draft = Path(folder) / path.name
        made.figure.set_dpi(DPI)
        made.figure.draw_without_rendering()
        made.figure.set_layout_engine("none")  # settled: panels must not move from frame to frame
        with failures_named(path), writer.saving(made.figure, str(draft), DPI):
            for frame in range(len(made.params)):
                made.update(frame)
                writer.grab_frame()
        save(path, draft.read_bytes())


def require_ffmpeg(path: Path) -> None:
    from matplotlib.animation import FFMpegWriter

    if not FFMpegWriter.isAvailable():
        raise ScnError(
            f"{path} needs ffmpeg, which is not on this machine: install it (apt install ffmpeg), or write "
            f"{path.with_suffix('.gif')} instead"
        )
