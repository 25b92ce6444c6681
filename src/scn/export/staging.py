"""Files appear all together, once each of them is complete and checked, or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from scn.core.errors import AlreadyThere, ScnError


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """A place for files, which are moved to `folder` at the end; after an error nothing is left."""
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    _make_writable(folder)
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".scn-") as name:
            place = Path(name)
            yield place
            for path in [path for path in sorted(place.rglob("*")) if path.is_file()]:
                target = folder / path.relative_to(place)
                target.parent.mkdir(parents=True, exist_ok=True)
                path.replace(target)
    except BaseException:
        with suppress(OSError):  # a folder that something else has written to stays
            for new in made:
                new.rmdir()
        raise


def _make_writable(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise AlreadyThere(f"{folder} is a file: choose a folder to write to")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ScnError(f"the folder {folder} cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ScnError(f"the folder {folder} cannot be written to: choose another, or change its rights")
