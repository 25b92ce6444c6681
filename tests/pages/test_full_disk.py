"""A disk without space: the picture that could not be written is named, and what was there stays."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import official_files as official
from commands import run
from scn import transforms
from scn.core.errors import Failed
from scn.data.sources import Request, convert, sources
from scn.objectives.classification import ACCURACY
from scn.plots.comparison import draw_comparison
from scn.plots.samples import draw_samples
from scn.plots.search import draw_search, draw_stream
from scn.runs.outcome import Outcome
from scn.search.stream import Stream
from scn.search.study import SearchRow

ROTATION = transforms.get("rotation")
FLAT, NEVER = torch.zeros(12, 1), torch.zeros(12, dtype=torch.bool)
PICTURES: dict[str, Callable[[Path], None]] = {
    "samples": lambda path: draw_samples([(torch.zeros(2, 1, 4, 4), ["a", "b"])], "title", path),
    "search": lambda path: draw_search(
        [SearchRow(1, 10, 0.8, 0.9, 24, 0.01, 0.1, 2.0)], ACCURACY, "title", path
    ),
    "stream": lambda path: draw_stream(
        Stream(FLAT, FLAT, FLAT, NEVER, NEVER, FLAT[:, 0], FLAT[:, 0], NEVER, torch.tensor([])),
        ROTATION,
        "title",
        path,
    ),
    "comparison": lambda path: draw_comparison(
        [Outcome("one4all", 1, 0, 10, 10, [[0.0], [180.0]], [0.8, 0.9], 0.85)],
        ROTATION,
        ACCURACY,
        "title",
        path,
    ),
}


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_that_cannot_be_written_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.png"
    path.write_text("of before")
    with pytest.raises(Failed, match=rf"{name}\.png cannot be written: No space left on device"):
        PICTURES[name](path)
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {path.name: "of before"}


@pytest.mark.usefixtures("full")
def test_a_data_set_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    official.fruit(tmp_path)
    with pytest.raises(Failed, match=r"fruit\.npz cannot be written: No space left on device"):
        convert(sources.get("fruit"), Request((tmp_path,)), tmp_path)


@pytest.mark.parametrize("name", ["sheet.txt", "sheet"])
def test_a_sheet_of_samples_is_a_picture_by_its_suffix(name: str, tmp_path: Path) -> None:
    result = run("data", "show", "digits", "-o", str(tmp_path / name))
    assert (result.code, "must end in .png or .svg or .pdf" in result.err) == (2, True)
    assert list(tmp_path.iterdir()) == []
