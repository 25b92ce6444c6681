"""Engines carry out many jobs: a function and its jobs in, what came of each out, in the order they end.

An engine promises that a job that fails takes no other with it, and that nothing goes on when its caller
stops asking. `local` are processes of this computer.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, Protocol, TypeVar

from scn.core.errors import Failed, ScnError
from scn.core.registry import Registry

J = TypeVar("J")
R = TypeVar("R")

GRACE = 10.0  # seconds in which a process that is told to end may write its checkpoint


@dataclass(frozen=True)
class Ended(Generic[J, R]):
    """A job that is over: its result, or the error that it ended in."""

    job: J
    result: R | None = None
    error: Exception | None = None


class Engine(Protocol):
    """Calls work(job) for each of the jobs, `at_once` of them side by side."""

    def __call__(self, work: Callable[[J], R], jobs: Sequence[J], at_once: int) -> Iterator[Ended[J, R]]: ...


registry: Registry[Engine] = Registry("engine")
get = registry.get


def cores() -> int:
    """How many processors this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(allowed(0)) if allowed else os.cpu_count() or 1


@registry.register("local")
def local(work: Callable[[J], R], jobs: Sequence[J], at_once: int) -> Iterator[Ended[J, R]]:
    """Processes that live as long as there are jobs; one that dies costs the job it had."""
    if at_once < 1:
        raise ScnError(f"`jobs` must be at least 1, but is {at_once}")
    waiting = deque(jobs)
    idle: list[_Worker[J, R]] = []
    busy: dict[Any, _Worker[J, R]] = {}  # by their connections
    try:
        while waiting or busy:
            while waiting and len(busy) < at_once:
                worker = idle.pop() if idle else _Worker(work)
                worker.give(waiting.popleft())
                busy[worker.connection] = worker
            for connection in wait(list(busy)):
                worker = busy.pop(connection)
                ended = worker.take()
                if worker.process.is_alive():
                    idle.append(worker)
                yield ended
    finally:
        _end([*idle, *busy.values()])


@dataclass
class _Worker(Generic[J, R]):
    """One process, and the job that it has."""

    work: Callable[[J], R]
    job: list[J] = field(default_factory=list)

    def __post_init__(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.connection, theirs = spawn.Pipe()
        self.process: BaseProcess = spawn.Process(target=_serve, args=(theirs, self.work), daemon=True)
        with _interruptions_postponed():
            self.process.start()
        theirs.close()

    def give(self, job: J) -> None:
        self.job = [job]
        self.connection.send(job)

    def take(self) -> Ended[J, R]:
        """What came of the job."""
        (job,) = self.job
        try:
            result, error = self.connection.recv()
        except EOFError:
            self.process.join()
            code = self.process.exitcode
            return Ended(
                job,
                error=Failed(
                    f"its process ended without a word (code {code}), perhaps for lack of memory: "
                    "fewer `jobs` at a time may help"
                ),
            )
        return Ended(job, result, error)


def _end(workers: Sequence[_Worker[Any, Any]]) -> None:
    """A training writes its checkpoint when its process is asked to end."""
    for worker in workers:
        worker.process.terminate()
    for worker in workers:
        worker.process.join(GRACE)
        worker.process.kill()
        worker.process.join()
        worker.connection.close()


def _serve(connection: Connection, work: Callable[[Any], Any]) -> None:
    """In a worker: carry out jobs until the process is ended. Ctrl-C is for the caller, who ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent()
    try:
        while True:
            job = connection.recv()
            connection.send(_outcome(work, job))
    except (KeyboardInterrupt, EOFError, BrokenPipeError):
        return


def _outcome(work: Callable[[Any], Any], job: Any) -> tuple[Any, Exception | None]:
    """The result, or an error that can be sent, with the traceback as a note."""
    try:
        return work(job), None
    except (ScnError, OSError) as error:
        error.add_note(f"in a process of its own:\n{traceback.format_exc()}")
        return None, error
    except Exception as error:  # of a type that may not be there, or not be made of texts and numbers alone
        return None, RuntimeError(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")


def _end_with_parent() -> None:
    """Workers would otherwise go on for hours when the command is killed. Their checkpoints stay."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        sentinel = parent.sentinel
        threading.Thread(target=lambda: (wait([sentinel]), os._exit(1)), daemon=True).start()


@contextmanager
def _interruptions_postponed() -> Iterator[None]:
    """Ctrl-C waits. A process that is started here does not hear it: it inherits the signals held back."""
    if not hasattr(signal, "pthread_sigmask"):  # not on every system
        yield
        return
    resource_tracker.ensure_running()  # it would let signals through again when the first process starts it
    heard: list[int] = []  # by another thread, which does not hold it back
    before = signal.getsignal(signal.SIGINT)
    in_charge = threading.current_thread() is threading.main_thread() and callable(before)
    if in_charge:
        signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        if in_charge:
            signal.signal(signal.SIGINT, before)
        if heard:
            signal.raise_signal(signal.SIGINT)
