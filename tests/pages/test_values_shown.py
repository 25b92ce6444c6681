"""Figures and reports of runs that predict values take score, direction and limits from the objective."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from commands import run
from scn import data, runs
from scn.core.network import SCN
from scn.explorer.outputs import output_form
from scn.objectives.classification import ACCURACY
from scn.objectives.regression import MAE, R2
from scn.pages.samples import chosen
from scn.plots.figures import FIGURES, make
from scn.plots.options import FigureOptions
from scn.plots.samples import one_of_each
from scn.plots.scale import brief, limits, score_axis
from scn.report.content import report
from scn.runs.collection import LoadedRun, collect, load
from value_runs import make_runs

SHOWN = ("samples", "scores", "accuracy", "specialisation", "violin", "beta", "training", "theta")


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_runs(tmp_path_factory.mktemp("values") / "r2")


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_runs(tmp_path_factory.mktemp("values") / "mae", "regression-mae", targets=2)


def texts(figure: object) -> str:
    """Everything that a figure says."""
    return " ".join(text.get_text() for text in figure.findobj(lambda part: hasattr(part, "get_text")))  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", SHOWN)
def test_every_figure_is_drawn_and_none_speaks_of_accuracy(name: str, values: Path, errors: Path) -> None:
    for folder in (values, errors):
        figure = make(name, load([folder]), FigureOptions(samples=20))
        figure.draw_without_rendering()
        assert "accuracy" not in texts(figure)


def test_axes_say_which_score_and_when_lower_is_better(values: Path, errors: Path) -> None:
    (axes,) = make("violin", load([values])).axes
    assert axes.get_ylabel() == "test R²"
    (axes,) = make("violin", load([errors])).axes
    assert axes.get_ylabel() == "test mean absolute error, lower is better"
    assert "test R², centre" in make("scores", load([values])).axes[0].get_xlabel()
    assert score_axis(ACCURACY) == "test accuracy"


def test_capacity_and_device_take_the_score_of_the_runs(errors: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(errors / "scn", tmp_path / "scn"))
    row = {"target": "m4", "flash": 9000, "ram": 1500, "mae": 4.5}
    (folder / "device.json").write_text(json.dumps({"rows": [row]}))
    reached, _ = make("device", load([folder])).axes
    assert [bar.get_height() for bar in reached.patches] == [4.5]
    assert "mean absolute" in reached.get_ylabel()
    assert "capacity" in FIGURES
    config = json.loads((folder / "config.json").read_text())
    config["backbone"]["arguments"]["width"] = 16
    (folder / "config.json").write_text(json.dumps(config))
    (axes,) = make("capacity", load([errors / "scn", folder])).axes
    assert axes.get_ylabel() == "mean test mean absolute error, lower is better"


def test_chance_is_a_line_where_the_axis_reaches_it(values: Path) -> None:
    facts = json.loads((values / "scn" / "evaluation.json").read_text())
    assert facts["chance"] == pytest.approx(0, abs=1e-6)
    (axes,) = make("scores", load([values])).axes
    low, high = axes.get_ylim()
    lines = {line.get_label(): line for line in axes.lines}
    assert ("chance" in lines) == (low <= 0 <= high)


@pytest.mark.parametrize(
    ("score", "found", "ends"),
    [
        (ACCURACY, [0.61, 0.93], (0.6, 1.0)),
        (ACCURACY, [0.91, 0.93], (0.9, 0.95)),
        (R2, [-1.3, 0.94], (-1.5, 1.0)),
        (R2, [0.2, 0.21], (0.2, 0.25)),
        (MAE, [4.7, 21.9], (4.0, 22.0)),
        (MAE, [0.0013, 0.0046], (0.001, 0.005)),
        (MAE, [3.0, 3.0], (3.0, 3.25)),
        (MAE, [0.0], (0.0, 0.05)),
    ],
)
def test_an_axis_ends_at_round_numbers_that_the_score_can_be(
    score: object, found: list[float], ends: tuple[float, float]
) -> None:
    assert limits(found, score) == pytest.approx(ends)  # type: ignore[arg-type]


def test_a_score_of_any_size_is_written_briefly() -> None:
    assert (brief(ACCURACY, 0.84123), brief(R2, -0.3), brief(MAE, 1234.5)) == ("0.841", "-0.300", "1.23e+03")


def test_the_report_is_judged_by_the_score_of_the_objective(values: Path, errors: Path) -> None:
    content = report(collect([values]))
    scn, one4all = content["rows"]
    assert content["score"]["key"] == "r2"
    assert content["chance"] == 0
    assert [entry["key"] for entry in content["further"]] == ["mae"]
    assert scn["further"]["mae"] > 0
    assert f"SCN D=2: {scn['mean']:.4f}; One4All: {one4all['mean']:.4f}. Test R², the" in content["summary"]
    assert [panel["title"] for panel in content["training"]] == [
        "training loss: regression", "validation R²", "active bases", "effective bases",
    ]  # fmt: skip
    assert all("--objective regression" in line for line in content["repeat"]["commands"] if "train" in line)
    assert "accuracy" not in json.dumps({**content, "samples": ""})


def test_where_lower_is_better_the_worst_is_the_highest(errors: Path) -> None:
    shown = collect([errors])
    content = report(shown)
    for one, row in zip(shown, content["rows"], strict=True):
        assert row["worst"] == max(one.values)
    best = min(row["mean"] for row in content["rows"] if row["mixes"])
    assert content["summary"].startswith(f"SCN D=2: {MAE.text(best)}")
    assert "mean absolute error (lower is better)" in content["summary"]


def test_values_far_from_the_validation_are_said(values: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(values / "scn", tmp_path / "scn"))
    facts = json.loads((folder / "evaluation.json").read_text())
    (folder / "evaluation.json").write_text(json.dumps({**facts, "mean": -3.0}))
    (text,) = [found for found in report(collect([folder]))["warnings"] if "validation" in found]
    assert "the test R² -3.000 is far from the best validation R²" in text


def test_the_commands_of_a_report_train_the_same_values(values: Path, tmp_path: Path) -> None:
    train, _ = report(collect([values / "scn"]))["repeat"]["commands"]
    folder = collect([values / "scn"])[0].folder
    arguments = train.replace(f"-o {folder}", f"-o {tmp_path / 'again'}").split()[1:]
    assert run(*arguments, "--quiet").code == 0
    assert (tmp_path / "again" / "model.safetensors").read_bytes() == (
        values / "scn" / "model.safetensors"
    ).read_bytes()


def test_samples_are_spread_over_the_values() -> None:
    labels = torch.tensor([5.0, 1.0, 4.0, 2.0, 3.0])
    assert labels[chosen(labels, 3)].tolist() == [1, 3, 5]
    pairs = torch.stack([labels, -labels], dim=1)
    assert pairs[one_of_each(pairs, 3, torch.Generator()), 0].tolist() == [1, 3, 5]


def test_outputs_are_shown_as_the_objective_says(values: Path, errors: Path) -> None:
    for folder, names, units in ((values, ["top"], ["mV"]), (errors, ["top", "left"], ["mV", "kPa"])):
        opened = runs.read(folder / "scn")
        objective, outputs = opened.objective(), torch.randn(3, len(names))
        form = output_form(objective, outputs, data.load(opened.config.data))
        assert (form.names, form.units) == (names, units)
        torch.testing.assert_close(form.packed(outputs), objective.predictions(outputs))
        torch.testing.assert_close(
            form.packed(outputs.expand(4, 3, -1)), objective.predictions(outputs).expand(4, 3, -1)
        )


@pytest.mark.parametrize(
    "arguments", [[], ["--method", "refine", "--start", "estimator"], ["--stream", "20"]]
)
def test_a_search_by_class_probabilities_refuses_values(arguments: list[str], values: Path) -> None:
    result = run("search", str(values / "scn"), *arguments)
    assert result.code == 2
    assert "was trained for regression" in result.err
    assert "the method estimator" in result.err
    told = run("evaluate", str(values / "scn"), "--invariant")
    assert (told.code, "was trained for regression" in told.err) == (2, True)


def test_an_estimator_finds_the_setting_of_values(
    values: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from functools import partial

    from scn import search

    folder = Path(shutil.copytree(values / "scn", tmp_path / "scn"))
    monkeypatch.setattr("scn.cli.search.search.train_estimator", partial(search.train_estimator, steps=50))
    result = run("search", str(folder), "--method", "estimator", "--batch-size", "4", "--json")
    assert result.code == 0, result.err
    content = json.loads(result.out)
    (row,) = content["rows"]
    assert content["score"] == "r2"
    assert row["r2"] <= 1
    assert row["known_r2"] <= 1
    assert row["entropy"] is None
    (found,) = report(collect([folder]))["searched"]
    assert found["mean"] == row["r2"]


def test_the_known_score_of_a_search_is_that_of_the_network(values: Path) -> None:
    from scn.search.study import draw_inputs, known_outputs, mean_score

    (one,) = [shown for shown in load([values]) if isinstance(shown.network, SCN)]
    assert isinstance(one, LoadedRun)
    shown = draw_inputs(one.run, 4, 40)
    objective = one.run.objective()
    outputs = known_outputs(one.scn, shown, one.transform)
    error = (objective.predictions(outputs) - shown.labels).double()
    expected = 1 - error.square().mean() / shown.labels.double().var(correction=0)
    assert mean_score(objective, outputs, shown.labels) == pytest.approx(expected.item())
