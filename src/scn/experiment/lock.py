"""Files that one process has at a time: who would write over another is refused.

A lock ends with its process, however that ends.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from scn.core.errors import Failed

try:
    import fcntl
except ImportError:  # not on this system: there is no lock
    fcntl = None  # type: ignore[assignment]

PAUSE = 0.1  # seconds between two attempts


@contextmanager
def alone(path: Path, otherwise: str, patience: float = 0.0) -> Iterator[None]:
    """Have this file, which must be there, alone. If another process has it, for longer than `patience` in
    seconds, the error says `otherwise`."""
    if fcntl is None:
        yield
        return
    last = time.monotonic() + patience
    with path.open() as file:
        while not _taken(file, fcntl.LOCK_EX):
            if time.monotonic() >= last:
                raise Failed(otherwise)
            time.sleep(PAUSE)
        yield


def is_taken(path: Path) -> bool:
    """Whether a process has this file alone; who begins to at this very moment needs some patience."""
    if fcntl is None or not path.is_file():
        return False
    with path.open() as file:
        return not _taken(file, fcntl.LOCK_SH)


def _taken(file: IO[str], kind: int) -> bool:
    """Whether the file could be had; it is until it is closed."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
