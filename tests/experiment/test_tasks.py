"""The paper's tasks: one table, and every row of it really runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import run
from needs import real_data
from scn import runs
from scn.experiment import tasks
from scn.experiment.tasks import TASKS
from scn.runs.evaluation import evaluate_run


@pytest.mark.parametrize("name", TASKS)
def test_every_task_trains_and_is_tested_on_its_data(
    name: str, few_samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCN_DATA_DIR", str(few_samples))
    task = TASKS[name]
    real_data(task.data)
    arguments = ("--task", name, "--budget", "smoke", "--dims", "2", "-o", str(tmp_path / "run"), "--quiet")
    result = run("train", *arguments)
    assert result.code == 0, result.err
    opened = runs.read(tmp_path / "run")
    assert opened.config.transform == task.transform
    assert len((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()) == 2
    settings = opened.transform().grid(2)
    found = evaluate_run(opened, opened.network(), settings, samples=16)
    assert found.facts["samples"] == 16
    assert 0 <= found.summary()["mean"] <= 1


def test_the_paper_budget_is_the_published_table() -> None:
    rows = {
        "rotation/mlp/fashion-mnist": (64, 500, 1e-3, "cosine"),
        "rotation/shallow-cnn/svhn": (256, 500, 1e-3, "cosine"),
        "rotation/resnet18/cifar10": (512, 1000, 1e-3, "warm-restarts"),
        "rotation-3d/lenet5/modelnet10": (256, 6000, 6e-3, "cosine"),
        "pitch/m5/speech-commands": (256, 100, 1e-2, "cosine"),
    }
    for name, expected in rows.items():
        recipe = tasks.get(name).budget("paper").recipe
        assert (recipe.batch_size, recipe.epochs, recipe.learning_rate, recipe.schedule) == expected
        assert (recipe.optimiser, recipe.alphas_per_batch) == ("adam", 1)


def test_the_ten_transforms_of_the_paper_are_there() -> None:
    ten = {"rotation", "scaling", "translation", "brightness", "contrast", "saturation", "sharpness"}
    assert {task.transform for task in TASKS.values()} >= ten | {"rotation-3d", "pitch", "speed"}


def test_the_list_is_also_json() -> None:
    result = run("tasks", "--json")
    rows = json.loads(result.out)["rows"]
    assert [row["name"] for row in rows] == list(TASKS)
    assert rows[0] == {
        "name": "rotation/mlp/fashion-mnist",
        "data": "fashion-mnist",
        "transform": "rotation",
        "backbone": "mlp",
    }
    assert "rotation/mlp/fashion-mnist" in run("tasks").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "rotation/mlp/fashionmnist"], 'Did you mean "rotation/mlp/fashion-mnist"'),
        (["--task", "rotation/mlp/fashion-mnist", "--budget", "cp"], 'Did you mean "cpu"'),
        (["--task", "rotation/mlp/fashion-mnist", "--data", "digits"], "leave out --data"),
        (["--budget", "cpu"], "--budget is for a --task"),
    ],
)
def test_wrong_usage_is_explained(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = run("train", *arguments, "-o", str(tmp_path / "run"))
    assert result.code == 2
    assert message in result.err
    assert not (tmp_path / "run").exists()
