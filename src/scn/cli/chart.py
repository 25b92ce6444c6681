"""A chart of plain text: a score over one parameter."""

from __future__ import annotations

from itertools import pairwise

from scn.objectives import Score
from scn.transforms import Parameter

BLOCKS = " ▁▂▃▄▅▆▇█"
WIDTH, HEIGHT = 72, 6


def chart(places: list[float], values: list[float], parameter: Parameter, score: Score) -> str:
    """Columns of blocks, each the mean of the values that fall into it, with both axes labelled."""
    bottom, top = _limits(values, score)
    columns = min(WIDTH, len(values))
    edges = [round(i * len(values) / columns) for i in range(columns + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]
    eighths = [(mean - bottom) / (top - bottom) * HEIGHT * 8 for mean in means]
    labels = {HEIGHT - 1: score.text(top), 0: score.text(bottom)}
    indent = max(map(len, labels.values()))
    lines = []
    for row in reversed(range(HEIGHT)):
        bar = "".join(BLOCKS[max(0, min(8, round(e - 8 * row)))] for e in eighths)
        lines.append(f"{labels.get(row, ''):>{indent}} │{bar}")
    left, right = f"{places[0]:g}", f"{places[-1]:g}"
    title = f"{score.label} over {parameter.name}" + (f" ({parameter.unit})" if parameter.unit else "")
    gap = max(1, (columns - len(left) - len(right) - len(title)) // 2)
    lines.append(" " * (indent + 2) + left + " " * gap + title + " " * gap + right)
    return "\n".join(lines)


def _limits(values: list[float], score: Score) -> tuple[float, float]:
    """The ends of the axis: a little beyond the values, within what the score can be."""
    low, high = min(values), max(values)
    margin = max(0.1 * (high - low), 0.005 * max(abs(low), abs(high))) or 0.005
    bottom = low - margin if score.lowest is None else max(score.lowest, low - margin)
    top = high + margin if score.highest is None else min(score.highest, high + margin)
    return bottom, top
