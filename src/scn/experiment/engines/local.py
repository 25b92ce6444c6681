"""The engine of this computer: processes that take one job after the other."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, Generic

from scn.core.errors import Failed
from scn.experiment.engines.base import (
    DIED,
    RETRIES,
    Ended,
    J,
    R,
    cores,
    named,
    outcome,
    registry,
    require_some,
)

UNABLE = 1  # the code of a Python that could not start or was told to exit: it would be so again
GRACE = 10.0  # seconds in which a process that is told to end may write its checkpoint


@registry.register("local")
def local(
    work: Callable[[Path, J], R], jobs: Sequence[J], folder: Path, at_once: int | None
) -> Iterator[Ended[J, R]]:
    """Processes that live as long as there are jobs; the job of one that dies is given to another."""
    require_some(at_once)
    waiting = deque(_Order(job) for job in jobs)
    idle: list[_Worker[J, R]] = []
    busy: dict[Any, _Worker[J, R]] = {}  # by their connections
    try:
        while waiting or busy:
            while waiting and len(busy) < (at_once or cores()):
                worker = idle.pop() if idle else _Worker(work, folder)
                worker.give(waiting.popleft())
                busy[worker.connection] = worker
            for connection in wait(list(busy)):
                worker = busy.pop(connection)
                ended = worker.take()
                if worker.process.is_alive():
                    idle.append(worker)
                if isinstance(ended.error, _Died) and worker.order.deaths <= RETRIES:
                    waiting.appendleft(worker.order)
                else:
                    yield ended
    finally:
        _end([*idle, *busy.values()])


class _Died(Failed):
    """A process was killed before it had a result."""


@dataclass
class _Order(Generic[J]):
    """A job, and how many processes have died of it."""

    job: J
    deaths: int = 0


class _Worker(Generic[J, R]):
    """One process, and the job that it has."""

    order: _Order[J]

    def __init__(self, work: Callable[[Path, J], R], folder: Path) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.connection, theirs = spawn.Pipe()
        self.process: BaseProcess = spawn.Process(target=_serve, args=(theirs, work, folder), daemon=True)
        with _interruptions_postponed():
            self.process.start()
        theirs.close()

    def give(self, order: _Order[J]) -> None:
        self.order = order
        with suppress(ConnectionError):  # it has died while it was idle, which `take` finds out
            self.connection.send(order.job)

    def take(self) -> Ended[J, R]:
        """What came of the job."""
        job = self.order.job
        try:
            sent = self.connection.recv_bytes()
        except (EOFError, OSError):  # nothing, or a part
            self.order.deaths += 1
            self.process.join()
            code = self.process.exitcode
            return Ended(job, error=(Failed if code == UNABLE else _Died)(DIED.format(f"code {code}")))
        try:
            result, error = ForkingPickler.loads(sent)
        except Exception as unread:  # of whatever was to be made of what was sent
            return Ended(job, error=RuntimeError(f"its result cannot be read: {named(unread)}"))
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


def _serve(connection: Connection, work: Callable[[Path, Any], Any], folder: Path) -> None:
    """In a worker: carry out jobs until the process is ended. Ctrl-C is for the caller, who ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent()
    try:
        while True:
            job = connection.recv()
            _answer(connection, outcome(work, folder, job))
    except (KeyboardInterrupt, EOFError, ConnectionError):
        return


def _answer(connection: Connection, found: tuple[Any, Exception | None]) -> None:
    try:
        connection.send(found)
    except ConnectionError:
        raise
    except Exception as unsent:  # nothing of it is on its way yet
        connection.send((None, RuntimeError(f"its result cannot be sent: {named(unsent)}")))


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
