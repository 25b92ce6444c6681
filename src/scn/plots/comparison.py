"""The picture of a comparison: accuracy over the parameter, and its distribution for each method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from scn.compare import Outcome
from scn.transforms import Transform

Groups = Mapping[tuple[str, int], Sequence[Outcome]]  # by method and D

# Colours that people with a colour-vision deficiency can tell apart (Okabe and Ito).
BASELINES = {"one4all": "#d55e00", "inverse": "#009e73", "one4one": "#444444"}
BLUES = ("#56b4e9", "#2f8fd0", "#0072b2", "#08519c", "#08306b")


def label(method: str, dims: int) -> str:
    return (
        f"SCN D={dims}"
        if method == "scn"
        else {"one4all": "One4All", "one4one": "One4One"}.get(method, method.capitalize())
    )


def _colours(groups: Groups) -> dict[tuple[str, int], str]:
    """Baselines have colours of their own; SCNs are blue, darker with D."""
    mixed = [key for key in groups if key[0] not in BASELINES]
    spread = [round(i * (len(BLUES) - 1) / max(len(mixed) - 1, 1)) for i in range(len(mixed))]
    blues = {key: BLUES[shade] for key, shade in zip(mixed, spread, strict=True)}
    return {key: blues.get(key) or BASELINES[key[0]] for key in groups}


def draw_comparison(outcomes: Sequence[Outcome], transform: Transform, title: str, path: Path) -> None:
    """Write the picture of what every run reached."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    parameter = transform.parameters[0]
    groups: dict[tuple[str, int], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.method, outcome.dims), []).append(outcome)
    colours = _colours(groups)
    single = len(transform.parameters) == 1
    figure = plt.figure(figsize=(10, 4.2) if single else (6, 4.2), layout="constrained")
    if single:
        left = figure.add_subplot(1, 2, 1, projection="polar" if parameter.periodic else None)
        _draw_curves(left, groups, colours, transform)
    _draw_violins(figure.add_subplot(1, 2 if single else 1, 2 if single else 1), groups, colours)
    figure.suptitle(title, fontsize=10)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _draw_curves(axes: Any, groups: Groups, colours: dict[Any, str], transform: Transform) -> None:
    parameter = transform.parameters[0]
    for key, runs in groups.items():
        places = torch.tensor(runs[0].params)[:, 0]
        if len(places) == 1:  # trained and tested under one setting: a point for each
            x = torch.tensor([run.params[0][0] for run in runs])
            y = torch.tensor([run.accuracy[0] for run in runs])
            axes.plot(_angle(x, parameter), y, "o", color=colours[key], markersize=4, label=label(*key))
            continue
        mean = torch.tensor([run.accuracy for run in runs]).mean(dim=0)
        if parameter.periodic:  # close the circle
            places, mean = torch.cat([places, places[:1]]), torch.cat([mean, mean[:1]])
        axes.plot(_angle(places, parameter), mean, color=colours[key], label=label(*key), linewidth=1.6)
    lowest = min(min(run.accuracy) for runs in groups.values() for run in runs)
    highest = max(max(run.accuracy) for runs in groups.values() for run in runs)
    axes.set_ylim(lowest - 0.15 * (highest - lowest) - 0.01, highest + 0.01)
    axes.grid(alpha=0.3)
    if parameter.periodic:
        axes.set_title("accuracy over " + parameter.name, fontsize=9)
        axes.tick_params(labelsize=8)
        axes.set_rlabel_position(22)
    else:
        axes.set_xlabel(f"{parameter.name} {parameter.unit}".strip())
        axes.set_ylabel("test accuracy")
    if parameter.periodic:
        axes.legend(fontsize=7, loc="lower left", bbox_to_anchor=(-0.28, -0.12))
    else:
        axes.legend(fontsize=7, loc="best")


def _angle(values: Any, parameter: Any) -> Any:
    return values.deg2rad() if parameter.periodic else values


def _draw_violins(axes: Any, groups: Groups, colours: dict[Any, str]) -> None:
    for place, (key, runs) in enumerate(groups.items()):
        values = [accuracy for run in runs for accuracy in run.accuracy]
        mean = sum(run.mean for run in runs) / len(runs)
        parts = axes.violinplot(values, [place], widths=0.8, showextrema=False)
        for body in parts["bodies"]:
            body.set(facecolor=colours[key], alpha=0.6)
        axes.plot([place], [mean], "o", color=colours[key], markeredgecolor="white", markersize=6)
        axes.annotate(
            f"{mean:.3f}",
            (place, mean),
            (0, 9),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
    axes.set_xticks(range(len(groups)), [label(*key) for key in groups], rotation=30, ha="right", fontsize=8)
    axes.set_ylabel("test accuracy under all settings")
    axes.grid(axis="y", alpha=0.3)
