"""Model files: safetensors with the configuration as JSON in the header, sealed by a checksum.

Reading a file never executes anything, and a file that was cut, changed or written by something else
is refused. Files appear whole or not at all: they are written beside their place and then renamed.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor

FORMAT = 1
_UNSEALED = "0" * 64


class ModelFileError(ValueError):
    """A file that is not a whole, unchanged model file of a format this version reads."""


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old content or the new, never a part."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def save_model(path: Path, tensors: dict[str, Tensor], config: dict[str, Any]) -> None:
    """Write tensors and a JSON-able configuration as one sealed file."""
    header = {"scn": json.dumps({"format": FORMAT, **config}), "sha256": _UNSEALED}
    contiguous = {name: t.detach().cpu().contiguous() for name, t in tensors.items()}
    data = safetensors.torch.save(contiguous, metadata=header)
    write_atomically(path, data.replace(_UNSEALED.encode(), _seal(data).encode(), 1))


def load_model(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_model` wrote: tensors and configuration."""
    data = path.read_bytes()
    try:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])["__metadata__"]
        config, seal = json.loads(header["scn"]), str(header["sha256"])
    except (ValueError, KeyError, TypeError) as error:
        raise ModelFileError(f"{path} is not a model file of scn, or is damaged") from error
    if len(seal) != 64 or _seal(data.replace(seal.encode(), _UNSEALED.encode(), 1)) != seal:
        raise ModelFileError(f"{path} is damaged: its content does not match its checksum")
    if config["format"] > FORMAT:
        raise ModelFileError(
            f"{path} has format {config['format']}, but this version of scn reads up to {FORMAT}: "
            "install a newer scn"
        )
    try:
        return safetensors.torch.load(data), config
    except SafetensorError as error:
        raise ModelFileError(f"{path} is damaged: {error}") from error


def _seal(unsealed: bytes) -> str:
    return hashlib.sha256(unsealed).hexdigest()
