"""What was wrong with figures and pages once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from commands import run
from figure_runs import make_all
from scn import transforms
from scn.explorer import write_explorer
from scn.explorer.grid import INTERVALS, PageGrid
from scn.plots.figures import make
from scn.plots.style import said
from scn.plots.violin import searched
from scn.report.content import report
from scn.runs.collection import collect, load
from scn.transforms import Parameter


@pytest.fixture
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_all(tmp_path_factory.getbasetemp())


@pytest.fixture
def imported(tmp_path: Path, drawn: dict[str, Path]) -> Path:
    """A checkpoint as published, which says nothing about the data it was trained on."""
    draw = np.random.default_rng(0)
    arrays = {
        "hyper_stack.0.weight": draw.normal(size=(64, 2)),
        "hyper_stack.0.bias": draw.normal(size=64),
        "hyper_stack.2.weight": draw.normal(size=(2, 64)),
        "hyper_stack.2.bias": draw.normal(size=2),
    }
    for base in (0, 1):
        for layer, shape in ((1, (4, 1024)), (2, (10, 4))):
            arrays[f"weight_list_fc{layer}.{base}"] = draw.normal(size=shape)
            arrays[f"bias_list_fc{layer}.{base}"] = draw.normal(size=shape[:1])
    np.savez(tmp_path / "published.npz", **{k: v.astype(np.float32) for k, v in arrays.items()})  # type: ignore[arg-type]
    own = tmp_path / "own.npz"
    shutil.copy(load([drawn["rotation"] / "scn-d2"])[0].run.config.data, own)
    folder = tmp_path / "imported"
    options = ("--data", str(own), "--preset", "default", "-o", str(folder))
    assert run("import", str(tmp_path / "published.npz"), *options).code == 0
    return folder


@pytest.mark.usefixtures("coarse_explorers")
def test_an_imported_checkpoint_is_reported_explored_and_drawn(imported: Path, tmp_path: Path) -> None:
    for command in ("report", "explore"):
        untested = run(command, str(imported), "-o", str(tmp_path / f"{command}.html"))
        assert untested.code == 2
        assert f"`scn evaluate {imported}` does it" in untested.err
    assert run("evaluate", str(imported), "--step", "120", "--quiet").code == 0
    for command in ("report", "explore"):
        made = run(command, str(imported), "-o", str(tmp_path / f"{command}.html"))
        assert made.code == 0, made.err
    for figure in ("samples", "scores", "specialisation", "violin", "beta", "theta"):
        made = run("plot", str(imported), "--figure", figure, "-o", str(tmp_path / "x.png"), "--quiet")
        assert made.code == 0, made.err
    untrained = run("plot", str(imported), "--figure", "training", "-o", str(tmp_path / "x.png"))
    assert "it was not trained by `scn train`" in untrained.err


def test_an_imported_checkpoint_searches_for_the_setting(imported: Path) -> None:
    """Its configuration has no sample counts."""
    found = run("evaluate", str(imported), "--step", "120", "--invariant", "--batch-size", "4", "--quiet")
    assert found.code == 0, found.err
    few = run("evaluate", str(imported), "--step", "120", "--invariant", "--batch-size", "5000", "--quiet")
    assert few.code == 2
    assert "there are fewer test samples than a batch of 5000" in few.err


def test_an_imported_checkpoint_without_its_data_is_still_reported(imported: Path, tmp_path: Path) -> None:
    assert run("evaluate", str(imported), "--step", "120", "--quiet").code == 0
    (tmp_path / "own.npz").unlink()
    content = report(collect([imported]))
    assert content["samples"] is None
    assert content["training"] == []
    result = run("explore", str(imported), "-o", str(tmp_path / "explorer.html"))
    assert result.code == 2
    assert "own.npz" in result.err


@pytest.fixture
def sparse(drawn: dict[str, Path], tmp_path: Path) -> Path:
    """A measured setting that one sample was near, and that one was wrong."""
    folder = Path(shutil.copytree(drawn["light"] / "scn-d2", tmp_path / "scn"))
    table = "light,alpha_1,accuracy\n10,0,0.9\n260,0.3,0\n760,1,0.7\n"
    facts = json.loads((folder / "evaluation.json").read_text())
    for suffix in ("", "-invariant-grid-4"):
        (folder / f"scores{suffix}.csv").write_text(table)
        counts = {"counts": [20, 1, 30], "samples": 51, "settings": 4, "mean": 0.76}
        (folder / f"evaluation{suffix}.json").write_text(json.dumps({**facts, **counts}))
    return folder


def test_settings_with_few_samples_are_no_worst_setting(sparse: Path) -> None:
    shown = collect([sparse])
    content = report(shown)
    (row,) = content["rows"]
    assert (row["worst"], row["settings"]) == (0.7, 2)
    assert row["mean"] == pytest.approx(0.76)
    assert content["scores"][0]["seeds"] == [[0.9, 0.7]]
    assert content["searched"][0]["values"] == [0.9, 0.7]
    assert searched(shown, "")[0].values == [0.9, 0.7]
    (axes,) = make("violin", shown).axes
    assert min(min(line.get_ydata()) for line in axes.lines if line.get_label() != "chance") == 0.7


def test_an_explorer_leaves_out_settings_with_few_samples(sparse: Path, tmp_path: Path) -> None:
    page = tmp_path / "explorer.html"
    write_explorer(collect([sparse]), page, samples=2)
    text = page.read_text().split('id="content">')[1].split("</script>")[0]
    (network,) = json.loads(text)["networks"]
    assert network["scores"]["values"] == [0.9, 0.7]


def test_losses_with_different_terms_are_not_compared(drawn: dict[str, Path]) -> None:
    """An SCN adds terms of its own to the loss, and One4All does not: their common part is drawn."""
    folders = [drawn["rotation"] / name for name in ("scn-d9-seed0", "one4all")]
    loss = make("training", load(folders)).axes[0]
    assert " ".join(loss.get_ylabel().split()) == "training loss: classification"
    lines = {line.get_label(): line for line in loss.lines}
    for folder, label in zip(folders, ("SCN D=9", "One4All"), strict=True):
        noted = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        assert list(lines[label].get_ydata()) == pytest.approx([line["classification"] for line in noted])
    assert noted[0]["loss"] == noted[0]["classification"]
    panels = report(collect(folders))["training"]
    assert panels[0]["entries"][1]["seeds"] == [[line["classification"] for line in noted]]


@pytest.mark.parametrize("name", ["pitch", "translation", "rotation-3d", "scaling", "rotation"])
def test_a_grid_holds_no_value_that_is_0_but_for_rounding(name: str) -> None:
    parameters = transforms.get(name).parameters
    for intervals in INTERVALS:
        grid = PageGrid(parameters, intervals, 1)
        for parameter, axis in zip(parameters, grid.axes, strict=True):
            small = axis.abs() < 1e-4 * (parameter.high - parameter.low)
            assert (axis[small] == 0).all()
            torch.testing.assert_close(axis, parameter.grid(len(axis)))


@pytest.mark.parametrize(
    ("unit", "text"),
    [("semitones", "0 semitones"), ("degrees", "0°"), ("pixels", "0 pixels"), ("", "0")],
)
def test_what_is_0_but_for_rounding_is_said_as_0(unit: str, text: str) -> None:
    assert said(Parameter("some", -12.0, 12.0, unit), -7.451e-8) == text
    assert said(Parameter("small", -1e-6, 1e-6, unit), -5e-7) == text.replace("0", "-5e-07", 1)
