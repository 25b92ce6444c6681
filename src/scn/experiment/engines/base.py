"""What every engine is: a function that carries out jobs, and the table of them."""

from __future__ import annotations

import inspect
import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from scn.core.errors import ScnError
from scn.core.registry import Registry

J = TypeVar("J")
R = TypeVar("R")

RETRIES = 5  # of a job whose process dies, which may be the job's own doing
DIED = "its process ended without a word ({}), perhaps for lack of memory: fewer `jobs` at a time may help"


@dataclass(frozen=True)
class Ended(Generic[J, R]):
    """A job that is over: its result, or the error that it ended in."""

    job: J
    result: R | None = None
    error: Exception | None = None


class Engine(Protocol):
    """Calls work(folder, job) for each of the jobs, `at_once` of them side by side, or as many as there are
    processors.

    What jobs write to `folder`, each to files of its own, is there when they have ended, wherever they were
    carried out. A job whose process dies is tried again, and goes on with what it has written. An engine of
    other machines has an argument `address`.
    """

    def __call__(
        self, work: Callable[[Path, J], R], jobs: Sequence[J], folder: Path, at_once: int | None
    ) -> Iterator[Ended[J, R]]: ...


@runtime_checkable
class Portable(Protocol):
    """Work that knows what it needs on a machine that shares no folder with this one.

    Any function is work, but is sent as it is, and its jobs begin anew.
    """

    def packed(self, jobs: Sequence[Any]) -> Callable[[Path, Any], Any]:
        """The same work, with everything it reads for these jobs in it."""

    def place(self, job: Any) -> str:
        """The name in `folder` of what this job writes, and goes on with if it is there."""


registry: Registry[Engine] = Registry("engine")


def get(name: str, address: str | None = None) -> Engine:
    """The engine of this name, which carries out its jobs at this address."""
    engine: Any = registry.get(name)
    if address is None:
        return engine
    if "address" not in inspect.signature(engine).parameters:
        raise ScnError(f"`engine={name}` works on this computer alone and takes no `address`")
    return partial(engine, address=address)


def require_some(at_once: int | None) -> None:
    """Refuse to do nothing at a time."""
    if at_once is not None and at_once < 1:
        raise ScnError(f"`jobs` must be at least 1, but is {at_once}")


def cores() -> int:
    """How many processors this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def outcome(work: Callable[[Path, Any], Any], folder: Path, job: Any) -> tuple[Any, Exception | None]:
    """In a worker: the result, or an error that can be sent, with the traceback as a note."""
    try:
        return work(folder, job), None
    except Exception as error:
        if isinstance(error, ScnError | OSError) and _can_be_sent(error):
            error.add_note(f"in a process of its own:\n{traceback.format_exc()}")
            return None, error
        # of a type that may not be there, or not be made of texts and numbers alone
        return None, RuntimeError(f"{named(error)}\n{traceback.format_exc()}")


def _can_be_sent(error: Exception) -> bool:
    """Whether it can be made again from what is sent of it."""
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:
        return False
    return True


def named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
