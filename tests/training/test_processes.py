"""Several processes that train one network: the result of one process with their batches put together."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
import torch
from test_train import Enough, metrics
from torch import Tensor

from commands import run
from scn import runs
from scn.core.errors import ScnError
from scn.core.storage import load_model
from scn.experiment.plan import plan_run
from scn.experiment.train import epochs_trained, train
from scn.runs import backbone_of
from scn.training.processes import Processes
from scn.training.recipe import Recipe
from scn.training.shared_step import used_rows
from scn.training.state import State

SCRIPT = Path(__file__).with_name("shared_trainings.py")
SMALL = ("--width", "8", "--epochs", "8", "--quiet")  # 40 steps of 64 samples

PATIENCE = 240.0  # seconds

# What is trained by both: by name, the options. No batch under 4 settings uses all of 12 nodes.
CASES = {
    "one4all": ("--method", "one4all"),
    "nodes": ("--dims", "12", "--alphas-per-batch", "4"),
    "learned": ("--dims", "3", "--map", "learned"),
    "adam": ("--dims", "12", "--alphas-per-batch", "4", "--set", "optimiser=adam"),
    "one-setting": ("--dims", "6", "--alphas-per-batch", "1", "--evidence-weight", "0.5"),
    "flipped": ("--dims", "2", "--set", "horizontal_flip=true"),
    "norms": ("--dims", "3", "--backbone", "shared_trainings:WithNorms"),
    "unused": ("--method", "one4all", "--backbone", "shared_trainings:WithUnused"),
}

QUICK = ("nodes", "norms")
RECIPE = Recipe(epochs=8, batch_size=64, alphas_per_batch=4)


def options(name: str, data: str, folder: Path, batch: int) -> list[str]:
    sizes = SMALL if "--backbone" not in CASES[name] else SMALL[2:]
    where = ("--data", data, "--batch-size", str(batch), "-o", str(folder / name))
    return ["train", *CASES[name], *sizes, *where]


def torchrun(*words: str, count: int = 2) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(count)]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]  # any port that is free
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [*command, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Its exit code, and what it wrote; one that hangs is ended with the processes that it started."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate()
        pytest.fail(f"it hung: {err}")
    return process.returncode, out, err


def weights(folder: Path) -> dict[str, Tensor]:
    return load_model(folder / "model.safetensors")[0]


def assert_alike(folder: Path, other: Path) -> None:
    """Within what the order of sums makes of rounding."""
    torch.testing.assert_close(weights(folder), weights(other), rtol=1e-5, atol=1e-5)
    for line, expected in zip(metrics(folder), metrics(other), strict=True):
        assert line == pytest.approx(expected, rel=1e-4)
    assert runs.read(folder).recipe() == runs.read(other).recipe()


def interrupted(data: str, folder: Path) -> list[str]:
    """Begin a run in one process and stop it in the middle; what goes on with it."""

    def stop(state: State, *_: Any) -> None:
        if state.step == 13:
            raise Enough

    config = plan_run(data, "rotation", "mlp", "scn", RECIPE, dims=12, sizes={"width": 8})
    begun = runs.create(folder, config)
    with pytest.raises(Enough):
        train(begun, backbone_of(begun), checkpoint_minutes=1e-9, report=stop)
    return ["train", "--resume", str(folder), "--quiet"]


@pytest.mark.parametrize("names", [QUICK, pytest.param([*CASES.keys() - QUICK], marks=pytest.mark.slow)])
def test_two_processes_train_what_one_trains_with_the_doubled_batch(
    names: Collection[str], small_data: str, tmp_path: Path
) -> None:
    """And they go on where one was interrupted."""
    two, one, listed = (tmp_path / name for name in ("two", "one", "commands.json"))
    together = [options(name, small_data, two, 32) for name in names]
    listed.write_text(json.dumps([*together, interrupted(small_data, two / "resumed")]))
    process = torchrun(str(SCRIPT), str(listed))
    for command in [
        *(options(n, small_data, one, 64) for n in names),
        interrupted(small_data, one / "resumed"),
    ]:
        done = run(*command)
        assert done.code == 0, done.err
    code, out, err = ended(process)
    assert code == 0, err
    assert out.splitlines() == [str(two / name) for name in (*names, "resumed")]  # one of the two says it
    for name in (*names, "resumed"):
        assert_alike(two / name, one / name)


def wait_for_epochs(folder: Path, more: int) -> None:
    """Until so many more epochs are behind it."""
    began, before = time.monotonic(), epochs_trained(folder) or 0
    while (epochs_trained(folder) or 0) < before + more:
        assert time.monotonic() - began < PATIENCE, f"nothing is written to {folder}"
        time.sleep(0.01)


@pytest.mark.slow
def test_two_processes_that_were_stopped_and_killed_end_bit_for_bit_the_same(
    small_data: str, tmp_path: Path
) -> None:
    peace, disturbed = tmp_path / "peace", tmp_path / "disturbed"
    sizes = ("--data", small_data, "--dims", "12", "--batch-size", "16", "--epochs", "60", "--width", "8")
    often = ("--checkpoint-minutes", "0.002", "--quiet")
    code, _, err = ended(torchrun("-m", "scn", "train", *sizes, *often, "-o", str(peace)))
    assert code == 0, err

    process = torchrun("-m", "scn", "train", *sizes, *often, "-o", str(disturbed))
    wait_for_epochs(disturbed, 5)
    process.send_signal(signal.SIGTERM)
    code, _, err = ended(process)
    assert code != 0
    assert err.count(f"`scn train --resume {disturbed}` goes on") == 1
    assert runs.read(disturbed).checkpoint_file.is_file()

    process = torchrun("-m", "scn", "train", "--resume", str(disturbed), *often)
    wait_for_epochs(disturbed, 5)
    second = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[1]
    os.kill(int(second), signal.SIGKILL)
    assert ended(process)[0] != 0

    code, _, err = ended(torchrun("-m", "scn", "train", "--resume", str(disturbed), *often))
    assert code == 0, err
    files = [(folder / "model.safetensors").read_bytes() for folder in (peace, disturbed)]
    assert files[0] == files[1]
    assert_alike(peace, disturbed)  # with the metrics: a loss is put together anew at every checkpoint


@pytest.mark.slow
def test_a_wrong_number_of_processes_is_refused_once_and_before_anything_is_written(
    small_data: str, tmp_path: Path
) -> None:
    sizes = ("--batch-size", "32", "--alphas-per-batch", "2")
    words = ("train", "--data", small_data, *sizes, "-o", str(tmp_path / "run"))
    code, _, err = ended(torchrun("-m", "scn", *words, count=3))
    assert code != 0
    assert err.count("a batch under 2 settings cannot be divided among 3 processes") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("changes", "count", "message"),
    [
        ({"batch_size": 64}, 3, "a batch of 64 samples cannot be divided among 3 processes"),
        ({"batch_size": 96, "alphas_per_batch": 4}, 3, "a batch under 4 settings cannot be divided among 3"),
        ({"compiled": True}, 2, "a compiled step is for one process"),
    ],
)
def test_what_cannot_be_divided_is_refused(changes: dict[str, Any], count: int, message: str) -> None:
    with pytest.raises(ScnError, match=message):
        Processes(0, count).require(Recipe(**changes), measured=False)


@pytest.mark.parametrize(
    ("changes", "count", "measured"),
    [
        ({"compiled": True}, 1, False),
        ({"alphas_per_batch": 1}, 2, False),
        ({"batch_size": 96, "alphas_per_batch": 4}, 3, True),
    ],
)
def test_what_can_be_divided_is_not_refused(changes: dict[str, Any], count: int, measured: bool) -> None:
    Processes(0, count).require(Recipe(**changes), measured=measured)


def test_shares_together_are_the_batch() -> None:
    rows = torch.arange(12)  # two batches of six
    shares = [Processes(rank, 3).share(rows, 6).tolist() for rank in range(3)]
    assert shares == [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11]]
    assert [Processes(rank, 4).share(rows, 2).tolist() for rank in range(4)] == [
        [0, 2, 4, 6, 8, 10],
        [0, 2, 4, 6, 8, 10],
        [1, 3, 5, 7, 9, 11],
        [1, 3, 5, 7, 9, 11],
    ]


def test_a_gradient_keeps_the_rows_that_anybody_used() -> None:
    gradient = torch.tensor([[0.0, 0.0], [0.0, -1.0], [0.0, 0.0], [2.0, 0.0]])
    kept = used_rows(gradient)
    assert kept is not None
    assert kept.is_sparse
    assert kept.coalesce().indices().tolist() == [[1, 3]]
    assert torch.equal(kept.to_dense(), gradient)
    full = torch.ones(2, 2)
    assert used_rows(full) is full
    assert used_rows(None) is None


def test_torchrun_is_for_trainings_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "1")
    done = run("compare", "--data", "digits", "-o", str(tmp_path / "comparison"))
    assert done.code == 2
    assert "torchrun is for `scn train`" in done.err
    assert not (tmp_path / "comparison").exists()
