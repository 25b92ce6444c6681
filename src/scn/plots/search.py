"""The picture of a search: what it reaches and what it takes, against the batch size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scn.plots.comparison import BASELINES
from scn.search.study import Row

BLUE, DARK, SPARE = "#0072b2", "#08306b", "#cc79a7"


def draw_search(rows: Sequence[Row], title: str, path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    sizes = [row.batch_size for row in rows]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    left.plot(sizes, [r.known_accuracy for r in rows], "--", color=DARK, label="setting known")
    left.plot(sizes, [r.accuracy for r in rows], "o-", color=BLUE, label="setting searched")
    for name in rows[0].beside:
        colour = BASELINES.get(name, SPARE)
        left.plot(sizes, [r.beside[name] for r in rows], ":", marker="s", color=colour, label=name)
    left.set(xscale="log", xlabel="inputs that share a setting", ylabel="test accuracy")
    left.legend(fontsize=8)
    right.plot(sizes, [1e3 * r.seconds for r in rows], "o-", color=BLUE)
    for row in rows:
        right.annotate(
            f"{row.evaluations} networks", (row.batch_size, 1e3 * row.seconds), (0, 7),
            textcoords="offset points", ha="center", fontsize=7,
        )  # fmt: skip
    right.set(xscale="log", xlabel="inputs that share a setting", ylabel="milliseconds for one search")
    right.set_ylim(0, 1.25e3 * max(r.seconds for r in rows))
    for axes in (left, right):
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    figure.suptitle(title, fontsize=10)
    figure.savefig(path, dpi=130)
    plt.close(figure)
