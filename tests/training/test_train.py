"""Training: one loop for all methods, repeatable, and resumable to the last bit."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from torch import Tensor

import scn
from commands import run
from scn import methods, runs
from scn.core.storage import load_model
from scn.data import Normalisation
from scn.experiment.plan import plan_run
from scn.experiment.train import train
from scn.methods.mixed import FAR_DRAWS
from scn.objectives.classification import ACCURACY, Classification
from scn.report.repeat import commands
from scn.runs import backbone_of
from scn.runs.collection import collect
from scn.training.batches import TrainingData, hold_back
from scn.training.loop import Diverged, Training
from scn.training.recipe import Recipe
from scn.training.state import State

SMALL = ("--width", "8", "--epochs", "4", "--batch-size", "32")


class Enough(Exception):
    """Raised where a test stops a training."""


def metrics(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k != "seconds"} for line in lines]


@pytest.mark.parametrize("method", ["scn", "one4all", "inverse", "one4one"])
def test_every_method_learns(method: str, tmp_path: Path) -> None:
    fixed = ["--fixed", "30"] if method == "one4one" else []
    sizes = ("--epochs", "30", "--batch-size", "64", "--width", "16")
    arguments = [
        "train",
        "--method",
        method,
        "--dims",
        "3",
        *sizes,
        *fixed,
        "-o",
        str(tmp_path / "run"),
        "--quiet",
    ]
    result = run(*arguments)
    assert result.code == 0, result.err
    lines = metrics(tmp_path / "run")
    assert len(lines) == 30
    assert lines[-1]["classification"] < 0.5 * lines[0]["classification"]
    assert lines[-1]["validation_accuracy"] > 0.6  # a guess would be right in 0.1
    assert ("active_bases" in lines[-1]) == (method == "scn")
    assert not (tmp_path / "run" / "checkpoint").exists()
    assert run("evaluate", str(tmp_path / "run"), "--step", "90", "--quiet").code == 0


def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(small_data: str, tmp_path: Path) -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        run("train", "--data", small_data, *SMALL, "--seed", seed, "-o", str(tmp_path / name), "--quiet")
    files = {name: (tmp_path / name / "model.safetensors").read_bytes() for name in "abc"}
    assert files["a"] == files["b"] != files["c"]
    assert metrics(tmp_path / "a") == metrics(tmp_path / "b")


def test_preparing_ahead_does_not_change_the_result(small_data: str, tmp_path: Path) -> None:
    results = []
    for prefetch in (True, False):
        folder = tmp_path / str(prefetch)
        assert run("train", "--data", small_data, *SMALL, "-o", str(folder), "--quiet").code == 0
        (folder / "model.safetensors").unlink()
        opened = runs.read(folder)
        train(opened, backbone_of(opened), prefetch=prefetch)
        results.append((folder / "model.safetensors").read_bytes())
    assert results[0] == results[1]


def start(*arguments: str, errors: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "from scn.cli.main import main; main()", "train", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=errors)


def last_written(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def kill_drill(data: str, folder: Path, kills: int, seed: int) -> int:
    """Kill a run at random moments, resume it each time, and compare it with one left in peace."""
    often = ("--checkpoint-minutes", "0.0002", "--quiet")
    sizes = ("--data", data, "--epochs", "24", "--batch-size", "32", "--dims", "3", *often)
    assert run("train", *sizes, "-o", str(folder / "peace")).code == 0
    draw = random.Random(seed)
    arguments: tuple[str, ...] = (*sizes, "-o", str(folder / "killed"))
    killed = 0
    while killed < kills:
        before = last_written(folder / "killed" / "metrics.jsonl")
        process = start(*arguments)
        while process.poll() is None and last_written(folder / "killed" / "metrics.jsonl") == before:
            time.sleep(0.01)  # until it trains
        try:
            process.wait(timeout=draw.uniform(0.1, 0.7))
            break  # it came to its end before the blow
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
        arguments = ("--resume", str(folder / "killed"), *often)
    assert start(*arguments).wait() == 0
    peace, survived = ((folder / name / "model.safetensors").read_bytes() for name in ("peace", "killed"))
    assert survived == peace
    assert metrics(folder / "killed") == metrics(folder / "peace")
    return killed


@pytest.mark.slow  # test_sparse_steps.py has drills with one blow
def test_a_killed_run_goes_on_and_ends_bit_for_bit_the_same(small_data: str, tmp_path: Path) -> None:
    assert kill_drill(small_data, tmp_path, kills=3, seed=0) >= 1


def test_an_interrupted_run_says_how_to_go_on(small_data: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    process = start(
        "--data",
        small_data,
        "--epochs",
        "5000",
        "-o",
        str(folder),
        "--batch-size",
        "32",
        errors=subprocess.PIPE,
    )
    while not (folder / "metrics.jsonl").exists() or not (folder / "metrics.jsonl").read_text():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert f"scn train --resume {folder}" in err.decode()
    assert (folder / "checkpoint" / "state.safetensors").is_file()
    assert "has no trained network yet" in run("evaluate", str(folder)).err


def test_an_interruption_that_the_caller_ignores_is_ignored(small_data: str, tmp_path: Path) -> None:
    recipe = Recipe(epochs=1, batch_size=64)
    opened = runs.create(tmp_path / "run", plan_run(small_data, "rotation", "mlp", "one4all", recipe))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        train(opened, backbone_of(opened), report=lambda *_: signal.raise_signal(signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)
    assert opened.is_trained


def test_a_finished_run_is_not_trained_again(small_data: str, tmp_path: Path) -> None:
    run("train", "--data", small_data, *SMALL, "-o", str(tmp_path / "run"), "--quiet")
    before = (tmp_path / "run" / "model.safetensors").stat().st_mtime_ns
    result = run("train", "--resume", str(tmp_path / "run"))
    assert result.code == 0
    assert "is trained already" in result.err
    assert (tmp_path / "run" / "model.safetensors").stat().st_mtime_ns == before


def test_other_data_under_the_same_name_are_noticed(small_data: str, tmp_path: Path) -> None:
    copied = tmp_path / "mine.npz"
    copied.write_bytes(Path(small_data).read_bytes())
    folder = tmp_path / "run"
    run("train", "--data", str(copied), *SMALL, "-o", str(folder), "--quiet")
    (folder / "model.safetensors").unlink()
    arrays = dict(np.load(copied))
    arrays["y_train"][0] = (arrays["y_train"][0] + 1) % 10
    np.savez(copied, **arrays)
    assert "their checksums differ" in run("train", "--resume", str(folder), "--quiet").err


def training(**changes: Any) -> Training:
    images = torch.randint(0, 256, (64, 1, 32, 32), dtype=torch.uint8)
    labels = torch.randint(0, 10, (64,))
    recipe = Recipe(epochs=2, batch_size=16, alphas_per_batch=4, **changes)
    method = methods.get("scn")(scn.transforms.get("rotation"), recipe, 3)
    held = TrainingData(images, labels, images[:32], labels[:32])
    return Training(method, recipe, held, Normalisation(), 0)


def test_every_image_is_used_once_an_epoch_and_epochs_differ() -> None:
    chosen = training()
    first, second = ([b.labels for b in chosen.batches.of_epoch(epoch, 0)] for epoch in (0, 1))
    assert torch.equal(torch.cat(first).sort().values, chosen.data.labels.sort().values)
    assert not torch.equal(torch.cat(first), torch.cat(second))


def test_batches_can_be_entered_anywhere() -> None:
    chosen = training()
    whole, late = list(chosen.batches.of_epoch(1, 0)), list(chosen.batches.of_epoch(1, 3))
    assert torch.equal(whole[3].x, late[0].x)
    assert torch.equal(whole[3].alphas["alpha"], late[0].alphas["alpha"])


def test_from_where_an_epoch_is_entered_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scn.training.batches.CHUNK", 2 * 16 * 32 * 32)  # two batches are prepared in one go
    chosen = training()
    whole = [batch.x for batch in chosen.batches.of_epoch(1, 0)]
    for skip in range(len(whole)):
        late = [batch.x for batch in chosen.batches.of_epoch(1, skip)]
        torch.testing.assert_close(late, whole[skip:], atol=0, rtol=0)


def test_flipping_turns_about_half_of_the_images() -> None:
    plain, flipped = (
        torch.cat([b.x for b in training(horizontal_flip=f).batches.of_epoch(0, 0)]) for f in (False, True)
    )
    assert plain.shape == flipped.shape
    assert not torch.equal(plain, flipped)


def test_a_loss_that_is_not_a_number_stops_the_training() -> None:
    chosen = training(learning_rate=1e30)
    state = chosen.start(scn.backbones.MLP, torch.device("cpu"))
    with pytest.raises(Diverged, match=r"the loss became nan in epoch [12]"):
        list(chosen.run(state, lambda _: None))


def test_the_terms_for_search_are_part_of_the_loss() -> None:
    chosen = training(entropy_weight=0.1, wrong_entropy_weight=0.1, evidence_weight=0.1)
    state = chosen.start(scn.backbones.MLP, torch.device("cpu"))
    lines = list(chosen.run(state, lambda _: None))
    assert {"classification", "separation", "entropy", "wrong_entropy", "evidence"} <= set(lines[0])


def test_the_wrong_setting_of_the_terms_for_search_is_far_from_the_right_one() -> None:
    method = training(evidence_weight=1.0).method
    params = method.transform.sample(2000)
    wrong: Tensor = method._far_from(params, torch.Generator().manual_seed(0))  # type: ignore[attr-defined]
    apart = 360 * method.transform.distance(params, wrong)
    assert apart.min() >= 30
    assert apart.max() > 175  # and anything beyond may be drawn
    assert (apart < 60).float().mean() > 0.1


def test_where_no_setting_is_far_enough_the_farthest_of_the_draws_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("scn.methods.mixed.FAR", 1.0)  # more than anything on a circle
    method = training(evidence_weight=1.0).method
    params = method.transform.sample(50)
    wrong: Tensor = method._far_from(params, torch.Generator().manual_seed(0))  # type: ignore[attr-defined]
    draws = method.transform.sample(FAR_DRAWS * 50, torch.Generator().manual_seed(0))
    farthest = method.transform.distance(draws.view(FAR_DRAWS, 50, 1), params).amax(dim=0)
    torch.testing.assert_close(method.transform.distance(wrong, params), farthest)


def test_validation_data_are_cut_from_the_training_data_by_seed() -> None:
    images = torch.arange(100, dtype=torch.uint8).view(100, 1, 1, 1)
    first, again, other = (hold_back(images, torch.arange(100), 0.2, seed) for seed in (0, 0, 1))
    assert len(first.labels) == 80
    assert set(first.labels.tolist()).isdisjoint(first.validation_labels.tolist())
    assert torch.equal(first.validation_labels, again.validation_labels)
    assert not torch.equal(first.validation_labels, other.validation_labels)


def test_training_never_reads_the_test_data(
    small_data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    original = scn.data.Dataset.split

    def spied(self: scn.data.Dataset, name: str) -> tuple[Tensor, Tensor]:
        asked.append(name)
        return original(self, name)

    monkeypatch.setattr(scn.data.Dataset, "split", spied)
    assert run("train", "--data", small_data, *SMALL, "-o", str(tmp_path / "run"), "--quiet").code == 0
    assert set(asked) == {"train"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "digit"], 'Did you mean "digits"?'),
        (["--transform", "rotate"], 'Did you mean "rotation"?'),
        (["--backbone", "mpl"], 'Did you mean "mlp"?'),
        (["--method", "one4al"], 'Did you mean "one4all"?'),
        (["--recipe", "papr"], 'Did you mean "paper"?'),
        (["--preset", "papr"], 'no preset "papr"'),
        (["--dims", "0"], "dims must be at least 1, but is 0"),
        (["--epochs", "-1"], "epochs must be a whole number of at least 1, but is -1"),
        (["--batch-size", "7"], "does not divide 7"),
        (["--batch-size", "4096"], "batch_size 4096 is more than the"),
        (["--method", "one4one"], "needs --fixed"),
        (["--fixed", "3"], "takes no --fixed"),
        (["--method", "one4one", "--fixed", "1,2"], "1 value(s) in a row (angle)"),
        (["--method", "one4one", "--fixed", "nan"], "finite"),
        (["--seed", "-1"], "the seed must be at least 0"),
        (["--width", "0"], "width must be at least 1, but is 0"),
        (["--checkpoint-minutes", "0"], "--checkpoint-minutes must be positive"),
        (["--method", "one4one", "--fixed", "x"], "--fixed takes numbers separated by commas, but got 'x'"),
        (["--backbone", "nowhere:Net"], 'the backbone "nowhere:Net" cannot be imported'),
        (["--backbone", "json:dumps"], "is not a subclass of torch.nn.modules.module.Module"),
        (["--device", "abacus"], 'device "abacus" cannot be used here'),
        (["--resume", "elsewhere"], "either -o RUN"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = run("train", *arguments, "-o", str(tmp_path / "run"), "--quiet")
    assert result.code == 2
    assert message in result.err
    assert "Traceback" not in result.err
    assert not (tmp_path / "run").exists()


def test_a_folder_that_holds_a_run_is_refused(small_data: str, tmp_path: Path) -> None:
    arguments = ["train", "--data", small_data, *SMALL, "-o", str(tmp_path / "run"), "--quiet"]
    assert run(*arguments).code == 0
    again = run(*arguments)
    assert again.code == 2
    assert "holds a run already" in again.err


def test_a_diverging_run_names_the_epoch_and_the_remedy(small_data: str, tmp_path: Path) -> None:
    result = run(
        "train",
        "--data",
        small_data,
        *SMALL,
        "--learning-rate",
        "1e30",
        "-o",
        str(tmp_path / "run"),
        "--quiet",
    )
    assert result.code == 1
    assert "the loss became nan in epoch" in result.err
    assert "--learning-rate" in result.err


def test_progress_is_plain_lines_where_there_is_no_terminal(small_data: str, tmp_path: Path) -> None:
    result = run("train", "--data", small_data, *SMALL, "-o", str(tmp_path / "run"))
    assert "epoch 4/4, loss" in result.err
    assert result.out.strip() == str(tmp_path / "run")


def test_tensorboard_gets_every_metric(small_data: str, tmp_path: Path) -> None:
    accumulators = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator",
        reason="needs tensorboard (make venv installs it)",
    )
    folder = tmp_path / "run"
    result = run(
        "train", "--data", small_data, *SMALL, "--track", "tensorboard", "-o", str(folder), "--quiet"
    )
    assert result.code == 0, result.err
    shown = accumulators.EventAccumulator(str(folder / "tensorboard")).Reload()
    for name in ("loss", "validation_accuracy", "active_bases"):
        curve = [(event.step, event.value) for event in shown.Scalars(name)]
        assert curve == [(m["epoch"], pytest.approx(m[name])) for m in metrics(folder)]


def test_any_value_of_the_recipe_can_be_set(small_data: str, tmp_path: Path) -> None:
    chosen = ("schedule=constant", "label_smoothing=0.1", "horizontal_flip=true", "optimiser=adam")
    settings = [part for text in chosen for part in ("--set", text)]
    result = run("train", "--data", small_data, *SMALL, *settings, "-o", str(tmp_path / "run"), "--quiet")
    assert result.code == 0, result.err
    recipe = runs.read(tmp_path / "run").recipe()
    assert (recipe.schedule, recipe.label_smoothing, recipe.horizontal_flip) == ("constant", 0.1, True)
    assert recipe.optimiser == "adam"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schedul=cosine", "schedule"),
        ("schedule", "NAME=VALUE"),
        ("schedule=cosin", "cosine"),
        ("optimiser=sgd", "muon"),
        ("epochs=many", "epochs takes a whole number"),
        ("horizontal_flip=yes", "true or false"),
    ],
)
def test_a_wrong_value_of_the_recipe_is_explained(text: str, message: str, tmp_path: Path) -> None:
    result = run("train", "--set", text, "-o", str(tmp_path / "run"))
    assert result.code == 2
    assert message in result.err
    assert not (tmp_path / "run").exists()


def test_a_full_disk_loses_no_earlier_checkpoint(small_data: str, tmp_path: Path) -> None:
    """No file may grow past a few bytes, which a write finds out as it would find a full disk."""
    folder, often = tmp_path / "run", ("--checkpoint-minutes", "0.0002", "--quiet")
    checkpoint = folder / "checkpoint" / "state.safetensors"
    recipe = Recipe(epochs=5000, batch_size=32)
    opened = runs.create(folder, plan_run(small_data, "rotation", "mlp", "scn", recipe))
    with pytest.raises(Enough):
        train(opened, backbone_of(opened), checkpoint_minutes=1e-9, report=mock.Mock(side_effect=Enough))
    kept = checkpoint.read_bytes()
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000)); "
    call = [sys.executable, "-c", limit + "from scn.cli.main import main; main()", "train", "--resume"]
    full = subprocess.run([*call, str(folder), *often], capture_output=True, text=True, check=False)
    assert full.returncode == 1
    assert "File too large" in full.stderr
    assert "Traceback" not in full.stderr
    assert checkpoint.read_bytes() == kept
    assert [path.name for path in checkpoint.parent.iterdir()] == [checkpoint.name]


def test_a_run_is_trained_by_one_process_at_a_time(small_data: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    process = start(
        "--data", small_data, "--epochs", "5000", "--batch-size", "32", "-o", str(folder), "--quiet"
    )
    while not (folder / "metrics.jsonl").exists():
        time.sleep(0.05)
    try:
        result = run("train", "--resume", str(folder), "--quiet")
    finally:
        process.kill()
        process.wait()
    assert result.code == 1
    assert "is being trained by another process" in result.err


@pytest.mark.parametrize(("last", "kept"), [(0.60, "best"), (0.98, "last"), (1.0, "last")])
def test_an_epoch_that_was_better_by_more_than_chance_is_kept(last: float, kept: str) -> None:
    net = torch.nn.Linear(1, 1, bias=False)
    state = State(net, torch.optim.SGD(net.parameters()))
    for accuracy, weight in ((0.5, 1.0), (1.0, 2.0), (last, 3.0)):
        net.weight.data.fill_(weight)
        values = torch.zeros(100).index_fill_(0, torch.arange(round(100 * accuracy)), 1.0)
        state.note(accuracy, Classification().standard_error(values), ACCURACY)
    state.settle()  # two standard errors are 0.03 at 0.98, and 0.1 at 0.6
    assert net.weight.item() == {"best": 2.0, "last": 3.0}[kept]


def test_of_equally_good_epochs_the_later_is_the_best() -> None:
    net = torch.nn.Linear(1, 1, bias=False)
    state = State(net, torch.optim.SGD(net.parameters()))
    for accuracy, weight in ((0.9, 1.0), (0.9, 2.0), (0.2, 3.0)):
        net.weight.data.fill_(weight)
        state.note(accuracy, 0.01, ACCURACY)
    state.settle()
    assert net.weight.item() == 2.0


def test_without_validation_data_the_last_epoch_is_kept() -> None:
    net = torch.nn.Linear(1, 1)
    state, before = State(net, torch.optim.SGD(net.parameters())), net.weight.item()
    state.note(None, 0.0, ACCURACY)
    state.settle()
    assert net.weight.item() == before


def test_a_network_that_is_no_longer_a_number_is_not_saved(small_data: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    often = ("--checkpoint-minutes", "1e-9", "--set", "learning_rate=1e30", "--quiet")
    result = run("train", "--data", small_data, *SMALL, *often, "-o", str(folder))
    assert result.code == 1
    assert "became" in result.err
    saved = folder / "checkpoint" / "state.safetensors"
    if saved.exists():
        tensors, _ = load_model(saved)
        assert all(torch.isfinite(value).all() for name, value in tensors.items() if name.startswith("net."))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--set", "train_samples=10"), "batch_size 32 is more than the 10 training samples"),
        (("--transform", "rotation+scaling", "--preset", "papr"), 'no preset "papr"'),
        (("--track", "tensorbord"), "tensorboard"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_written(
    small_data: str, tmp_path: Path, more: tuple[str, ...], message: str
) -> None:
    folder = tmp_path / "run"
    result = run("train", "--data", small_data, *SMALL, *more, "-o", str(folder))
    assert result.code == 2
    assert message in result.err
    assert not folder.exists()


def test_a_new_network_voids_what_was_measured_of_the_old(small_data: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run("train", "--data", small_data, *SMALL, "-o", str(folder), "--quiet")
    assert run("evaluate", str(folder), "--step", "90", "--quiet").code == 0
    (folder / "model.safetensors").unlink()
    assert run("train", "--resume", str(folder), "--quiet").code == 0
    assert not (folder / "scores.csv").exists()
    assert not (folder / "evaluation.json").exists()


@pytest.fixture(scope="module")
def finished(small_data: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has ended after four epochs, and was evaluated."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    assert run("train", "--data", small_data, *SMALL, "-o", str(folder), "--quiet").code == 0
    assert run("evaluate", str(folder), "--step", "90", "--quiet").code == 0
    return folder


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["--dims", "8"], "--dims"),  # even as it is
        (["--learning-rate", "0.1"], "--learning-rate"),
        (["--set", "epochs=9"], "--set"),
        (["--compile"], "--compile"),
        (["--data", "digits"], "--data"),
        (["--seed", "3"], "--seed"),
    ],
)
def test_resuming_refuses_what_would_make_another_run(
    finished: Path, arguments: list[str], option: str
) -> None:
    result = run("train", "--resume", str(finished), *arguments)
    assert result.code == 2
    assert result.err == f"scn: --resume goes on with {finished} as it was begun: leave out {option}\n"


def test_resuming_takes_what_makes_no_difference(finished: Path) -> None:
    more = ("--device", "cpu", "--checkpoint-minutes", "1", "--backbone", "mlp", "--quiet", "--epochs", "4")
    result = run("train", "--resume", str(finished), *more)
    assert (result.code, "is trained already" in result.err) == (0, True)


def test_a_finished_run_goes_on_with_more_epochs(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    before = runs.read(folder)
    lines = metrics(folder)
    result = run("train", "--resume", str(folder), "--epochs", "7")
    assert result.code == 0, result.err
    assert "epoch 7/7" in result.err
    after = runs.read(folder)
    assert after.config.recipe == {**before.config.recipe, "epochs": 7}
    assert after.config.source == {"epochs": [4]}
    assert metrics(folder)[:4] == lines
    assert [line["epoch"] for line in metrics(folder)] == [1, 2, 3, 4, 5, 6, 7]
    steps = int(380 / 32)
    rates = [Recipe(epochs=7).rate(steps * epoch - 1, steps) for epoch in (5, 6, 7)]
    assert [line["learning_rate"] for line in metrics(folder)[4:]] == pytest.approx(rates)
    assert metrics(folder)[4]["loss"] < lines[0]["loss"]
    assert not (folder / "scores.csv").exists()
    assert not (folder / "checkpoint").exists()
    old, new = (one.network().state_dict() for one in (runs.read(finished), after))
    assert any(not torch.equal(old[name], new[name]) for name in old)
    assert run("evaluate", str(folder), "--step", "90", "--quiet").code == 0


def test_going_on_survives_being_killed_at_any_moment(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peace, killed = tmp_path / "peace", tmp_path / "killed"
    for folder in (peace, killed):
        shutil.copytree(finished, folder)
    assert run("train", "--resume", str(peace), "--epochs", "7", "--quiet").code == 0
    with monkeypatch.context() as patched:  # just before the new length is written
        patched.setattr("scn.runs.folder.write_json", _killed)
        assert run("train", "--resume", str(killed), "--epochs", "7", "--quiet").code == 9
    assert run("train", "--resume", str(killed), "--quiet").code == 0  # it is what it was
    old, again = (runs.read(one).network().state_dict() for one in (finished, killed))
    assert all(torch.equal(old[name], again[name]) for name in old)
    assert runs.read(killed).config.recipe["epochs"] == 4
    with monkeypatch.context() as patched:  # in the middle of the training
        patched.setattr("scn.experiment.train._Keeper.note", _killed)
        assert run("train", "--resume", str(killed), "--epochs", "7", "--quiet").code == 9
    assert not runs.read(killed).is_trained
    assert run("train", "--resume", str(killed), "--quiet").code == 0
    assert (killed / "model.safetensors").read_bytes() == (peace / "model.safetensors").read_bytes()
    assert metrics(killed) == metrics(peace)


def _killed(*_: Any) -> None:
    raise SystemExit(9)


def test_lengths_that_a_run_cannot_have_are_refused(finished: Path, small_data: str, tmp_path: Path) -> None:
    for few in ("3", "0", "-1"):
        result = run("train", "--resume", str(finished), "--epochs", few)
        assert result.code == 2
        assert f"has 4 epochs behind it: --epochs must be more, but is {few}" in result.err
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    (folder / "model.safetensors").unlink()
    result = run("train", "--resume", str(folder), "--epochs", "9")
    assert result.code == 2
    assert "has not come to the end of its 4 epochs: go on without --epochs first" in result.err
    assert (finished / "scores.csv").is_file()


def test_a_comparison_does_not_take_a_longer_run_for_one_of_its_own(
    finished: Path, small_data: str, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    shutil.copytree(finished, folder / "scn-d8-seed0")
    assert run("train", "--resume", str(folder / "scn-d8-seed0"), "--epochs", "5", "--quiet").code == 0
    chosen = ("--methods", "scn", "--dims", "8", "--seeds", "1", "-o", str(folder))
    result = run("compare", "--data", small_data, *SMALL, "--epochs", "5", *chosen)
    said = "was trained on after it had ended at 4 epochs, where one is asked for that was trained in one go"
    assert (result.code, said in result.err) == (2, True)


def test_the_report_says_how_a_longer_run_was_made(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    assert run("train", "--resume", str(folder), "--epochs", "5", "--quiet").code == 0
    assert run("evaluate", str(folder), "--step", "90", "--quiet").code == 0
    begun, longer, evaluated = commands(collect([folder]))
    assert "--set epochs=4" in begun
    assert longer == f"scn train --resume {folder} --epochs 5"
    assert evaluated.startswith(f"scn evaluate {folder}")
