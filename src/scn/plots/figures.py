"""The figures by name, and how one is made and written: PNG, SVG or PDF by the suffix of its file.

To add a figure, write a file with a function that takes runs and options and returns a matplotlib figure,
and add a row here.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scn.core.errors import ScnError
from scn.core.registry import nearest
from scn.core.storage import write_atomically
from scn.plots import beta, capacity, device, samples, scores, specialisation, theta, training, violin
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
    "beta": Kind("mixing coefficients over the parameters, for each D", beta.draw),
    "capacity": Kind("score against width or depth", capacity.draw),
    "training": Kind("loss, validation score and active bases over epochs", training.draw),
    "theta": Kind("first-layer weights of the configured network along alpha", theta.draw),
    "device": Kind("instructions by phase, score, RAM and flash on a device", device.draw),
}

# What keeps the date out of a file, so that the same picture is the same file.
UNDATED: dict[str, dict[str, Any]] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


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
    """Write a figure; the suffix says how."""
    content, suffix = io.BytesIO(), path.suffix.lower()
    with column_style():
        figure.savefig(content, dpi=DPI, format=suffix[1:], metadata=UNDATED[suffix])
    save(path, content.getvalue())


def save(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
    except OSError as error:
        raise ScnError(f"{path} cannot be written ({error}): choose another place with -o") from error


def check_figure_file(path: Path, suffixes: Sequence[str]) -> None:
    """Refuse, before any work, a file that could not be written."""
    if path.suffix.lower() not in suffixes:
        raise ScnError(f"{path} must end in {' or '.join(suffixes)}: the suffix says what is written")
    if path.is_dir():
        raise ScnError(f"{path} is a folder: name a file in it, such as -o {path / ('figure' + suffixes[0])}")
    folder = path.parent
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise ScnError(f"{path} cannot be written: choose another place with -o")
