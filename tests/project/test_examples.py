"""The examples run as they stand, and their parts work from the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def python(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_bring_your_own(tmp_path: Path) -> None:
    done = python(str(EXAMPLES / "bring_your_own.py"), str(tmp_path / "own"), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "visibility 0.1: accuracy" in done.stdout
    mean = float(done.stdout.split("mean ")[1].split()[0])
    assert mean > 0.8

    command = ("-c", "from scn.cli.main import main; main()")
    data = ("--data", str(tmp_path / "own" / "mine.npz"), "--epochs", "2", "--batch-size", "64")
    run = str(tmp_path / "run")
    own = ("--backbone", "my_parts:TinyNet")
    trained = python(*command, "train", *data, *own, "-o", run, folder=EXAMPLES)
    assert trained.returncode == 0, trained.stderr
    evaluated = python(*command, "evaluate", run, *own, "--step", "90", folder=EXAMPLES)
    assert evaluated.returncode == 0, evaluated.stderr
    assert "4 settings, 450 test samples" in evaluated.stdout
    unnamed = python(*command, "evaluate", run, folder=EXAMPLES)
    assert unnamed.returncode == 2
    assert "say --backbone my_parts:TinyNet" in unnamed.stderr


@pytest.mark.parametrize("script", ["own_training_loop.py"])
def test_the_training_loop_of_the_example(script: str, tmp_path: Path) -> None:
    """With a single epoch: the whole of it is a minute's work."""
    code = f"import runpy; m = runpy.run_path({str(EXAMPLES / script)!r}); g = m['main'].__globals__; "
    code += "g.update(EPOCHS=1, SEEDS=2, STEP=90); from pathlib import Path; m['main'](Path('out'))"
    done = python("-c", code, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "digits.png").stat().st_size > 10_000
