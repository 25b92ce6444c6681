"""What is printed of a score is said in its own words and units, whichever objective it is of."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from scn import data, runs, transforms
from scn.cli import compare, evaluate
from scn.experiment.demo import ANGLE, plan_demo, view_digit
from scn.experiment.jobs import Evaluation, Job
from scn.experiment.plan import plan_run
from scn.objectives import Classification, Score
from scn.objectives.classification import ACCURACY
from scn.runs.evaluation import evaluate_run
from scn.runs.outcome import Outcome
from scn.runs.scores import Scores
from scn.search.stream import Stream
from scn.training.recipe import Recipe

ERROR = Score("mae", "error", higher_is_better=False, lowest=0.0, unit="C")
FACTS = {"samples": 40, "preset": "default"}


def test_an_evaluation_prints_values_in_their_unit(capsys: pytest.CaptureFixture[str]) -> None:
    values = torch.tensor([2.5, 3.5], dtype=torch.float64)
    found = Scores(torch.tensor([[0.0], [180.0]]), values, ERROR, facts=FACTS)
    evaluate._show(found, transforms.get("rotation"), as_json=False)
    out = capsys.readouterr().out
    assert "error over angle (degrees)" in out
    assert "mean 3 C  min 2.5 C  max 3.5 C  over 2 settings, 40 test samples" in out


def test_settings_with_few_samples_are_neither_drawn_nor_counted(capsys: pytest.CaptureFixture[str]) -> None:
    values, counts = torch.tensor([0.1, 0.6, 0.8], dtype=torch.float64), torch.tensor([9, 10, 21])
    found = Scores(torch.tensor([[5.0], [90.0], [180.0]]), values, ACCURACY, counts=counts, facts=FACTS)
    evaluate._show(found, transforms.get("rotation"), as_json=False)
    *drawn, places, summary = capsys.readouterr().out.splitlines()
    assert {len(line.split("│")[1]) for line in drawn} == {2}
    assert places.split()[0] == "90"
    assert "min 0.6000  max 0.8000  over 2 settings (1 more with fewer than 10 samples each), 40" in summary


def test_a_comparison_prints_values_in_their_unit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = plan_run("digits", "rotation", "mlp", "one4all", Recipe())
    job = Job("one4all-seed0", config, Evaluation(torch.zeros(1, 1)))
    outcome = Outcome("one4all", 1, 0, 10, 10, [[0.0]], [123.456], 123.456)
    monkeypatch.setattr(Classification, "scores", (ERROR,))
    monkeypatch.setattr(compare, "compare", lambda *_, **__: iter([(job, outcome)]))
    compare.carry_out_all([job], tmp_path, quiet=False)
    assert "one4all-seed0: 123.5 C  (1/1 runs" in capsys.readouterr().err


def test_a_stream_is_written_under_the_key_of_its_score() -> None:
    flat, none = torch.zeros(12, 1), torch.zeros(12, dtype=torch.bool)
    stream = Stream(
        flat, flat, flat, none, none, torch.full((12,), 2.0), torch.full((12,), 1.0), ~none, torch.tensor([])
    )
    content = stream.summary().to_json(ERROR)
    assert (content["mae"], content["known_mae"]) == (2.0, 1.0)
    assert not any("accuracy" in name for name in content)


def test_the_demo_says_what_an_evaluation_at_its_angle_does(tmp_path: Path) -> None:
    jobs = {job.name: job for job in plan_demo()}
    names = {"SCN D=8": "scn-d8-seed0", "One4All": "one4all-seed0"}
    for name in names.values():
        run = runs.create(tmp_path / name, jobs[name].config)
        run.save_network(run.method().build(runs.backbone_of(run)))
    view = view_digit(tmp_path)
    for shown, name in names.items():
        run = runs.read(tmp_path / name)
        table = evaluate_run(run, run.network(), torch.tensor([[ANGLE]]))
        assert view.shares[shown] == pytest.approx(table.mean)
        prediction, probability = view.said[shown]
        assert 0 <= prediction < 10
        assert 0.1 <= probability <= 1
    assert view.count == data.load("digits").counts["test"]
    assert view.image.shape == (32, 32)
