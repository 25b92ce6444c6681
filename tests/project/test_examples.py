"""The examples run as they stand, and their parts work from the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commands import in_this_process, run

EXAMPLES = Path(__file__).parents[2] / "examples"


def python(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_bring_your_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = python(str(EXAMPLES / "bring_your_own.py"), str(tmp_path / "own"), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "visibility 0.1: accuracy" in done.stdout
    mean = float(done.stdout.split("mean ")[1].split()[0])
    assert mean > 0.8

    monkeypatch.chdir(EXAMPLES)
    monkeypatch.syspath_prepend(EXAMPLES)  # and taken out again, as what the command puts there
    data = ("--data", str(tmp_path / "own" / "mine.npz"), "--epochs", "2", "--batch-size", "64", "--quiet")
    folder = str(tmp_path / "run")
    own = ("--backbone", "my_parts:TinyNet")
    trained = run("train", *data, *own, "-o", folder)
    assert trained.code == 0, trained.err
    evaluated = run("evaluate", folder, *own, "--step", "90", "--quiet")
    assert evaluated.code == 0, evaluated.err
    assert "4 settings, 450 test samples" in evaluated.out
    unnamed = run("evaluate", folder)
    assert unnamed.code == 2
    assert "say --backbone my_parts:TinyNet" in unnamed.err


def test_the_sweep(tmp_path: Path) -> None:
    """With a single epoch and seed."""
    path, text = tmp_path / "sweep.toml", (EXAMPLES / "sweep.toml").read_text()
    path.write_text(text.replace("epochs = 30", "epochs = 1").replace("seeds = 2", "seeds = 1"))
    with in_this_process():
        done = run("sweep", str(path), "-o", str(tmp_path / "out"), "--quiet")
    assert done.code == 0, done.err
    assert len((tmp_path / "out" / "sweep.csv").read_text().splitlines()) == 1 + 10


@pytest.mark.parametrize("script", ["own_training_loop.py"])
def test_the_training_loop_of_the_example(script: str, tmp_path: Path) -> None:
    """With a single epoch: the whole of it is a minute's work."""
    code = f"import runpy; m = runpy.run_path({str(EXAMPLES / script)!r}); g = m['main'].__globals__; "
    code += "g.update(EPOCHS=1, SEEDS=2, STEP=90); from pathlib import Path; m['main'](Path('out'))"
    done = python("-c", code, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "digits.png").stat().st_size > 10_000
