"""The commands as a user meets them: output, files, exit codes and errors."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from commands import run
from published_files import checkpoint
from scn import SCN, runs
from scn.cli.chart import chart
from scn.objectives import Score
from scn.objectives.classification import ACCURACY
from scn.objectives.regression import MAE, R2
from scn.transforms import Parameter


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    """A run with random weights, to be evaluated on the embedded digits."""
    np.savez(tmp_path / "c.npz", **checkpoint(widths=(1024, 4, 10)))  # type: ignore[arg-type]
    result = run("import", str(tmp_path / "c.npz"), "-o", str(tmp_path / "run"), "--data", "digits")
    assert result.code == 0, result.err
    assert "SCN with D=2 base models of 4,150 weights" in result.out
    return tmp_path / "run"


def test_import_makes_a_run_folder(imported: Path) -> None:
    config = json.loads((imported / "config.json").read_text())
    assert config["method"] == "scn"
    assert (config["data"], config["transform"], config["preset"]) == ("digits", "rotation", "paper")
    assert set(config["versions"]) >= {"scn", "torch", "python"}
    assert config["source"]["imported"] == "c.npz"
    network = runs.read(imported).network()
    assert isinstance(network, SCN)
    assert network.dims == 2


def test_import_refuses_a_folder_that_holds_a_run(imported: Path) -> None:
    result = run("import", str(imported.parent / "c.npz"), "-o", str(imported))
    assert result.code == 2
    assert "holds a run already" in result.err


def test_evaluate_writes_a_table_and_prints_a_chart(imported: Path) -> None:
    result = run("evaluate", str(imported), "--step", "30")
    assert result.code == 0, result.err
    assert "12 settings, 450 test samples, preset paper" in result.out
    assert "█" in result.out
    assert "accuracy over angle (degrees)" in result.out
    rows = list(csv.DictReader((imported / "scores.csv").read_text().splitlines()))
    assert list(rows[0]) == ["angle", "alpha_1", "alpha_2", "accuracy"]
    assert [float(row["angle"]) for row in rows] == list(range(0, 360, 30))
    summary = json.loads((imported / "evaluation.json").read_text())
    assert summary["samples"] == 450
    assert summary["mean"] == pytest.approx(np.mean([float(row["accuracy"]) for row in rows]))


def test_evaluate_prints_one_json_object(imported: Path) -> None:
    result = run("evaluate", str(imported), "--step", "90", "--json")
    content = json.loads(result.out)
    assert set(content) >= {"mean", "min", "max", "params", "accuracy"}
    assert content["params"] == [[0.0], [90.0], [180.0], [270.0]]
    assert content["min"] == min(content["accuracy"])
    assert content["max"] == max(content["accuracy"])


def test_special_evaluations_have_files_of_their_own(imported: Path) -> None:
    run("evaluate", str(imported), "--step", "90")
    before = (imported / "scores.csv").read_bytes()
    run("evaluate", str(imported), "--step", "90", "--preset", "default", "--fixed", "30")
    run("evaluate", str(imported), "--step", "90", "--fixed", "-45")
    assert (imported / "scores.csv").read_bytes() == before
    assert (imported / "scores-fixed--45.csv").is_file()
    rows = list(csv.DictReader((imported / "scores-default-fixed-30.csv").read_text().splitlines()))
    assert {row["alpha_2"] for row in rows} == {"0.5"}


def test_results_go_to_standard_output_and_messages_to_standard_error(imported: Path) -> None:
    result = run("evaluate", str(imported), "--step", "90")
    assert "wrote" in result.err
    assert "wrote" not in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--step", "7"], "a step of 7 does not divide the range of angle, 0 to 360 degrees"),
        (["--step", "0"], "must be positive"),
        (["--step", "x"], "--step"),
        (["--preset", "exact"], 'no preset "exact". Known: default, paper'),
        (["--fixed", "north"], "--fixed takes numbers separated by commas, but got 'north'"),
        (["--fixed", "1,2"], "params must have 1 value(s) in a row (angle)"),
        (["--fixed", "nan"], "finite"),
        (["--unknown"], "unknown"),
    ],
)
def test_wrong_usage_of_evaluate(imported: Path, arguments: list[str], message: str) -> None:
    result = run("evaluate", str(imported), *arguments)
    assert result.code == 2
    assert message in result.err
    assert "Traceback" not in result.err


def test_wrong_runs(imported: Path, tmp_path: Path) -> None:
    assert "is not a run: it has no config.json" in run("evaluate", str(tmp_path / "none")).err
    (imported / "model.safetensors").write_bytes(b"nonsense")
    damaged = run("evaluate", str(imported))
    assert damaged.code == 2
    assert "is not a model file of scn, or is damaged" in damaged.err
    config = json.loads((imported / "config.json").read_text())
    newer = {**config, "recipe": {**config["recipe"], "warmth": 3}}
    (imported / "config.json").write_text(json.dumps(newer))
    said = run("evaluate", str(imported)).err
    assert "its recipe has warmth, which this scn does not know: use a newer one" in said
    (imported / "config.json").write_text("{}")
    assert "is not the description of a run" in run("evaluate", str(imported)).err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.npz", "-o", "run"], "there is no checkpoint none.npz"),
        (["none.npz", "-o", "run", "--data", "digit"], 'Did you mean "digits"?'),
        (["none.npz", "-o", "run", "--transform", "rotate"], 'Did you mean "rotation"?'),
        (["none.npz"], "--output"),
    ],
)
def test_wrong_usage_of_import(arguments: list[str], message: str) -> None:
    result = run("import", *arguments)
    assert result.code == 2
    assert message in result.err


def test_a_checkpoint_for_another_transform(tmp_path: Path) -> None:
    arrays = checkpoint()
    arrays["hyper_stack.0.weight"] = np.zeros((64, 3), np.float32)
    np.savez(tmp_path / "c.npz", **arrays)  # type: ignore[arg-type]
    result = run("import", str(tmp_path / "c.npz"), "-o", str(tmp_path / "run"))
    assert result.code == 2
    assert "takes 3 alpha values, but rotation encodes 2" in result.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command", ["import", "evaluate"])
def test_help_explains_with_an_example(command: str) -> None:
    result = run(command, "--help")
    assert result.code == 0
    assert f"Example: scn {command}" in result.out


ANGLE = Parameter("angle", 0, 360, "degrees", periodic=True)


def heights_of(drawn: str) -> list[int]:
    """How many blocks each column of a chart has."""
    bars = [line.split("│")[1] for line in drawn.splitlines()[:-1]]
    return [sum(bar[i] != " " for bar in bars) for i in range(len(bars[0]))]


def test_a_chart_of_one_value_and_of_many() -> None:
    assert "0.5" in chart([0.0], [0.5], ANGLE, ACCURACY)
    assert chart([0.0, 330.0], [0.5, 0.6], ANGLE, ACCURACY).splitlines()[-1].split() == [
        *["0", "accuracy", "over", "angle", "(degrees)", "330"]
    ]
    places = [float(i) for i in range(1000)]
    heights = heights_of(chart(places, [place / 1000 for place in places], ANGLE, ACCURACY))
    assert heights == sorted(heights)
    assert heights[0] < heights[-1]


@pytest.mark.parametrize(
    ("score", "values"),
    [(R2, [-2.0, -1.0, 0.9]), (MAE, [20.0, 30.0, 40.0]), (MAE, [1e-4, 2e-4, 3e-4]), (MAE, [0.0, 0.0, 0.0])],
)
def test_a_chart_shows_any_score_whole(score: Score, values: list[float]) -> None:
    """A share of the variance may be below 0, and an error above 1 or far below."""
    drawn = chart([0.0, 120.0, 240.0], values, ANGLE, score)
    assert f"{score.label} over angle (degrees)" in drawn
    heights = heights_of(drawn)
    assert heights == sorted(heights)
    assert len(set(heights)) == len(set(values))
    top, bottom = (float(line.split()[0]) for line in (drawn.splitlines()[0], drawn.splitlines()[-2]))
    assert bottom <= min(values) <= max(values) <= top


def test_an_imported_run_can_be_evaluated_without_being_told_the_setting(imported: Path) -> None:
    """Its config says nothing about how many samples there are."""
    assert json.loads((imported / "config.json").read_text())["samples"] == {}
    result = run("evaluate", str(imported), "--step", "90", "--invariant", "--quiet")
    assert result.code == 0, result.err
    result = run("evaluate", str(imported), "--step", "90", "--invariant", "--batch-size", "451")
    assert (result.code, "fewer test samples than a batch of 451" in result.err) == (2, True)


def test_an_imported_run_cannot_be_trained_on(imported: Path) -> None:
    result = run("train", "--resume", str(imported), "--epochs", "200")
    assert (result.code, "was imported and not trained here" in result.err) == (2, True)
    assert "is trained already" in run("train", "--resume", str(imported)).err


def test_settings_can_be_drawn_instead_of_a_grid(small_data: str, tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    small = ("--width", "4", "--epochs", "1", "--batch-size", "64", "--dims", "2", "--quiet")
    assert run("train", "--data", small_data, *small, "-o", folder).code == 0
    shown = [run("evaluate", folder, "--drawn", "7", "--json", "--quiet") for _ in range(2)]
    assert shown[0].code == 0, shown[0].err
    assert shown[0].out == shown[1].out
    angles = [angle for (angle,) in json.loads(shown[0].out)["params"]]
    assert len(angles) == 7
    assert angles == sorted(angles)
    assert (tmp_path / "run" / "scores-drawn-7.csv").is_file()
    assert not (tmp_path / "run" / "scores.csv").exists()
    both = run("evaluate", folder, "--drawn", "7", "--step", "10")
    assert both.code == 2
    assert "leave one out" in both.err
