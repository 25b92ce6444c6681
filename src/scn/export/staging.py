"""Files appear all together, once each of them is complete and checked, or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from scn.core.errors import AlreadyThere, ScnError
from scn.core.storage import failures_named

PREFIX = ".scn-"


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """A place for files, which are moved to `folder` at the end; after an error nothing is left."""
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    _make_writable(folder)
    try:
        with failures_named(folder):
            temporary = tempfile.TemporaryDirectory(dir=folder, prefix=PREFIX)
        with temporary as name:
            place = Path(name)
            yield place
            for path in [path for path in sorted(place.rglob("*")) if path.is_file()]:
                target = folder / path.relative_to(place)
                with failures_named(target):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    path.replace(target)
    except BaseException:
        with suppress(OSError):  # a folder that something else has written to stays
            for new in made:
                new.rmdir()
        raise


def write_staged(path: Path, content: bytes) -> None:
    """Write a file of a place for files, with the folders above it."""
    with failures_named(final(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def final(path: Path) -> Path:
    """Where a file of a place for files is in the end: errors are about that."""
    return Path(*(part for part in path.parts if not part.startswith(PREFIX)))


def _make_writable(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise AlreadyThere(f"{folder} is a file: choose a folder to write to")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ScnError(f"the folder {folder} cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ScnError(f"the folder {folder} cannot be written to: choose another, or change its rights")
