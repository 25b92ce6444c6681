"""A run with a handful of test samples: default batches are those that fit, others are refused at once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import run as scn_command
from scn import data, runs
from scn.experiment.plan import plan_run
from scn.runs import Run, backbone_of
from scn.training.recipe import Recipe


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """An SCN as it is drawn, with ten test samples."""
    digits = data.load("digits").arrays
    ends = (("train", 64), ("test", 10))
    arrays = {f"{kind}_{split}": digits[f"{kind}_{split}"][:end] for kind in "xy" for split, end in ends}
    np.savez(tmp_path / "ten.npz", **arrays)  # type: ignore[arg-type]
    recipe = Recipe(epochs=1, batch_size=32, evidence_weight=0.5)
    config = plan_run(str(tmp_path / "ten.npz"), "rotation", "mlp", "scn", recipe, dims=2, sizes={"width": 4})
    made = runs.create(tmp_path / "run", config)
    made.save_network(made.method().build(backbone_of(made)))
    return made


@pytest.mark.parametrize(("more", "sizes"), [((), [1, 2, 4, 8]), (("--samples", "3"), [1, 2])])
def test_a_search_takes_the_sizes_that_its_samples_fill(
    run: Run, more: tuple[str, ...], sizes: list[int]
) -> None:
    done = scn_command("search", str(run.folder), *more, "--json")
    assert done.code == 0, done.err
    assert [row["batch_size"] for row in json.loads(done.out)["rows"]] == sizes
    assert run.search_file("grid").is_file()


def test_an_evaluation_without_a_size_takes_one_that_its_samples_fill(run: Run) -> None:
    done = scn_command("evaluate", str(run.folder), "--invariant", "--step", "90", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["batch_size"] == 10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": "digits"}, "has data digits, but"),
        ({"transform": "scaling"}, "has transform scaling, but"),
        ({"preset": "paper"}, "has preset paper, but"),
        ({"method": "inverse"}, "is a inverse; --beside takes a one4all run"),
    ],
)
def test_a_rival_that_cannot_be_shown_the_same_inputs_is_refused(
    run: Run, change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    rival = runs.create(tmp_path / "rival", replace(run.config, method="one4all", dims=1))
    changed = Run(rival.folder, replace(rival.config, **change))
    changed.write_config()
    changed.save_network(changed.method().build(backbone_of(changed)))
    done = scn_command("search", str(run.folder), "--beside", str(rival.folder), "--json")
    assert (done.code, message in done.err) == (2, True), done.err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            ("search", "--batch-size", "1,16"),
            "must be from 1 to 10, the test samples, but is 16",
        ),
        (("evaluate", "--invariant", "--batch-size", "11"), "fewer test samples than a batch of 11"),
    ],
)
def test_a_size_that_is_too_large_is_refused_before_any_work(
    run: Run, command: tuple[str, ...], message: str
) -> None:
    name, *options = command
    done = scn_command(name, str(run.folder), *options, "--method", "estimator")
    assert (done.code, message in done.err) == (2, True)
    assert "batch size 1:" not in done.err
    assert not run.estimator_file.exists()
