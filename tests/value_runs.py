"""Small runs that predict values instead of classes, really trained and evaluated."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import scn
from scn import runs
from scn.experiment.plan import plan_run
from scn.experiment.train import train
from scn.runs import backbone_of
from scn.runs.evaluation import evaluate_run
from scn.runs.scores import write_scores
from scn.training.recipe import Recipe

RECIPE = Recipe(epochs=6, batch_size=64, learning_rate=0.01)


def write_data(path: Path, targets: int = 1) -> str:
    """Digits, labelled by how much ink their upper half has (and the left half, for two targets)."""
    digits = scn.data.load("digits").arrays
    content = {
        "targets": np.array(["top", "left"][:targets]),
        "target_units": np.array(["mV", "kPa"][:targets]),
    }
    for split, count in (("train", 320), ("test", 60)):
        x = digits[f"x_{split}"][:count]
        flat = x.reshape(count, *x.shape[-2:]).astype(np.float32)
        ink = np.stack(
            [flat[:, : flat.shape[1] // 2].mean((1, 2)), flat[..., : flat.shape[2] // 2].mean((1, 2))]
        )
        content |= {f"x_{split}": x, f"y_{split}": ink[:targets].T}
    np.savez(path, **content)  # type: ignore[arg-type]
    return str(path)


def make_runs(folder: Path, objective: str = "regression", targets: int = 1) -> Path:
    """An SCN and a One4All, in one folder."""
    folder.mkdir(parents=True)
    data = write_data(folder / "ink.npz", targets)
    for method, dims in (("scn", 2), ("one4all", 1)):
        config = plan_run(
            data, "rotation", "mlp", method, RECIPE, dims=dims, objective=objective, sizes={"width": 8}
        )
        run = runs.create(folder / method, config)
        net = train(run, backbone_of(run), device="cpu", prefetch=False)
        write_scores(run.folder, evaluate_run(run, net, run.transform().grid(9)), run.transform())
    return folder
