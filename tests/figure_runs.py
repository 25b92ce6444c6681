"""Small runs, really trained, for the tests of figures, and what a figure holds, in words."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

import scn
from scn import transforms
from scn.experiment.compare import carry_out
from scn.experiment.jobs import Evaluation, Job
from scn.experiment.plan import plan_run
from scn.training.recipe import Recipe

RECIPE = Recipe(epochs=2, batch_size=32)
SETTINGS = {"rotation": 8, "scaling": 5, "translation": 3, "rotation-3d": 2, "light": 4, "speed": 2}


def make_run(
    folder: Path, data: str, transform: str, method: str = "scn", backbone: str = "mlp", **more: Any
) -> Path:
    """One run, trained and evaluated."""
    width, depth = more.pop("width", 4), more.pop("depth", None)
    sizes = {"width": width} | ({"depth": depth} if depth else {})
    recipe = more.pop("recipe", RECIPE)
    config = plan_run(data, transform, backbone, method, recipe, sizes=sizes, **more)
    evaluation = Evaluation(transforms.get(transform).grid(SETTINGS[transform]))
    carry_out(folder.parent, Job(folder.name, config, evaluation))
    return folder


@functools.lru_cache
def make_all(base: Path) -> dict[str, Path]:
    """Folders of runs, by transform: each with SCNs and a baseline or more."""
    root, files = base / "figures", _data_files(base / "figure-data")
    for transform, data in files.items():
        folder = root / transform
        backbone = "m5" if transform == "speed" else "mlp"
        make_run(folder / "scn-d2", data, transform, dims=2, backbone=backbone)
        make_run(folder / "one4all", data, transform, "one4all", backbone=backbone)
    rotation = root / "rotation"
    for dims, seed in ((1, 0), (2, 1), (9, 0)):
        make_run(rotation / f"scn-d{dims}-seed{seed}", files["rotation"], "rotation", dims=dims, seed=seed)
    make_run(rotation / "inverse", files["rotation"], "rotation", "inverse")
    for angle in (36.0, 108.0):
        make_run(rotation / f"one4one-{angle:g}", files["rotation"], "rotation", "one4one", fixed=[angle])
    for fixed in ([-4.0, -4.0], [4.0, 4.0]):
        name = "one4one" + "_".join(f"{value:g}" for value in fixed)
        make_run(root / "translation" / name, files["translation"], "translation", "one4one", fixed=fixed)
    for name, dims in (("learned", 3), ("nodes", 3), ("fourier", 5), ("experts", 5)):
        folder = root / "learned" if name == "learned" else root / "maps"
        make_run(folder / f"scn-d{dims}-{name}", files["rotation"], "rotation", dims=dims, map=name)
    for subspace in ("factored:2", "low-rank:1"):
        folder = root / "maps" / f"scn-{subspace.replace(':', '.')}"
        make_run(folder, files["rotation"], "rotation", dims=3, map="nodes", subspace=subspace)
    for width, depth in ((2, None), (8, None), (4, 2)):
        for method in ("scn", "one4all"):
            name = f"{method}-{width}-{depth or 1}"
            more: dict[str, Any] = {"dims": 2} if method == "scn" else {}
            make_run(
                root / "sizes" / name, files["rotation"], "rotation", method, width=width, depth=depth, **more
            )
    return {folder.name: folder for folder in root.iterdir()}


def _data_files(folder: Path) -> dict[str, str]:
    """A data file for each transform: digits, and small made-up sets of solids, readings and sounds."""
    folder.mkdir(parents=True)
    digits, rng = scn.data.load("digits").arrays, np.random.default_rng(0)
    count, labels = {"train": 320, "test": 60}, {}
    content: dict[str, dict[str, Any]] = {
        "digits": {},
        "solids": {},
        "readings": {},
        "sounds": {"sample_rate": 8000},
    }
    for split, size in count.items():
        few = size // 4
        labels[split] = np.arange(few) % 2
        content["digits"] |= {f"{axis}_{split}": digits[f"{axis}_{split}"][:size] for axis in "xy"}
        points = rng.uniform(-12000, 12000, (few, 64, 3)) * np.where(labels[split], 1.0, 0.3)[:, None, None]
        values = rng.integers(0, 30000, (few, 3))
        waves = rng.integers(-9000, 9000, (few, 1000)) * (1 + 2 * labels[split][:, None])
        light = np.linspace(10, 760, few)[:, None]
        content["readings"][f"params_{split}"] = light
        for name, x in (("solids", points), ("readings", values), ("sounds", waves)):
            content[name] |= {f"x_{split}": x.astype(np.int16), f"y_{split}": labels[split]}
    for name, arrays in content.items():
        np.savez(folder / f"{name}.npz", **arrays)
    forms = dict.fromkeys(("rotation", "scaling", "translation"), "digits")
    forms |= {"rotation-3d": "solids", "light": "readings", "speed": "sounds"}
    return {transform: str(folder / f"{name}.npz") for transform, name in forms.items()}


def describe(figure: Any) -> dict[str, Any]:
    """What a figure holds: texts without the numbers that were measured, and how much of what."""
    return {
        "size": [round(float(side), 2) for side in figure.get_size_inches()],
        "title": _words(figure.get_suptitle()),
        "legend": [_words(text.get_text()) for legend in figure.legends for text in legend.get_texts()],
        "axes": _counted([_axes(axes) for axes in figure.axes if axes.get_visible()]),
    }


def _counted(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Axes that are like those before them as a number."""
    return [
        {**first, "times": times} if (times := len(list(alike))) > 1 else first
        for first, alike in ((key, group) for key, group in itertools.groupby(found))
    ]


def _axes(axes: Any) -> dict[str, Any]:
    named = [line for line in axes.lines if not line.get_label().startswith("_")]
    legend = axes.get_legend()
    found: Mapping[str, Any] = {
        "kind": axes.name,
        "title": _words(axes.get_title()),
        "labels": [_words(axes.get_xlabel()), _words(axes.get_ylabel())],
        "lines": [f"{line.get_label()}: {len(np.atleast_1d(line.get_data()[0]))}" for line in named],
        "other lines": len(axes.lines) - len(named),
        "areas": [type(area).__name__.removeprefix("FillBetween") for area in axes.collections],
        "bars": len(
            [bar for container in axes.containers for bar in container if hasattr(bar, "get_height")]
        ),
        "images": [list(image.get_array().shape) for image in axes.images],
        "legend": [text.get_text() for text in legend.get_texts()] if legend else [],
    }
    return {name: value for name, value in found.items() if value}


def _words(text: str) -> str:
    return re.sub(r"(?<=unit )\d+|(?<=centre )[\d.]+|(?<=mean )[\d.]+|(?<=±)[\d.e-]+", "#", text)


def table(folder: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """params (N, P) and accuracy (N,) as scores.csv has them."""
    rows = np.loadtxt(folder / "scores.csv", delimiter=",", skiprows=1, ndmin=2)
    header = (folder / "scores.csv").read_text().splitlines()[0].split(",")
    count = header.index("alpha_1")
    return torch.from_numpy(rows[:, :count]), torch.from_numpy(rows[:, -1])
