"""Run a command of `scn` in this process and catch what a user would see; comparisons without workers."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from scn.cli.main import main
from scn.experiment import engines
from scn.experiment.engines import Ended


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


def run(*arguments: str) -> Result:
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", ["scn", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1 if stop.code else 0
    return Result(code, out.getvalue(), err.getvalue())


def _one_by_one(
    work: Callable[[Path, Any], Any], jobs: Sequence[Any], folder: Path, at_once: int
) -> Iterator[Ended[Any, Any]]:
    return (Ended(job, work(folder, job)) for job in jobs)


@contextmanager
def in_this_process() -> Iterator[None]:
    """Comparisons run here: each process would import torch first, which takes longer than its run."""
    with mock.patch.dict(engines.registry._entries, local=_one_by_one):
        yield
