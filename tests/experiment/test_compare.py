"""Comparisons: every run, none twice, and a table that says what the runs say."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from commands import in_this_process, run
from scn import transforms
from scn.cli import progress
from scn.experiment.compare import carry_out
from scn.experiment.jobs import Evaluation, Job, plan_jobs
from scn.experiment.plan import plan_run
from scn.experiment.train import epochs_trained
from scn.objectives.classification import ACCURACY
from scn.runs import Run, RunConfig
from scn.runs.collection import LoadedRun
from scn.runs.outcome import Outcome, table
from scn.training.recipe import Recipe

TEST = Evaluation(transforms.get("rotation").grid(4))
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
    assert rows["scn", 3]["parameters"] == 3 * weights
    means = []
    for seed in (0, 1):
        lines = (tmp_path / "c" / f"scn-d3-seed{seed}" / "scores.csv").read_text().splitlines()[1:]
        means.append(np.mean([float(line.split(",")[-1]) for line in lines]))
    assert rows["scn", 3]["mean"] == pytest.approx(np.mean(means))
    assert rows["scn", 3]["std"] == pytest.approx(np.std(means, ddof=1))
    assert (tmp_path / "c" / "comparison.png").stat().st_size > 10_000
    assert "SCN D=3" in (tmp_path / "c" / "report.html").read_text()

    trained = {p: p.stat().st_mtime_ns for p in (tmp_path / "c").glob("*/model.safetensors")}
    three = ("--methods", "scn,one4all,one4one", "--dims", "3", "--seeds", "2")
    with in_this_process():
        more = compare(small_data, tmp_path / "c", *three)
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
    jobs = plan_jobs(make, transforms.get("rotation"), several, [1, 8], range(2), TEST)
    names = [job.name for job in jobs]
    assert len(names) == len(set(names)) == 2 * (2 + 1 + 1) + 5
    assert "scn-d8-seed1" in names
    assert "one4one-180-seed0" in names
    of_maps = {"base_noise", "together"}  # what a map with places has of its own
    recipes = [{k: v for k, v in job.config.recipe.items() if k not in of_maps} for job in jobs]
    assert all(recipe == recipes[0] for recipe in recipes)


def test_with_one_setting_methods_that_can_are_trained_for_it() -> None:
    def make(method: str, **more: Any) -> RunConfig:
        return plan_run("digits", "rotation", "mlp", method, Recipe(), **more)

    several = ["scn", "one4one", "safn", "source-only"]
    jobs = plan_jobs(make, transforms.get("rotation"), several, [3], range(2), TEST, fixed=[90.0])
    found = {job.name: job.config.fixed for job in jobs}
    assert found == {
        f"{name}-seed{seed}": fixed
        for seed in range(2)
        for name, fixed in (
            ("scn-d3", None),
            ("one4one-90", [90.0]),
            ("safn-90", [90.0]),
            ("source-only", None),
        )
    }


@pytest.mark.usefixtures("without_processes")
def test_a_comparison_under_one_setting_tests_nothing_else(small_data: str, tmp_path: Path) -> None:
    call = ("compare", "--data", small_data, *SMALL[:-3], "--methods", "scn,safn", "--dims", "2", "--quiet")
    result = run(*call, "--seeds", "1", "--fixed", "90", "--json", "-o", str(tmp_path / "c"))
    assert result.code == 0, result.err
    assert [row["settings"] for row in json.loads(result.out)["rows"]] == [1, 1]
    for name in ("scn-d2-seed0", "safn-90-seed0"):
        assert (tmp_path / "c" / name / "scores.csv").read_text().splitlines()[1].startswith("90")
    for wrong, message in (
        (["--fixed", "90,10"], "params must have 1 value(s)"),
        (["--preset", "half-turn", "--fixed", "200"], "--fixed: 1 of 1 values (200) lie outside the range"),
        (["--transform", "light", "--fixed", "20"], "comes with the data"),
    ):
        result = run(*call, *wrong, "-o", str(tmp_path / "d"))
        assert (result.code, message in result.err) == (2, True), result.err


def test_how_much_was_learned_in_the_last_fifth(tmp_path: Path) -> None:
    config = plan_run("digits", "rotation", "mlp", "one4all", Recipe(epochs=40))
    (tmp_path / "run").mkdir()
    one = LoadedRun(Run(tmp_path / "run", config))
    assert one.late_gain is None
    path = tmp_path / "run" / "metrics.jsonl"

    def write(values: list[float | None]) -> None:
        path.write_text("".join(json.dumps({"validation_accuracy": value}) + "\n" for value in values))

    for values, expected in (
        ([0.5] * 32 + [0.6] * 6 + [0.7] * 2, 0.2),
        ([0.5] * 40, 0.0),
        ([0.9] * 19, None),
        ([None] * 40, None),
    ):
        write(list(values))
        found = LoadedRun(one.run).late_gain
        assert found == (None if expected is None else pytest.approx(expected))


def test_where_no_method_can_do_it_the_reason_is_said(tmp_path: Path) -> None:
    path = tmp_path / "floats.npz"
    x, y = np.zeros((40, 4), np.float64), np.arange(40) % 4
    np.savez(path, x_train=x, y_train=y, x_test=x, y_test=y)
    result = run("compare", "--data", str(path), "--methods", "all", "-o", str(tmp_path / "c"))
    assert (result.code, "no method can do this: floats: x_train must be" in result.err) == (2, True)


def test_each_method_gets_a_backbone_for_what_it_sees() -> None:
    """A slowed clip is longer; undone, it has its old length."""

    def make(method: str, **more: Any) -> RunConfig:
        return plan_run(str(path), "speed", "m5", method, Recipe(batch_size=8), **more)

    with TemporaryDirectory() as folder:
        path = Path(folder) / "waves.npz"
        x, y = np.zeros((40, 2000), np.int16), np.arange(40) % 4
        np.savez(path, x_train=x, y_train=y, x_test=x, y_test=y, sample_rate=8000)
        jobs = plan_jobs(make, transforms.get("speed"), ["one4all", "inverse"], [1], range(1), TEST)
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


def test_nothing_goes_on_when_the_command_is_killed(small_data: str, tmp_path: Path) -> None:
    call = [sys.executable, "-c", "from scn.cli.main import main; main()", "compare", "--epochs", "5000"]
    chosen = ("--methods", "scn", "--dims", "1,2,3", "--seeds", "1", "-o", str(tmp_path / "all"), "--quiet")
    process = subprocess.Popen([*call, "--data", small_data, *chosen])
    metrics = tmp_path / "all" / "scn-d1-seed0" / "metrics.jsonl"
    while not metrics.exists() or not metrics.read_text():
        time.sleep(0.1)
    process.kill()
    process.wait()
    time.sleep(1.0)
    before = metrics.read_text()
    time.sleep(1.0)
    assert metrics.read_text() == before


def test_a_run_that_fails_is_named_and_the_others_are_kept(small_data: str, tmp_path: Path) -> None:
    folder, chosen = tmp_path / "c", ("--methods", "scn,one4all", "--dims", "1,2", "--seeds", "1")
    with in_this_process():
        compare(small_data, folder, *chosen)
    (folder / "scn-d1-seed0" / "model.safetensors").write_bytes(b"nonsense")
    (folder / "one4all-seed0" / "model.safetensors").unlink()
    result = run("compare", "--data", small_data, *SMALL, "-o", str(folder), *chosen, "--jobs", "1")
    assert result.code == 1
    assert "Traceback" not in result.err
    assert "1 of 3 runs failed" in result.err
    assert "scn-d1-seed0: " in result.err
    assert (folder / "one4all-seed0" / "model.safetensors").is_file()


@pytest.mark.usefixtures("without_processes")
def test_progress_is_plain_lines_where_there_is_no_terminal(
    small_data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LOOK_SECONDS", 0.01)
    arguments = ("compare", "--data", small_data, *SMALL[:-1], "--methods", "one4all", "--seeds", "1")
    result = run(*arguments, "--epochs", "30", "-o", str(tmp_path / "c"))
    assert result.code == 0, result.err
    lines = result.err.splitlines()
    assert lines[0] == "one4all-seed0: begun"
    assert lines[1].startswith("one4all-seed0: 0.")
    assert "(1/1 runs, " in lines[1]


def test_time_left_is_estimated_from_what_this_call_has_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = plan_run("digits", "rotation", "mlp", "one4all", Recipe(epochs=10))
    jobs = [Job(name, config, TEST) for name in ("a", "b", "c")]
    clock = [100.0]
    monkeypatch.setattr("scn.cli.progress.time.monotonic", lambda: clock[0])

    def write(name: str, epochs: int) -> None:
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "metrics.jsonl").write_text("{}\n" * epochs)

    said: list[str] = []
    write("a", 10)  # of an earlier call
    watched = progress._Watched(jobs, tmp_path, said.append, regular=True)
    watched.end("a", "0.9")
    write("b", 5)
    clock[0] += 31
    watched.look()
    assert said == ["a: 0.9  (1/3 runs, 0 s)", "b: begun", "1/3 runs, 31 s, about 1 min 33 s left"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--jobs", "0"], "--jobs"),
        (["--dims", "3,0"], "--dims must be at least 1, but got 0"),
        (["--seeds", "-1"], "--seeds must be at least 1, but is"),
    ],
)
def test_numbers_below_one_are_refused(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = run("compare", *arguments, "-o", str(tmp_path / "c"))
    assert result.code == 2
    assert message in result.err
    assert not (tmp_path / "c").exists()


@pytest.mark.usefixtures("without_processes")
def test_a_place_that_cannot_hold_a_comparison_is_refused(small_data: str, tmp_path: Path) -> None:
    arguments = ("compare", "--data", small_data, *SMALL, "--methods", "one4all", "--seeds", "1", "-o")
    (tmp_path / "file").touch()
    result = run(*arguments, str(tmp_path / "file"))
    assert (result.code, "is a file: choose a folder" in result.err) == (2, True)
    (tmp_path / "empty").mkdir()
    assert run(*arguments, str(tmp_path / "empty")).code == 0
    result = run(*arguments, str(tmp_path / "empty" / "one4all-seed0"))
    assert (result.code, "is a run: choose another folder" in result.err) == (2, True)


@pytest.mark.usefixtures("without_processes")
def test_nothing_is_made_where_another_comparison_is(small_data: str, tmp_path: Path) -> None:
    call = ("compare", "--data", small_data, *SMALL, "--seeds", "1", "-o", str(tmp_path / "c"), "--methods")
    assert run(*call, "one4all").code == 0
    result = run(*call, "inverse,one4all", "--epochs", "4")
    assert (result.code, "holds a run with another epochs" in result.err) == (2, True)
    assert not (tmp_path / "c" / "inverse-seed0").exists()


def test_an_interrupted_comparison_keeps_its_checkpoints_and_goes_on(small_data: str, tmp_path: Path) -> None:
    """Ctrl-C reaches the command and its workers alike; each writes what it has.

    A script starts what runs in its background deaf to Ctrl-C: the command must hear it all the same, or
    else it would take the workers that stop for workers that failed.
    """
    deaf = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
    call = [sys.executable, "-c", f"{deaf}; from scn.cli.main import main; main()", "compare"]
    chosen = ("--methods", "scn", "--dims", "1,2,3", "--seeds", "1", "--jobs", "2", "--epochs", "3000")
    place = ("--data", small_data, "-o", str(tmp_path / "c"))
    process = subprocess.Popen(
        [*call, *chosen, *place], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    folders = [tmp_path / "c" / f"scn-d{d}-seed0" for d in (1, 2)]
    while not all((one / "metrics.jsonl").is_file() and epochs_trained(one) for one in folders):
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=180)
    assert process.returncode == 130
    assert "stopped; the same command goes on" in err
    assert "Traceback" not in err
    assert all((one / "checkpoint" / "state.safetensors").is_file() for one in folders)
    assert not (tmp_path / "c" / "scn-d3-seed0").exists()


def test_a_run_that_was_tested_on_other_samples_is_tested_again(small_data: str, tmp_path: Path) -> None:
    config = plan_run(
        small_data, "rotation", "mlp", "one4all", Recipe(epochs=1, batch_size=32), sizes={"width": 4}
    )
    for samples, tested_on in ((20, 20), (0, 100), (200, 100)):  # 0 and too many are all of them
        test = Evaluation(transforms.get("rotation").grid(4), samples)
        carry_out(tmp_path, Job("run", config, test))
        assert json.loads((tmp_path / "run" / "evaluation.json").read_text())["samples"] == tested_on
