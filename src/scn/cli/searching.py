"""The text of `scn export --search`: a way of searching, then what it takes, by colons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import torch
import typer

from scn.cli.values import numbers, whole_numbers
from scn.core.errors import ScnError
from scn.experiment.device_search import PLANS

OPTION = "--search"
HELP = (
    "Find the setting on the device: grid[:STEPS], candidates:SETTINGS (such as 0,90,180,270; settings of "
    "several parameters by semicolons), tracker[:STEPS][:drift=D][:jump=P], estimator. "
    "grid, candidates and tracker take :by=evidence or :by=entropy."
)
NO_CANDIDATES = f"{OPTION} candidates needs settings: say such as candidates:0,90,180,270"
SearchOption = Annotated[str | None, typer.Option(OPTION, help=f"Of C code. {HELP}")]


def _settings(text: str) -> Any:
    """(C, P): by semicolons, or one parameter by commas."""
    rows = [numbers(OPTION, part) for part in text.split(";") if part.strip()]
    if not rows:
        raise ScnError(NO_CANDIDATES)
    if len(rows) == 1:
        return torch.tensor(rows[0]).unsqueeze(1)
    return torch.tensor(rows if len({len(row) for row in rows}) == 1 else [])


def _one(text: str) -> float:
    found = numbers(OPTION, text)
    if len(found) != 1:
        raise ScnError(f"{OPTION} takes one number there, but got {text!r}")
    return found[0]


def _steps(text: str) -> int:
    found = whole_numbers(OPTION, text)
    if len(found) != 1:
        raise ScnError(f"{OPTION} takes one number of steps, but got {text!r}")
    return found[0]


# What stands behind a way without a name, and how each named value is read.
BARE: dict[str, tuple[str, Callable[[str], Any]]] = {
    "grid": ("steps", _steps),
    "tracker": ("steps", _steps),
    "candidates": ("candidates", _settings),
}
NAMED: dict[str, Callable[[str], Any]] = {
    "by": str,
    "drift": lambda text: numbers(OPTION, text),
    "jump": _one,
}


def parsed(text: str) -> tuple[str, dict[str, Any]]:
    """The way, and its options."""
    way, *parts = text.split(":")
    found: dict[str, Any] = {}
    for part in parts:
        name, equals, value = part.partition("=")
        if equals and name in NAMED:
            found[name] = NAMED[name](value)
        elif not equals and way in BARE and BARE[way][0] not in found:
            found[BARE[way][0]] = BARE[way][1](part)
        else:
            raise ScnError(f"{OPTION} does not know {part!r} behind {way!r}: {HELP[0].lower()}{HELP[1:]}")
    if way == "candidates" and way not in found:
        raise ScnError(NO_CANDIDATES)
    if way not in PLANS:
        return way, {}  # which says what there is
    return way, found
