"""Scores on axes and beside marks: what they are called, how they are written, and where an axis ends."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from scn.objectives import Score
from scn.plots.style import GREY, ROUNDING
from scn.runs.scores import Scores

LEAST_RADIUS = 0.3  # of the scale: a smaller circle would make stars of chance
CHANCE = "chance"
PANEL_LETTERS = 22  # beside a panel of little more than an inch
CORNERS = 180  # of what is drawn as a circle


def score_axis(score: Score, split: str = "test") -> str:
    """The label of an axis, with the direction where that is not upwards."""
    unit = f" ({score.unit})" if score.unit else ""
    return f"{split} {score.label}{unit}" + ("" if score.higher_is_better else ", lower is better")


def wrapped(text: str) -> str:
    """The label of an axis of a low panel."""
    return textwrap.fill(text, PANEL_LETTERS)


def brief(score: Score, value: float) -> str:
    """A score where there is little room: "0.841", or three digits of one that may be of any size."""
    return f"{value:.3f}" if score.highest is not None else f"{value:.3g}"


def limits(values: Sequence[float], score: Score, round_axis: bool = False) -> tuple[float, float]:
    """Round numbers around these values, within what the score can be."""
    span, scale = max(values) - min(values), _scale(values, score)
    step = scale / 10 if span > 0.12 * scale else scale / 20
    low = _possible(score, step * math.floor(min(values) / step + 1e-9))
    high = _possible(score, step * math.ceil(max(values) / step + 1e-9))
    high = high if high > low else low + step
    return (_possible(score, min(low, high - LEAST_RADIUS * scale)) if round_axis else low), high


def chance_level(tables: Iterable[Scores]) -> float | None:
    """The score of a constant prediction, where all tests agree about it."""
    known = {(table.facts.get("chance"), table.score) for table in tables}
    if len(known) != 1:
        return None
    level, score = known.pop()
    tiny = level is not None and score.highest is not None and abs(level) < ROUNDING * score.highest
    return 0.0 if tiny else level


def draw_chance(axes: Any, tables: Iterable[Scores]) -> None:
    """A line at the score of a constant prediction, where the axis reaches that far."""
    level = chance_level(tables)
    low, high = axes.get_ylim()
    if level is not None and low <= level <= high:
        drawn = {"color": GREY, "linewidth": 0.6, "linestyle": (0, (1, 2)), "label": CHANCE}
        if axes.name == "polar":
            around = [2 * math.pi * step / CORNERS for step in range(CORNERS + 1)]
            axes.plot(around, [level] * len(around), **drawn)
        else:
            axes.axhline(level, **drawn)


def _scale(values: Sequence[float], score: Score) -> float:
    """1 for shares; of a score without a natural size, the round number that holds the differences."""
    span = max(values) - min(values) or max(map(abs, values)) or 1.0
    power = 10.0 ** math.floor(math.log10(span) + 1e-9)
    enough = next(part * power for part in (1, 2, 5, 10) if part * power >= span * (1 - 1e-9))
    return max(score.highest or 0.0, enough)


def _possible(score: Score, value: float) -> float:
    low = -math.inf if score.lowest is None else score.lowest
    high = math.inf if score.highest is None else score.highest
    return min(max(value, low), high)
