"""Run a command of `scn` in this process and catch what a user would see."""

from __future__ import annotations

import contextlib
import io
import sys
from dataclasses import dataclass
from unittest import mock

from scn.cli.main import main


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
