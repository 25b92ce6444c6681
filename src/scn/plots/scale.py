"""Scores on axes and beside marks: what they are called, how they are written, and where an axis ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from scn.objectives import Score
from scn.plots.style import GREY

LEAST_RADIUS = 0.3  # of the scale: a smaller circle would make stars of chance
CHANCE = "chance"
CORNERS = 180  # of what is drawn as a circle


def score_axis(score: Score, split: str = "test") -> str:
    """The label of an axis, with the direction where that is not upwards."""
    unit = f" ({score.unit})" if score.unit else ""
    return f"{split} {score.label}{unit}" + ("" if score.higher_is_better else ", lower is better")


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


def draw_chance(axes: Any, levels: Sequence[float | None]) -> None:
    """A line at the score of a constant prediction, where the axis reaches that far."""
    known = {level for level in levels if level is not None}
    low, high = axes.get_ylim()
    if len(known) == 1 and low <= (level := known.pop()) <= high:
        drawn = {"color": GREY, "linewidth": 0.6, "linestyle": (0, (1, 2)), "label": CHANCE}
        if axes.name == "polar":
            around = [2 * math.pi * step / CORNERS for step in range(CORNERS + 1)]
            axes.plot(around, [level] * len(around), **drawn)
        else:
            axes.axhline(level, **drawn)


def _scale(values: Sequence[float], score: Score) -> float:
    """1 for shares; of a score without a natural size, the power of ten that holds the differences."""
    span = max(values) - min(values) or max(map(abs, values)) or 1.0
    return float(max(score.highest or 0.0, 10.0 ** math.ceil(math.log10(span) - 1e-9)))


def _possible(score: Score, value: float) -> float:
    low = -math.inf if score.lowest is None else score.lowest
    high = math.inf if score.highest is None else score.highest
    return min(max(value, low), high)
