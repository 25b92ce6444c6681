"""What every engine is: a function that carries out jobs, and the table of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from scn.core.registry import Registry

J = TypeVar("J")
R = TypeVar("R")


@dataclass(frozen=True)
class Ended(Generic[J, R]):
    """A job that is over: its result, or the error that it ended in."""

    job: J
    result: R | None = None
    error: Exception | None = None


class Engine(Protocol):
    """Calls work(folder, job) for each of the jobs, `at_once` of them side by side.

    What jobs write to `folder`, each to files of its own, is there when they have ended, wherever they were
    carried out.
    """

    def __call__(
        self, work: Callable[[Path, J], R], jobs: Sequence[J], folder: Path, at_once: int
    ) -> Iterator[Ended[J, R]]: ...


registry: Registry[Engine] = Registry("engine")


def cores() -> int:
    """How many processors this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(allowed(0)) if allowed else os.cpu_count() or 1
