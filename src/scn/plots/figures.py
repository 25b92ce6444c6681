"""The figures by name, and how one is made and written.

To add a figure, write a file with a function that takes runs and options and returns a matplotlib figure,
and add a row here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scn.core.errors import ScnError
from scn.core.registry import nearest
from scn.plots import (
    beta,
    capacity,
    cost,
    device,
    samples,
    scores,
    settings,
    size,
    specialisation,
    theta,
    training,
    violin,
)
from scn.plots.files import write_figure
from scn.plots.options import FigureOptions
from scn.plots.style import DPI, column_style
from scn.runs.collection import LoadedRun


@dataclass(frozen=True)
class Kind:
    """One kind of figure: what it shows, and what draws it."""

    shows: str
    draw: Callable[[Sequence[LoadedRun], FigureOptions], Any]


FIGURES = {
    "samples": Kind("inputs before, after and after undoing the transform", samples.draw),
    "scores": Kind("accuracy (or R²) over the parameters, for every D and baseline", scores.draw),
    "accuracy": Kind("another name of scores", scores.draw),
    "specialisation": Kind("one configured network under all settings", specialisation.draw),
    "violin": Kind("distribution of the score over all settings", violin.draw),
    "settings": Kind("score against D, a line for each setting", settings.draw),
    "beta": Kind("mixing coefficients over the parameters, for each D", beta.draw),
    "capacity": Kind("score against width or depth", capacity.draw),
    "cost": Kind("score over work of an answer and flash, the best possible joined", cost.draw),
    "size": Kind("score over stored bytes, bytes of θ and work of a prediction", size.draw),
    "training": Kind("loss, validation score, active and effective bases over epochs", training.draw),
    "theta": Kind("first-layer weights of the configured network along alpha", theta.draw),
    "device": Kind("instructions by phase, score, RAM and flash on a device", device.draw),
}


def find(name: str) -> Kind:
    """The kind of figure of this name."""
    if name not in FIGURES:
        raise ScnError(f"there is no figure {nearest(name, FIGURES)}")
    return FIGURES[name]


def make(name: str, loaded: Sequence[LoadedRun], options: FigureOptions | None = None) -> Any:
    """The figure of this name, of runs of one task."""
    with column_style():
        return find(name).draw(loaded, options or FigureOptions())


def write(figure: Any, path: Path) -> None:
    """Write a figure in the style of a column; the suffix says how."""
    with column_style():
        write_figure(figure, path, DPI)
