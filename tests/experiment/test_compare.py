"""Comparisons: every run, none twice, and a table that says what the runs say."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from commands import run
from scn import transforms
from scn.experiment.compare import plan
from scn.experiment.plan import plan_run
from scn.objectives.classification import ACCURACY
from scn.runs import RunConfig
from scn.runs.outcome import Outcome, table
from scn.training.recipe import Recipe

SMALL = ("--width", "8", "--epochs", "3", "--batch-size", "32", "--step", "90", "--quiet")


def compare(data: str, folder: Path, *more: str) -> dict[str, object]:
    arguments = ("compare", "--data", data, *SMALL, "-o", str(folder), "--json", *more)
    result = run(*arguments)
    assert result.code == 0, result.err
    assert f"the report is {folder / 'report.html'}" in result.err
    return json.loads(result.out)


def test_a_comparison_trains_evaluates_and_draws(small_data: str, tmp_path: Path) -> None:
    chosen = ("--methods", "scn,one4all", "--dims", "1,3", "--seeds", "2")
    content = compare(small_data, tmp_path / "c", *chosen)
    rows = {(row["method"], row["dims"]): row for row in content["rows"]}  # type: ignore[attr-defined]
    assert set(rows) == {("scn", 1), ("scn", 3), ("one4all", 1)}
    weights = 1024 * 8 + 8 + 8 * 10 + 10
    assert {row["inference"] for row in rows.values()} == {weights}
    assert rows["one4all", 1]["parameters"] == weights
    assert rows["scn", 3]["parameters"] == 3 * weights + 387
    means = []
    for seed in (0, 1):
        lines = (tmp_path / "c" / f"scn-d3-seed{seed}" / "scores.csv").read_text().splitlines()[1:]
        means.append(np.mean([float(line.split(",")[-1]) for line in lines]))
    assert rows["scn", 3]["mean"] == pytest.approx(np.mean(means))
    assert rows["scn", 3]["std"] == pytest.approx(np.std(means, ddof=1))
    assert (tmp_path / "c" / "comparison.png").stat().st_size > 10_000
    assert "SCN D=3" in (tmp_path / "c" / "report.html").read_text()

    trained = {p: p.stat().st_mtime_ns for p in (tmp_path / "c").glob("*/model.safetensors")}
    more = compare(
        small_data, tmp_path / "c", "--methods", "scn,one4all,one4one", "--dims", "3", "--seeds", "2"
    )
    assert all(p.stat().st_mtime_ns == before for p, before in trained.items())
    assert [r["method"] for r in more["rows"]] == ["scn", "one4all", "one4one"]  # type: ignore[attr-defined]

    other = run(
        "compare", "--data", small_data, *SMALL, "--epochs", "5", "--seeds", "1", "-o", str(tmp_path / "c")
    )
    assert other.code == 2
    assert "holds a run with another epochs" in other.err


def test_the_plan_has_every_run_once() -> None:
    def make(method: str, **more: Any) -> RunConfig:
        return plan_run("digits", "rotation", "mlp", method, Recipe(), **more)

    several = ["scn", "one4all", "inverse", "one4one"]
    jobs = plan(make, transforms.get("rotation"), several, [1, 8], range(2))
    names = [job.name for job in jobs]
    assert len(names) == len(set(names)) == 2 * (2 + 1 + 1) + 5
    assert "scn-d8-seed1" in names
    assert "one4one-180-seed0" in names
    assert all(job.config.recipe == jobs[0].config.recipe for job in jobs)


def test_each_method_gets_a_backbone_for_what_it_sees() -> None:
    """A slowed clip is longer; undone, it has its old length."""

    def make(method: str, **more: Any) -> RunConfig:
        return plan_run(str(path), "speed", "m5", method, Recipe(batch_size=8), **more)

    with TemporaryDirectory() as folder:
        path = Path(folder) / "waves.npz"
        x, y = np.zeros((40, 2000), np.int16), np.arange(40) % 4
        np.savez(path, x_train=x, y_train=y, x_test=x, y_test=y, sample_rate=8000)
        jobs = plan(make, transforms.get("speed"), ["one4all", "inverse"], [1], range(1))
    assert [job.config.backbone["arguments"]["shape"] for job in jobs] == [[1, 8000], [1, 2000]]


def test_the_spread_is_over_seeds_and_not_over_settings() -> None:
    outcomes = [
        Outcome("scn", 3, seed, 10, 5, [[0.0], [1.0]], [low, 0.9], (low + 0.9) / 2)
        for seed, low in ((0, 0.5), (1, 0.6))
    ]
    (row,) = table(outcomes, ACCURACY)
    assert row.mean == pytest.approx(0.725)
    assert row.std == pytest.approx(0.05 / 2**0.5)
    assert row.worst == pytest.approx(0.55)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "scn,oneforall"], 'there is no method "oneforall"'),
        (["--dims", "0"], "--dims must be at least 1, but got 0"),
        (["--dims", "three"], "--dims takes whole numbers separated by commas"),
        (["--seeds", "0"], "seeds must be at least 1"),
        (["--step", "7"], "does not divide the range"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = run("compare", *arguments, "-o", str(tmp_path / "c"))
    assert result.code == 2
    assert message in result.err


def test_nothing_goes_on_when_the_command_is_killed(tmp_path: Path) -> None:
    call = [sys.executable, "-c", "from scn.cli.main import main; main()", "compare", "--epochs", "5000"]
    chosen = ("--methods", "scn", "--dims", "1,2,3", "--seeds", "1", "-o", str(tmp_path / "all"), "--quiet")
    process = subprocess.Popen([*call, *chosen])
    metrics = tmp_path / "all" / "scn-d1-seed0" / "metrics.jsonl"
    while not metrics.exists() or not metrics.read_text():
        time.sleep(0.1)
    process.kill()
    process.wait()
    time.sleep(1.0)
    before = metrics.read_text()
    time.sleep(1.0)
    assert metrics.read_text() == before
