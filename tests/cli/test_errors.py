"""Errors as a user meets them: one line for what a person can mend, a traceback for a fault of ours."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commands import run
from scn.cli import tasks
from scn.core.errors import Failed, ScnError

CALL = "from scn.cli.main import main; main()"


def start(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def fail_with(error: str) -> str:
    """A call of `scn tasks` in which something is wrong."""
    return f"""
def broken(): raise {error}
import scn.cli.tasks as tasks
class Table(dict):
    def values(self): broken()
tasks.TASKS = Table()
{CALL}
"""


def test_a_fault_of_the_program_keeps_its_traceback() -> None:
    process = start(fail_with('TypeError("an int is no str")'), "tasks")
    _, err = process.communicate()
    assert process.returncode == 1
    assert "Traceback" in err
    assert "in broken" in err
    assert err.rstrip().endswith("TypeError: an int is no str")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ScnError("no such thing"), 2),
        (Failed("the disk is full"), 1),
        (PermissionError(13, "denied", "x"), 1),
    ],
)
def test_an_error_for_people_is_one_line(
    error: Exception, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Table(dict[str, object]):
        def values(self) -> None:  # type: ignore[override]
            raise error

    monkeypatch.delenv("SCN_DEBUG", raising=False)
    monkeypatch.setattr(tasks, "TASKS", Table())
    result = run("tasks")
    assert (result.code, result.out, result.err) == (code, "", f"scn: {error}\n")


def test_debugging_shows_the_traceback_of_an_error_for_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = run("evaluate", str(tmp_path / "none"))
    assert plain.code == 2
    assert "Traceback" not in plain.err
    monkeypatch.setenv("SCN_DEBUG", "1")
    process = start(CALL, "evaluate", str(tmp_path / "none"))
    _, err = process.communicate()
    assert process.returncode == 1
    assert "Traceback" in err
    assert "is not a run: it has no config.json" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate", "run", "--zzz"], "No such option: --zzz (`scn evaluate --help` says more)"),
        (["evaluat"], "No such command 'evaluat'"),
        (["evaluate"], "Missing argument"),
        (["data", "get"], "(`scn data get --help` says more)"),
        (["compare", "--seeds", "x", "-o", "y"], "--seeds"),
    ],
)
def test_wrong_words_are_one_line(words: list[str], message: str) -> None:
    result = run(*words)
    assert result.code == 2
    assert len(result.err.splitlines()) == 1
    assert result.err.startswith("scn: ")
    assert message in result.err


def test_no_words_are_answered_by_the_help() -> None:
    result = run()
    assert result.code == 2
    assert "explore" in result.out + result.err


def test_an_interruption_while_torch_is_imported_is_no_traceback() -> None:
    code = f"""
import sys
class Stop:
    def find_spec(self, name, path=None, target=None):
        if name == "torch": raise KeyboardInterrupt
sys.meta_path.insert(0, Stop())
{CALL}
"""
    process = start(code, "tasks")
    out, err = process.communicate()
    assert (process.returncode, out, err) == (130, "", "")


def test_an_interruption_of_a_command_is_no_traceback() -> None:
    code = f"""
import scn.cli.tasks as tasks, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
class Table(dict):
    def values(self):
        print("begun", flush=True)
        time.sleep(60)
        return []
tasks.TASKS = Table()
{CALL}
"""
    process = start(code, "tasks")
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in err
