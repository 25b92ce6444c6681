"""Engines: every job once, none lost by another's failure, and nothing left when nobody asks any more."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Timer

import pytest

from commands import run
from scn.core.errors import Failed, ScnError
from scn.experiment import engines
from scn.experiment.engines import local


class Odd(Exception):
    """An error that cannot be sent from process to process."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


class OddForPeople(ScnError):
    """The same of the family that is sent as it is."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} or {other}")


class Unreadable:
    """A result that cannot be made again from what is sent of it."""

    def __reduce__(self) -> tuple[type[OddForPeople], tuple[int]]:
        return OddForPeople, (1,)


def work_oddly(folder: Path, name: str) -> object:
    """Come to a result, or an error, that does not travel."""
    if name == "error":
        raise OddForPeople(1, 2)
    return {"sent": lambda: None, "read": Unreadable()}.get(name, name)


def await_file(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


def work_in_turn(folder: Path, job: str) -> str:
    """One that leaves a file behind, and one that waits for it."""
    if job == "leaves":
        (folder / "left").touch()
    elif job == "waits":
        await_file(folder / "left")
    return job


def work(folder: Path, job: tuple[str, float]) -> str:
    """What a job's name says."""
    name, value = job
    if name == "fail":
        raise ScnError(f"{value} is wrong")
    if name == "odd":
        raise Odd(1, 2)
    if name == "die":
        os._exit(9)
    elif name == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
    return f"{name} {value}"


def note(path: Path) -> None:
    """Go on writing for ever."""
    while True:
        with path.open("a") as file:
            file.write("x")
        time.sleep(0.01)


def count(folder: Path, job: int) -> int:
    """How many are at work beside this one."""
    mine = folder / str(os.getpid())
    mine.touch()
    time.sleep(0.3)
    found = len(list(folder.iterdir()))
    mine.unlink()
    return found


def test_results_come_in_the_order_in_which_jobs_end(tmp_path: Path) -> None:
    ended = list(local(work_in_turn, ["waits", "first", "leaves"], tmp_path, 2))
    assert ended[0].result == "first"  # the other worker has both
    assert {one.result for one in ended[1:]} == {"waits", "leaves"}
    assert all(one.job == one.result for one in ended)


def test_a_job_that_fails_or_always_dies_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[local.__module__], "RETRIES", 1)
    jobs = [("fail", 7.0), ("die", 0.0), ("odd", 0.0), ("quick", 1.0), ("quick", 2.0)]
    ended = {one.job: one for one in local(work, jobs, tmp_path, 2)}
    assert set(ended) == set(jobs)
    assert [ended[job].result for job in jobs[3:]] == ["quick 1.0", "quick 2.0"]
    wrong = ended["fail", 7.0].error
    assert isinstance(wrong, ScnError)
    assert str(wrong) == "7.0 is wrong"
    assert 'raise ScnError(f"{value} is wrong")' in wrong.__notes__[0]
    died = ended["die", 0.0].error
    assert isinstance(died, Failed)
    assert "its process ended without a word (code 9)" in str(died)
    assert "Odd: 1 and 2" in str(ended["odd", 0.0].error)


def die_at_first(folder: Path, job: int) -> int:
    """Write how often this was tried, and come to an end the third time."""
    tried = folder / f"{job}.tried"
    with tried.open("a") as file:
        file.write("x")
    if job == 1 and len(tried.read_text()) < 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return job


def test_a_job_whose_process_dies_is_tried_again_and_goes_on_with_what_it_wrote(tmp_path: Path) -> None:
    ended = list(local(die_at_first, [0, 1, 2], tmp_path, 1))
    assert [one.result for one in ended] == [0, 1, 2]
    assert [(tmp_path / f"{job}.tried").read_text() for job in (0, 1, 2)] == ["x", "xxx", "x"]


def die_unasked(folder: Path, job: str) -> str:
    """One dies when its work is done; the other dies later, and its job is given to the dead one first."""
    if job == "dies":
        Timer(0.2, os._exit, [9]).start()
    elif job == "waits":
        time.sleep(1.0)
        if not (folder / "tried").exists():
            (folder / "tried").touch()
            os._exit(9)
    return job


def leave(folder: Path, job: int) -> None:
    with (folder / "tried").open("a") as file:
        file.write("x")
    sys.exit(1)


def test_a_process_that_exits_of_itself_is_not_tried_again(tmp_path: Path) -> None:
    (ended,) = local(leave, [0], tmp_path, 1)
    assert "its process ended without a word (code 1)" in str(ended.error)
    assert (tmp_path / "tried").read_text() == "x"


def test_a_worker_that_died_while_it_was_idle_costs_nothing(tmp_path: Path) -> None:
    ended = list(local(die_unasked, ["dies", "waits"], tmp_path, 2))
    assert {one.result for one in ended} == {"dies", "waits"}


def test_what_cannot_be_sent_or_read_costs_its_own_job_only(tmp_path: Path) -> None:
    jobs = ["error", "sent", "read", "plain"]
    ended = {one.job: one for one in local(work_oddly, jobs, tmp_path, 1)}
    assert set(ended) == set(jobs)
    assert "OddForPeople: 1 or 2" in str(ended["error"].error)
    assert "its result cannot be sent: " in str(ended["sent"].error)
    assert "its result cannot be read: TypeError: " in str(ended["read"].error)
    assert ended["plain"].result == "plain"


def test_no_more_jobs_than_asked_for_are_side_by_side(tmp_path: Path) -> None:
    found = [one.result for one in local(count, range(4), tmp_path, 2)]
    assert all(one is not None and one <= 2 for one in found)


def test_nothing_goes_on_when_nobody_asks_any_more(tmp_path: Path) -> None:
    path = tmp_path / "written"
    results = local(_note_or_wait, ["note", "wait"], tmp_path, 2)
    assert next(results).result == "waited"
    assert path.stat().st_size > 0
    results.close()  # type: ignore[attr-defined]
    before = path.stat().st_size
    time.sleep(0.3)
    assert path.stat().st_size == before


def _note_or_wait(folder: Path, job: str) -> str:
    path = folder / "written"
    if job == "note":
        note(path)
    await_file(path)
    while not path.stat().st_size:  # it is there before it has anything in it
        time.sleep(0.01)
    return "waited"


def test_ctrl_c_is_for_the_caller_and_not_for_the_workers(tmp_path: Path) -> None:
    assert [one.result for one in local(work, [("interrupt", 1.0)], tmp_path, 1)] == ["interrupt 1.0"]


@pytest.mark.parametrize("by_another_thread", [False, True])
def test_ctrl_c_while_a_process_starts_is_heard_when_it_has_started(
    by_another_thread: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, started = BaseProcess.start, []

    def start(process: BaseProcess) -> None:
        if by_another_thread:
            with ThreadPoolExecutor(max_workers=1) as pool:
                pool.submit(signal.pthread_sigmask, signal.SIG_UNBLOCK, {signal.SIGINT}).result()
                pool.submit(signal.raise_signal, signal.SIGINT).result()
        else:
            os.kill(os.getpid(), signal.SIGINT)
        begin(process)
        started.append(process)

    monkeypatch.setattr(BaseProcess, "start", start)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            list(local(work, [("quick", 1.0)], tmp_path, 1))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(started) == 1


def test_one_at_a_time_is_the_least(tmp_path: Path) -> None:
    with pytest.raises(ScnError, match="`jobs` must be at least 1, but is 0"):
        list(local(work, [("quick", 1.0)], tmp_path, 0))


def test_only_the_processors_that_may_be_used_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert engines.cores() == 1
    monkeypatch.delattr(os, "sched_getaffinity")
    assert engines.cores() == 64


OWN = """
from scn.experiment.engines.base import Ended, registry

@registry.register("in-turn")
def in_turn(work, jobs, folder, at_once):
    for job in jobs:
        yield Ended(job, work(folder, job))
"""


def test_an_engine_in_a_file_of_its_own_carries_out_a_comparison(
    small_data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "engine_in_turn.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(engines.registry, "_entries", dict(engines.registry._entries))
    call = ["compare", "--data", small_data, "--methods", "one4all", "--seeds", "1", "--width", "4"]
    call += ["--epochs", "1", "--batch-size", "32", "--step", "90", "-o", str(tmp_path / "c"), "--quiet"]
    refused = run(*call, "--engine", "in-turn")
    assert (refused.code, 'there is no engine "in-turn"' in refused.err) == (2, True)
    assert not (tmp_path / "c").exists()
    importlib.import_module("engine_in_turn")
    assert run(*call, "--engine", "in-turn").code == 0
    assert (tmp_path / "c" / "one4all-seed0" / "scores.csv").is_file()


def test_an_unknown_engine_is_an_error() -> None:
    with pytest.raises(ScnError, match=r'there is no engine "remote"\. Known: local'):
        engines.get("remote")
