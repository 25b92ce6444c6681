"""What outputs mean is exported too: classes by name, values in their units, anything else as it is."""

from __future__ import annotations

import copy
import ctypes
import json
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import pytest
import torch
from torch import Tensor

from commands import run
from generated import OK, Program, built, subject
from needs import tool
from scn import SCN, runs
from scn.backbones import MLP
from scn.data import Dataset
from scn.experiment.plan import plan_run
from scn.export import LabelledSamples, Options, Subject, c, rounding, targets
from scn.export.graph import Graph
from scn.export.operations.affine import layers_of
from scn.export.predictions import agreement
from scn.objectives import AbsoluteError, Classification, Objective, Regression, Score
from scn.training.recipe import Recipe

STUBS = Path(__file__).parents[1] / "stubs"
WEATHER = Regression(mean=(12.5, 1013.25), deviation=(7.75, 9.5))
KNOWN = SimpleNamespace(
    targets=["air */ temperature", "pressure"], target_units=["°C", "hPa"], classes=[], counts={}
)


@dataclass(frozen=True)
class Ranking(Objective):
    """An objective of someone's own: the first output, as it is."""

    scores: ClassVar[tuple[Score, ...]] = (Score("order", "order"),)  # type: ignore[misc]
    outputs: int = 2

    @classmethod
    def learned_from(cls, dataset: Dataset) -> Self:
        return cls()

    def loss(self, outputs: Tensor, labels: Tensor) -> Tensor:
        return outputs.sum()

    def values(self, outputs: Tensor, labels: Tensor, spread: Tensor) -> Tensor:
        return outputs[:, :1]

    def spread(self, labels: Tensor) -> Tensor:
        return torch.ones(())

    def predictions(self, outputs: Tensor) -> Tensor:
        return outputs

    def chance(self, labels: Tensor) -> float:
        return 0.0


class Noise(Subject):
    """Noise instead of data."""

    def samples(self, split: str, count: int, settings: int = 16, seed: int = 0) -> LabelledSamples:
        generator = torch.Generator().manual_seed(seed)
        x = torch.randn(64, *self.shape, generator=generator)
        labels = self.objective.predictions(torch.randn(64, 2, generator=generator))
        return LabelledSamples(x, labels, self.transform.sample(1).expand(64, -1))


def a_subject(objective: Objective, known: Any = None) -> Subject:
    """With two outputs, and data that know the names `known`."""
    torch.manual_seed(3)
    found = subject(SCN(MLP((1, 4, 4), 2, 8), alpha_dim=2, dims=2, seed=0), (1, 4, 4))
    made = Noise(**{**vars(found), "method": replace(found.method, objective=objective)})
    vars(made)["_dataset"] = known
    return made


def texts(program: Program, name: str, count: int) -> list[str]:
    found = (ctypes.c_char_p * count).in_dll(program.library, name)
    return [(text or b"").decode() for text in found]


@pytest.mark.parametrize("way", [Options(), Options(weights="int8", inference="int8"), Options(theta="row")])
def test_a_function_gives_outputs_in_the_units_of_the_targets(way: Options, tmp_path: Path) -> None:
    what = a_subject(WEATHER, KNOWN)
    program = built(what, way, tmp_path)
    header = program.source.with_suffix(".h").read_text()
    assert "#define NET_TARGETS 2" in header
    assert "air / temperature in °C, pressure in hPa" in header
    assert "CLASSES" not in header
    assert texts(program, "net_target_names", 2) == ["air */ temperature", "pressure"]
    assert texts(program, "net_target_units", 2) == ["°C", "hPa"]
    assert program.configure(torch.tensor([0.6, 0.8])) == OK
    outputs = program.answers(torch.randn(20, 1, 4, 4))
    for row in outputs:
        expected = WEATHER.predictions(row.unsqueeze(0))[0]
        program.library.net_values(*[ctypes.c_void_p(row.numpy().ctypes.data)] * 2)  # in place
        torch.testing.assert_close(row, expected, rtol=1e-6, atol=1e-4)


def test_targets_are_numbered_where_nothing_knows_their_names(tmp_path: Path) -> None:
    program = built(a_subject(WEATHER), Options(), tmp_path)
    assert texts(program, "net_target_names", 2) == ["target 1", "target 2"]
    assert texts(program, "net_target_units", 2) == ["", ""]


def test_the_means_of_targets_count_as_flash() -> None:
    facts = c.generate(a_subject(WEATHER, KNOWN), Options()).facts
    assert facts["flash"]["targets"] == 2 * 2 * 4
    assert (facts["targets"], facts["units"]) == (KNOWN.targets, KNOWN.target_units)


def test_an_objective_of_ones_own_exports_the_outputs_as_they_are(tmp_path: Path) -> None:
    what = a_subject(Ranking())
    program = built(what, Options(), tmp_path)
    header = program.source.with_suffix(".h").read_text()
    assert "#define NET_OUTPUTS 2" in header
    assert not hasattr(program.library, "net_values")
    assert not hasattr(program.library, "net_class_names")
    alpha, x = torch.tensor([0.6, 0.8]), torch.randn(5, 1, 4, 4)
    assert program.configure(alpha) == OK
    with torch.no_grad():
        torch.testing.assert_close(program.answers(x), what.network(x, alpha), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("objective", [WEATHER, Ranking(), Classification(2)], ids=lambda o: type(o).__name__)
def test_projects_for_boards_say_what_the_objective_predicts(objective: Objective, tmp_path: Path) -> None:
    tool("g++")
    for target in ("arduino", "esp-idf", "zephyr"):
        targets.get(target)(a_subject(objective, KNOWN), Options(), tmp_path / target)
    flags = ("-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{STUBS}")
    library = tmp_path / "arduino" / "net"
    sketches = list(library.glob("examples/*/*.ino"))
    assert sketches
    for sketch in sketches:
        command = ["g++", "-std=gnu++14", *flags, f"-I{library / 'src'}", "-x", "c++", sketch]
        subprocess.run([str(word) for word in command], check=True)
    for main in (
        tmp_path / "esp-idf" / "net" / "examples" / "net_example" / "main" / "main.c",
        tmp_path / "zephyr" / "net" / "samples" / "net" / "src" / "main.c",
    ):
        include = tmp_path / main.relative_to(tmp_path).parts[0] / "net" / "include"
        subprocess.run(["gcc", "-std=gnu99", *flags, f"-I{include}", main], check=True)


@pytest.mark.parametrize("weights", ["float16", "int8"])
def test_rounding_is_judged_by_the_score_of_the_objective(weights: str) -> None:
    found = c.generate(a_subject(WEATHER, KNOWN), Options(weights=weights)).facts["r2"]  # type: ignore[arg-type]
    assert set(found) == {"float32", "exported", "drop", "max_difference", "samples"}
    assert found["drop"] == pytest.approx(found["float32"] - found["exported"], abs=1.1e-4)
    assert 0 < found["max_difference"] < 1


def test_values_agree_by_their_variance_and_classes_one_by_one() -> None:
    values = torch.tensor([[0.0], [2.0], [4.0], [6.0]])
    assert agreement(values, values) == 1
    assert agreement(values + 1, values) == pytest.approx(1 - 1 / 5)
    assert agreement(torch.tensor([0, 1, 1, 1]), torch.tensor([0, 1, 2, 1])) == 0.75


@pytest.fixture(scope="module")
def regression(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that predicts the digit as a number."""
    config = plan_run(
        "digits", "rotation", "mlp", "scn", Recipe(), dims=2, sizes={"width": 4}, objective="regression"
    )
    made = runs.create(tmp_path_factory.mktemp("regression") / "run", config)
    torch.manual_seed(0)
    made.save_network(SCN(MLP((1, 32, 32), 1, 4), alpha_dim=2, dims=2, seed=0))
    return made.folder


def test_the_command_exports_a_regression(regression: Path, tmp_path: Path) -> None:
    result = run("export", str(regression), "--to", "c", "-o", str(tmp_path), "--weights", "int8", "--json")
    assert result.code == 0, result.err
    facts = json.loads(result.out)
    assert facts["outputs"] == 1
    assert facts["r2"]["samples"] > 100
    assert "accuracy" not in facts


def test_the_device_is_judged_by_the_score_of_the_objective(regression: Path) -> None:
    tool("gcc")
    arguments = ("--target", "host", "--samples", "20", "--settings", "2")
    result = run("device", str(regression), *arguments, "--json")
    assert result.code == 0, result.err
    (row,) = json.loads(result.out)["rows"]
    assert row["score"] == "r2"
    assert row["agreement"] is None
    assert 0 < row["max_prediction_difference"] < 1e-4
    assert row["r2"] == pytest.approx(row["torch_r2"], abs=1e-4)
    assert row["mae"] == pytest.approx(row["torch_mae"], abs=1e-4)
    shown = run("device", str(regression), *arguments)
    assert shown.code == 0, shown.err
    assert "r2 on these inputs alone" in shown.out
    assert "same class" not in shown.out


@pytest.mark.parametrize("objective", [WEATHER, AbsoluteError(**vars(WEATHER))], ids=["R²", "error"])
def test_a_drop_is_positive_where_the_export_is_worse(
    objective: Regression, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever way the score goes: R² falls, an error rises."""

    def spoiled(graph: Graph, options: Options) -> Graph:
        other = copy.deepcopy(graph)
        for layer in layers_of(other):
            layer.weight = 30 * layer.weight
        return other

    monkeypatch.setattr(rounding, "with_rounded_weights", spoiled)
    facts = c.generate(a_subject(objective, KNOWN), Options(weights="float16")).facts[objective.score.key]
    apart = facts["float32"] - facts["exported"]
    assert facts["drop"] == pytest.approx(apart if objective.score.higher_is_better else -apart, abs=2e-4)
    assert facts["drop"] > 0.1
