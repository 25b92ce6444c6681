"""One4All with alpha as a further input, and alpha alone as a control: what they are shown, and training."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from commands import run
from scn import methods, transforms
from scn.experiment.plan import plan_run
from scn.training.recipe import Recipe


@pytest.fixture
def readings(tmp_path: Path) -> Path:
    """The class is told by the light alone: without it nothing can be learnt."""
    rng = np.random.default_rng(0)
    arrays = {}
    for split in ("train", "test"):
        light = 10 * 76 ** rng.random(200)
        arrays[f"x_{split}"] = rng.integers(0, 1000, (200, 3)).astype(np.int16)
        arrays[f"y_{split}"] = (light > 87).astype(np.uint8)
        arrays[f"params_{split}"] = light[:, None].astype(np.float32)
    np.savez(tmp_path / "readings.npz", **arrays)  # type: ignore[arg-type]
    return tmp_path / "readings.npz"


def test_the_control_sees_alpha_alone(readings: Path) -> None:
    light = transforms.get("light")
    params = torch.tensor([[10.0], [760.0]])
    seen = methods.get("alpha-alone")(light).see(torch.randn(4, 3), params)
    assert seen.tolist() == [[0], [0], [1], [1]]
    config = plan_run(str(readings), "light", "mlp", "alpha-alone", Recipe(batch_size=64))
    assert config.backbone["arguments"]["shape"] == [1]
    assert config.normalisation == {"mean": (0.5,), "deviation": (0.5,)}


def test_readings_are_normalised_and_alpha_is_left_as_it_is(readings: Path) -> None:
    config = plan_run(str(readings), "light", "mlp", "one4all-alpha", Recipe(batch_size=64))
    assert config.backbone["arguments"]["shape"] == [3]
    assert len(config.normalisation["mean"]) == 3
    assert config.normalisation["deviation"][0] < 0.02  # of readings below 1000 in a range of 32767


def test_it_uses_what_it_is_told(readings: Path, tmp_path: Path) -> None:
    means = {}
    for method in ("one4all", "one4all-alpha", "alpha-alone"):
        folder = str(tmp_path / method)
        common = [
            "--data",
            str(readings),
            "--transform",
            "light",
            "--batch-size",
            "32",
            "--epochs",
            "20",
            "--set",
            "learning_rate=0.03",
        ]
        assert run("train", *common, "--method", method, "-o", folder).code == 0
        means[method] = json.loads(run("evaluate", folder, "--json").out)["mean"]
    assert min(means["one4all-alpha"], means["alpha-alone"]) > 0.8
    assert means["one4all"] < 0.65  # no more than chance
