"""Pictures as files: PNG, SVG or PDF by the suffix, whole or not at all."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scn.core.errors import ScnError
from scn.core.storage import write_atomically

# What keeps the date out of a file, so that the same picture is the same file.
UNDATED: dict[str, dict[str, Any]] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def write_figure(figure: Any, path: Path, dpi: int) -> None:
    """Write a figure; the suffix says how."""
    content, suffix = io.BytesIO(), path.suffix.lower()
    figure.savefig(content, dpi=dpi, format=suffix[1:], metadata=UNDATED[suffix])
    save(path, content.getvalue())


def save(path: Path, content: bytes) -> None:
    """Write what has been drawn, with the folders above it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ScnError(f"{path} cannot be written ({error}): choose another place with -o") from error
    write_atomically(path, content)


def check_figure_file(path: Path, suffixes: Sequence[str]) -> None:
    """Refuse, before any work, a file that could not be written."""
    if path.suffix.lower() not in suffixes:
        raise ScnError(f"{path} must end in {' or '.join(suffixes)}: the suffix says what is written")
    if path.is_dir():
        raise ScnError(f"{path} is a folder: name a file in it, such as -o {path / ('figure' + suffixes[0])}")
    folder = path.parent
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise ScnError(f"{path} cannot be written: choose another place with -o")
