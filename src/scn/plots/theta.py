"""The weights of the configured network along alpha: those of the first layer that is configured.

A unit that looks at an image is an image of the same size, a filter is a small one, and what listens to a
waveform or reads a sensor is a curve or a few bars. The units shown are those that change the most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from scn import data
from scn.core.errors import ScnError
from scn.plots.beta import betas
from scn.plots.options import FigureOptions
from scn.plots.style import BLUE, GREY, SIGNED, entitle, label, new_figure, said
from scn.runs.collection import LoadedRun, scns
from scn.runs.first_layer import first_layer as first_of
from scn.runs.labels import task_title

SETTINGS, UNITS = 6, 4
FEW = 16  # weights of a unit that are drawn as bars


def draw(loaded: Sequence[LoadedRun], options: FigureOptions) -> Any:
    """The figure `theta`, of the SCN with the largest D."""
    one = max(scns(loaded, "theta"), key=lambda run: run.key[1])
    settings = along_first(one, SETTINGS)
    name, weights = first_layer(one, settings)
    chosen = liveliest(weights, UNITS)
    shown, note = pictures(weights[:, chosen], one)
    figure = new_figure(0.75 + (0.5 if shown.dim() > 3 else 0.42) * len(chosen))
    figure.get_layout_engine().set(h_pad=0.02, hspace=0.0)
    grid = figure.subplots(len(chosen), len(settings), squeeze=False)
    largest = max(shown.abs().max().item(), 1e-12)
    image = None
    for column, setting in enumerate(settings):
        for row, unit in enumerate(chosen.tolist()):
            image = draw_weights(grid[row, column], shown[column, row], largest)
            grid[row, 0].set_ylabel(f"unit {unit + 1}", fontsize=6)
        grid[0, column].set_title(said(one.transform.parameters[0], setting[0].item()), fontsize=6, pad=2)
    if image is not None:
        figure.colorbar(image, ax=grid, aspect=30, pad=0.02, label="weight")
    along = one.transform.parameters[0].name
    rest = ", the others at no change" if len(one.transform.parameters) > 1 else ""
    text = f"{label(*one.key)}: weights {name} along {along}{rest}{note}"
    entitle(figure, task_title(loaded[0].run, text if image is not None else f"{text}, up to ±{largest:.2g}"))
    return figure


def along_first(one: LoadedRun, count: int) -> Tensor:
    """(count, P): the first parameter over its range, the others at no change."""
    settings = one.transform.neutral().repeat(count, 1)
    settings[:, 0] = one.transform.parameters[0].grid(count)
    return settings


@torch.no_grad()
def first_layer(one: LoadedRun, settings: Tensor) -> tuple[str, Tensor]:
    """The first configured layer with units: its name, and (N, units, ...) under each setting."""
    found = first_of(one.scn)
    if found is None:
        raise ScnError(f"{one.folder} configures no layer with units: there are no weights to look at")
    return found.name, found.at(betas(one, settings))


def liveliest(weights: Tensor, count: int) -> Tensor:
    """Which units (columns of (N, units, ...)) change the most over the settings, in their order."""
    change = (weights - weights.mean(dim=0)).flatten(2).square().sum(dim=(0, 2))
    return change.argsort(descending=True, stable=True)[:count].sort().values


def pictures(weights: Tensor, one: LoadedRun) -> tuple[Tensor, str]:
    """Weights as images (N, units, 1 or 3, H, W) or curves (N, units, T), and what had to be left out."""
    if weights.dim() == 3:  # a linear layer: as its input is
        shape = input_shape(one)
        fits = shape.numel() == weights.shape[2]
        weights = weights.unflatten(2, tuple(shape)) if fits and len(shape) > 1 else weights
    if weights.dim() == 3 or (weights.dim() == 5 and weights.shape[2] in (1, 3)):
        return weights, ""
    note = "" if weights.shape[2] == 1 else f", mean over {weights.shape[2]} inputs"
    mean = weights.mean(dim=2)
    return (mean.unsqueeze(2) if weights.dim() == 5 else mean), note


def input_shape(one: LoadedRun) -> torch.Size:
    """The shape of one sample as the network sees it."""
    images, _ = data.load(one.run.config.data).split("test")
    return one.transform.apply(data.to_float(images[:1]), one.transform.neutral()).shape[1:]


def draw_weights(axes: Any, weights: Tensor, largest: float) -> Any:
    """One unit; returns what a scale of colours can be made from, if there is one."""
    axes.set(xticks=[], yticks=[])
    axes.grid(visible=False)
    if weights.dim() == 1:
        axes.axhline(0, color=GREY, linewidth=0.4)
        if len(weights) <= FEW:
            axes.bar(range(len(weights)), weights.tolist(), color=BLUE)
        else:
            axes.plot(weights, color=BLUE, linewidth=0.6)
        axes.set_ylim(-1.05 * largest, 1.05 * largest)
        return None
    if len(weights) == 3:
        axes.imshow((0.5 + weights / (2 * largest)).permute(1, 2, 0).numpy())
        return None
    return axes.imshow(weights[0].numpy(), cmap=SIGNED, vmin=-largest, vmax=largest)
