"""The picture of a search: what it reaches and what it takes, against the batch size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from scn import methods
from scn.objectives import Score
from scn.plots.files import write_figure
from scn.plots.scale import score_axis
from scn.plots.style import BLUE, BLUES, GREY, PURPLE, VERMILION
from scn.search.stream import Stream
from scn.search.study import SearchRow
from scn.transforms import Transform

DARK = BLUES[-1]


def draw_search(rows: Sequence[SearchRow], score: Score, title: str, path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    sizes = [row.batch_size for row in rows]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    left.plot(sizes, [r.known for r in rows], "--", color=DARK, label="setting known")
    left.plot(sizes, [r.reached for r in rows], "o-", color=BLUE, label="setting searched")
    for name in rows[0].beside:
        colour = methods.get(name).colour if name in methods.registry else PURPLE
        left.plot(sizes, [r.beside[name] for r in rows], ":", marker="s", color=colour, label=name)
    left.set(xscale="log", xlabel="inputs that share a setting", ylabel=score_axis(score))
    left.legend(fontsize=8)
    right.plot(sizes, [1e3 * r.seconds for r in rows], "o-", color=BLUE)
    right.set(xscale="log", xlabel="inputs that share a setting", ylabel="milliseconds for one search")
    right.set_title(f"{rows[0].evaluations} networks are shown each input", fontsize=9)
    right.set_ylim(0, 1.25e3 * max(r.seconds for r in rows))
    for axes in (left, right):
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    figure.suptitle(title, fontsize=10)
    write_figure(figure, path, 130)
    plt.close(figure)


def draw_stream(stream: Stream, transform: Transform, title: str, path: Path, most: int = 400) -> None:
    """The true and the believed setting, input by input, for the first part of a stream."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    count = min(most, len(stream.truth))
    across = range(count)
    figure, grid = plt.subplots(
        len(transform.parameters), 1, figsize=(9, 0.8 + 2.4 * len(transform.parameters)),
        squeeze=False, sharex=True, layout="constrained",
    )  # fmt: skip
    for axis, parameter in enumerate(transform.parameters):
        axes = grid[axis, 0]
        true, believed, spread = (
            part[:count, axis] for part in (stream.truth, stream.believed, stream.spread)
        )
        axes.fill_between(across, believed - spread, believed + spread, color=BLUE, alpha=0.15, linewidth=0)
        axes.plot(across, true, ".", color=VERMILION, markersize=4, label="true")
        axes.plot(across, believed, ".", color=BLUE, markersize=2.5, label="believed, with its spread")
        lost = torch.arange(count)[stream.lost[:count]]
        axes.plot(lost, torch.full((len(lost),), parameter.low), "|", color=GREY, label="lost")
        margin = 0.03 * (parameter.high - parameter.low)
        axes.set(
            ylabel=f"{parameter.name} {parameter.unit}".strip(),
            ylim=(parameter.low - margin, parameter.high + margin),
            xlim=(0, count),
        )
        axes.grid(alpha=0.3)
    grid[0, 0].legend(fontsize=8, loc="upper right")
    grid[-1, 0].set_xlabel("input")
    figure.suptitle(title, fontsize=10)
    write_figure(figure, path, 130)
    plt.close(figure)
