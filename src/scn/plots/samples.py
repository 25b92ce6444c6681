"""A sheet of samples as a transform meets them, above what it makes of them and what undoing it leaves."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from scn import data
from scn.core.errors import ScnError
from scn.plots.files import write_figure
from scn.plots.options import FigureOptions
from scn.plots.style import BLUE, column_style, entitle, new_figure, said
from scn.runs.collection import LoadedRun
from scn.runs.labels import task_title
from scn.transforms import Transform

Rows = Sequence[tuple[Tensor, Sequence[str]]]  # samples (N, ...) and N captions
COUNT, WAVES = 6, 4  # samples in a column's width, and waveforms above each other
CAPTION = 20  # characters in an inch


def draw(loaded: Sequence[LoadedRun], options: FigureOptions) -> Any:
    """The figure `samples`: test samples under settings from one end of the range to the other."""
    run, transform = loaded[0].run, loaded[0].transform
    dataset = data.load(run.config.data)
    images, labels = dataset.split("test")
    count = min(WAVES if is_waveform(images[0]) else COUNT, len(labels))
    if transform.measured:
        measured = dataset.measured("test")
        order = measured[:, 0].argsort()
        chosen = order[torch.linspace(0, len(order) - 1, count).long()]
        settings = measured[chosen]
    else:
        chosen = one_of_each(labels, count, torch.Generator().manual_seed(0))
        settings = along(transform, count)
    rows = changed(data.to_float(images[chosen]), settings, transform)
    names = [dataset.said(label).replace("_", " ") for label in labels[chosen]]
    captions = [names, [caption(transform, row) for row in settings], [""] * count]
    if transform.measured:  # the sample is as the sensor met it
        captions[0] = [f"{name}\n{text}" for name, text in zip(captions[0], captions[1], strict=True)]
    texts = [text for _, text in rows]
    pairs = [(samples, lines) for (samples, _), lines in zip(rows, captions, strict=False)]
    figure = sheet(pairs, COLUMN_SIDE, texts)
    units = dict.fromkeys(p.unit for p in transform.parameters if p.unit)
    entitle(figure, task_title(loaded[0].run, f"settings in {', '.join(units)}" if units else ""))
    return figure


def along(transform: Transform, count: int) -> Tensor:
    """(count, P): from the low to the high end of all parameters at once."""
    return torch.stack([parameter.grid(count) for parameter in transform.parameters], dim=1)


def changed(samples: Tensor, settings: Tensor, transform: Transform) -> list[tuple[Tensor, str]]:
    """The samples as they are, changed and, where that is possible, with the change undone."""
    if transform.measured:
        return [(samples, "as measured")]
    after = transform.apply(samples, settings)
    rows = [(samples, "before"), (after, "after")]
    if transform.invertible:
        rows.append((transform.invert(after, settings), "undone"))
    return rows


def one_of_each(labels: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Indices of samples drawn at random, as many classes among them as possible, sorted by class.

    Where labels are values, (N,) or (N, T), the samples are spread over those of the first.
    """
    order = torch.randperm(len(labels), generator=generator)
    if labels.is_floating_point():
        first = labels.reshape(len(labels), -1)[:, 0]
        return first.argsort()[torch.linspace(0, len(labels) - 1, min(count, len(labels))).long()]
    seen: dict[int, int] = {}
    rank = []
    for label in labels[order].tolist():
        rank.append(seen.get(label, 0))
        seen[label] = rank[-1] + 1
    chosen = order[torch.tensor(rank).argsort(stable=True)[:count]]
    return chosen[labels[chosen].argsort(stable=True)]


def caption(transform: Transform, params: Tensor) -> str:
    """A setting, a line for each parameter."""
    values = list(zip(transform.parameters, params.tolist(), strict=True))
    if len(values) == 1:
        return said(*values[0])
    small = [(parameter.name, said(replace(parameter, unit=""), value)) for parameter, value in values]
    return "\n".join(f"{name} {value}" for name, value in small)


def draw_samples(rows: Rows, title: str, path: Path) -> None:
    """Write a sheet of its own size: one line of small pictures for each row of samples."""
    with column_style():
        figure = sheet(rows, 1.3)
        figure.suptitle(title)
        write_figure(figure, path, 130)


COLUMN_SIDE = 3.2 / COUNT


def sheet(rows: Rows, side: float, names: Sequence[str] = ()) -> Any:
    """One line of small pictures, `side` inches wide, for each row; waveforms stand in columns instead.

    A sample is an image (C, H, W) in [0, 1], a waveform (T,) or (1, T), points (P, 3) seen along the last
    axis, or a few readings (F,).
    """
    count = len(rows[0][1])
    wide = is_waveform(rows[0][0][0])
    if not wide:
        rows = [(samples, [_wrapped(text, side) for text in captions]) for samples, captions in rows]
    across, down = (len(rows), count) if wide else (count, len(rows))
    lines = max(text.count("\n") + 1 for _, captions in rows for text in captions)
    width = max(3.5, 4.2 * across * side / 1.3) if wide else max(3.5, (side + 0.03) * across + 0.25)
    height = (0.75 if wide else side) + 0.12 * lines + 0.06
    figure = new_figure(height * down + 0.35, 3.5 if side == COLUMN_SIDE else width)
    figure.get_layout_engine().set(h_pad=0.02, hspace=0.0)
    grid = figure.subplots(down, across, squeeze=False)
    for line, (samples, captions) in enumerate(rows):
        for place, (sample, text) in enumerate(zip(samples, captions, strict=True)):
            axes = grid[place, line] if wide else grid[line, place]
            draw_sample(axes, sample)
            axes.set_title(text, fontsize=6, pad=2)
    for line, name in enumerate(names):
        if wide:
            grid[-1, line].set_xlabel(name)
        else:
            grid[line, 0].set_ylabel(name)
    return figure


def _wrapped(text: str, inches: float) -> str:
    """Each line of the text in lines that fit into so many inches."""
    width = max(1, int(CAPTION * inches))
    return "\n".join(part for line in text.split("\n") for part in textwrap.wrap(line, width) or [""])


def is_waveform(sample: Tensor) -> bool:
    """Whether a sample is values over time: more than a few readings, and one channel at most."""
    return sample.dim() in (1, 2) and sample.shape[-1] > 16 and sample.numel() == sample.shape[-1]


def draw_sample(axes: Any, sample: Tensor) -> None:
    """One sample of any form, without ticks."""
    axes.set_xticks([])
    axes.set_yticks([])
    if is_waveform(sample):
        draw_waveform(axes, sample.flatten())
    elif sample.dim() == 3:
        image = sample.clamp(0, 1).permute(1, 2, 0).numpy()
        axes.imshow(image if image.shape[2] in (3, 4) else image[..., 0], cmap="gray", vmin=0, vmax=1)
    elif sample.dim() == 2 and sample.shape[1] == 3:
        axes.scatter(*sample[:, :2].T.numpy(), s=0.2, color=BLUE, linewidths=0, rasterized=True)
        axes.set(xlim=(-1, 1), ylim=(-1, 1), aspect="equal")
    elif sample.dim() == 1:
        axes.bar(range(len(sample)), sample.numpy(), color=BLUE)
    else:
        raise ScnError(f"a sample of shape {tuple(sample.shape)} cannot be drawn")


def draw_waveform(axes: Any, waveform: Tensor) -> None:
    """waveform: (T,) in [-1, 1], on an axis that ends where the loudest sample does."""
    loudest = max(float(waveform.abs().max()), 1e-3)
    axes.plot(waveform.numpy(), color=BLUE, linewidth=0.4)
    axes.set(xlim=(0, len(waveform)), ylim=(-loudest, loudest))
