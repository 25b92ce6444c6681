"""Shared fixtures. Real data are found by SCN_DATA_DIR; without them their tests are skipped."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import settings

from scn import data

torch.set_num_threads(1)
settings.register_profile("no deadline", deadline=None)  # a first call may import, and machines are shared
settings.load_profile("no deadline")


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def small_data(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A part of the digits as a data file of the user's own."""
    arrays = data.load("digits").arrays
    path = tmp_path_factory.mktemp("data") / "small.npz"
    np.savez(
        path,
        x_train=arrays["x_train"][:400],
        y_train=arrays["y_train"][:400],
        x_test=arrays["x_test"][:100],
        y_test=arrays["y_test"][:100],
    )
    return str(path)


def real_file(variable: str, name: str) -> Path:
    """A file in the folder that an environment variable names, or a skipped test that says why."""
    folder = os.environ.get(variable)
    if folder is None:
        pytest.skip(f"{variable} is not set: it names the folder with {name}")
    path = Path(folder) / name
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    return path
