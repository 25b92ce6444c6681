"""The engine of this computer: processes that take one job after the other."""

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
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, Generic

from scn.core.errors import Failed, ScnError
from scn.experiment.engines.base import Ended, J, R, registry

GRACE = 10.0  # seconds in which a process that is told to end may write its checkpoint


@registry.register("local")
def local(
    work: Callable[[Path, J], R], jobs: Sequence[J], folder: Path, at_once: int
) -> Iterator[Ended[J, R]]:
    """Processes that live as long as there are jobs; one that dies costs the job it had."""
    if at_once < 1:
        raise ScnError(f"`jobs` must be at least 1, but is {at_once}")
    waiting = deque(jobs)
    idle: list[_Worker[J, R]] = []
    busy: dict[Any, _Worker[J, R]] = {}  # by their connections
    try:
        while waiting or busy:
            while waiting and len(busy) < at_once:
                worker = idle.pop() if idle else _Worker(partial(work, folder))
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
        except (EOFError, ConnectionError):
            self.process.join()
            code = self.process.exitcode
            return Ended(
                job,
                error=Failed(
                    f"its process ended without a word (code {code}), perhaps for lack of memory: "
                    "fewer `jobs` at a time may help"
                ),
            )
        except Exception as unread:  # of whatever was to be made of what was sent
            return Ended(job, error=RuntimeError(f"its result cannot be read: {_named(unread)}"))
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
            _answer(connection, _outcome(work, job))
    except (KeyboardInterrupt, EOFError, ConnectionError):
        return


def _answer(connection: Connection, outcome: tuple[Any, Exception | None]) -> None:
    try:
        connection.send(outcome)
    except ConnectionError:
        raise
    except Exception as unsent:  # nothing of it is on its way yet
        connection.send((None, RuntimeError(f"its result cannot be sent: {_named(unsent)}")))


def _outcome(work: Callable[[Any], Any], job: Any) -> tuple[Any, Exception | None]:
    """The result, or an error that can be sent, with the traceback as a note."""
    try:
        return work(job), None
    except Exception as error:
        if isinstance(error, ScnError | OSError) and _can_be_sent(error):
            error.add_note(f"in a process of its own:\n{traceback.format_exc()}")
            return None, error
        # of a type that may not be there, or not be made of texts and numbers alone
        return None, RuntimeError(f"{_named(error)}\n{traceback.format_exc()}")


def _can_be_sent(error: Exception) -> bool:
    """Whether it can be made again from what is sent of it."""
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:
        return False
    return True


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


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
