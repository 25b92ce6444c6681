"""A chart of plain text: one value over one parameter."""

from __future__ import annotations

from itertools import pairwise

from scn.transforms import Parameter

BLOCKS = " ▁▂▃▄▅▆▇█"
WIDTH, HEIGHT = 72, 6


def chart(places: list[float], values: list[float], parameter: Parameter) -> str:
    """Columns of blocks, each the mean of the values that fall into it, with both axes labelled."""
    low, high = min(values), max(values)
    margin = max(0.005, 0.1 * (high - low))
    bottom, top = max(0.0, low - margin), min(1.0, high + margin)
    columns = min(WIDTH, len(values))
    edges = [round(i * len(values) / columns) for i in range(columns + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]
    eighths = [(mean - bottom) / (top - bottom) * HEIGHT * 8 for mean in means]
    lines = []
    for row in reversed(range(HEIGHT)):
        label = {HEIGHT - 1: f"{top:.2f}", 0: f"{bottom:.2f}"}.get(row, "")
        bar = "".join(BLOCKS[max(0, min(8, round(e - 8 * row)))] for e in eighths)
        lines.append(f"{label:>5} │{bar}")
    left, right = f"{places[0]:g}", f"{places[-1]:g}"
    title = f"accuracy over {parameter.name}" + (f" ({parameter.unit})" if parameter.unit else "")
    gap = max(1, (columns - len(left) - len(right) - len(title)) // 2)
    lines.append(" " * 7 + left + " " * gap + title + " " * gap + right)
    return "\n".join(lines)
