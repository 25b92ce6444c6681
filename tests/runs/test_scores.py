"""Scores are written once and read by everybody; what was measured of another network is void."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import scn
from scn import runs, transforms
from scn.backbones import MLP
from scn.experiment.plan import plan_run
from scn.objectives.classification import ACCURACY
from scn.objectives.regression import MAE
from scn.runs import Run
from scn.runs.outcome import Outcome, table
from scn.runs.scores import Scores, read_scores, suffixes, table_file, write_scores
from scn.training.recipe import Recipe


def found(count: int = 4) -> Scores:
    rotation = transforms.get("rotation")
    params = rotation.grid(count)
    values = torch.linspace(0.5, 0.9, count, dtype=torch.float64)
    return Scores(
        params, values, ACCURACY, rotation.encode(params), facts={"samples": 100, "settings": count}
    )


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    write_scores(tmp_path, found(), transforms.get("rotation"))
    again = read_scores(tmp_path, transforms.get("rotation"), ACCURACY)
    torch.testing.assert_close(again.values, found().values)
    torch.testing.assert_close(again.params, found().params.double())
    assert again.mean == pytest.approx(0.7)
    header = (tmp_path / "scores.csv").read_text().splitlines()[0]
    assert header == "angle,alpha_1,alpha_2,accuracy"


def test_the_table_of_an_old_run_is_read_and_replaced(tmp_path: Path) -> None:
    write_scores(tmp_path, found(), transforms.get("rotation"))
    (tmp_path / "scores.csv").rename(tmp_path / "accuracy.csv")
    assert table_file(tmp_path).name == "accuracy.csv"
    assert read_scores(tmp_path, transforms.get("rotation"), ACCURACY).mean == pytest.approx(0.7)
    write_scores(tmp_path, found(8), transforms.get("rotation"))
    assert [path.name for path in tmp_path.glob("*.csv")] == ["scores.csv"]


def test_special_evaluations_are_found_by_their_suffix(tmp_path: Path) -> None:
    for name in (
        "scores-invariant-grid-4.csv",
        "accuracy-invariant-grid-1.csv",
        "scores.csv",
        "scores-paper.csv",
    ):
        (tmp_path / name).touch()
    assert sorted(suffixes(tmp_path, "-invariant-")) == ["-invariant-grid-1", "-invariant-grid-4"]


def test_a_table_with_impossible_values_is_refused(tmp_path: Path) -> None:
    write_scores(tmp_path, found(), transforms.get("rotation"))
    path = tmp_path / "scores.csv"
    path.write_text(path.read_text().replace("0.9", "1.9"))
    with pytest.raises(scn.ScnError, match=r"values of accuracy that are not from 0 to 1"):
        read_scores(tmp_path, transforms.get("rotation"), ACCURACY)
    assert read_scores(tmp_path, transforms.get("rotation"), MAE).values.max() == pytest.approx(1.9)


def test_the_worst_setting_is_one_with_enough_samples() -> None:
    values, counts = torch.tensor([0.0, 0.6, 0.8]), torch.tensor([1, 50, 50])
    scores = Scores(torch.tensor([[1.0], [2.0], [3.0]]), values, ACCURACY, counts=counts)
    assert scores.summary()["min"] == pytest.approx(0.6)
    assert scores.summary()["mean"] == pytest.approx((0.6 * 50 + 0.8 * 50) / 101)
    assert scores.with_enough().mean == pytest.approx(scores.mean), "the mean is over all samples"
    few = Scores(scores.params, values, ACCURACY, counts=torch.tensor([1, 2, 3]))
    assert few.summary()["min"] == 0.0, "where all have few, nothing can be left out"


def test_the_table_says_from_how_many_settings_the_worst_is(tmp_path: Path) -> None:
    outcomes = [Outcome("scn", 3, s, 10, 5, [[1.0], [2.0]], [3.0, 1.0], 2.0) for s in (0, 1)]
    (best_low,) = table(outcomes, MAE)
    (best_high,) = table(outcomes, ACCURACY)
    assert (best_low.worst, best_high.worst) == (3.0, 1.0)
    assert best_low.settings == 2


@pytest.fixture
def trained(small_data: str, tmp_path: Path) -> Run:
    config = plan_run(small_data, "rotation", "mlp", "one4all", Recipe(batch_size=32), sizes={"width": 2})
    run = runs.create(tmp_path / "run", config)
    run.save_network(MLP((1, 32, 32), 10, width=2))
    return run


def test_a_rewritten_network_voids_all_that_was_measured_of_the_old_one(trained: Run) -> None:
    write_scores(trained.folder, found(), trained.transform(), "-fixed-0")
    measured = [
        trained.folder / "accuracy.csv",
        trained.folder / "evaluation.json",
        trained.search_file("grid"),
        trained.search_file("stream", "png"),
        trained.device_file,
    ]
    for path in measured:
        path.write_text("{}")
    kept = [trained.estimator_file, trained.metrics_file]
    for path in kept:
        path.write_text("{}")
    trained.save_network(MLP((1, 32, 32), 10, width=2))
    assert not [path for path in measured if path.exists()]
    assert not list(trained.folder.glob("scores*"))
    assert all(path.exists() for path in kept), "they do not depend on the network"


def test_a_run_of_version_0_1_learns_classes(trained: Run) -> None:
    path = trained.folder / "config.json"
    content = json.loads(path.read_text())
    del content["objective"]
    del content["recipe"]["huber_delta"]
    path.write_text(json.dumps(content))
    assert runs.read(trained.folder).objective().score.key == "accuracy"


def test_ten_samples_are_enough_and_nine_are_not() -> None:
    scores = replace(found(3), counts=torch.tensor([9, 10, 11]))
    assert scores.with_enough().values.tolist() == found(3).values[1:].tolist()
