"""Shared fixtures. Real data are found by SCN_DATA_DIR; without them their tests are skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from hypothesis import settings

torch.set_num_threads(1)
settings.register_profile("no deadline", deadline=None)  # a first call may import, and machines are shared
settings.load_profile("no deadline")


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def real_file(variable: str, name: str) -> Path:
    """A file in the folder that an environment variable names, or a skipped test that says why."""
    folder = os.environ.get(variable)
    if folder is None:
        pytest.skip(f"{variable} is not set: it names the folder with {name}")
    path = Path(folder) / name
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    return path
