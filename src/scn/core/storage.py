"""Model files: safetensors with the configuration as JSON in the header, sealed by a checksum.

Reading a file never executes anything, and a file that was cut, changed or written by something else
is refused. Files appear whole or not at all: they are written beside their place and then renamed.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor, nn

from scn.core.errors import Failed, NotThere, ScnError, WrongType

FORMAT, NEWEST = 1, 2  # what is written unless the content says more, and what is read
_UNSEALED = "0" * 64


class ModelFileError(ScnError):
    """A file that is not a whole, unchanged model file of a format this version reads."""


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old content or the new, never a part."""
    path = path.resolve()
    if not path.parent.is_dir():
        raise NotThere(f"{path} cannot be written: there is no folder {path.parent}")
    with failures_named(path):
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


@contextmanager
def failures_named(path: Path) -> Iterator[None]:
    """Around what writes a file: a full disk says by itself neither which file nor what for."""
    try:
        yield
    except OSError as error:
        raise Failed(f"{path} cannot be written: {error.strerror or error}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def save_model(path: Path, tensors: dict[str, Tensor], config: dict[str, Any]) -> None:
    """Write tensors and a JSON-able configuration as one sealed file."""
    kept, aliases = _without_repeats(tensors)
    content = {"format": FORMAT, "sha256": _UNSEALED, "aliases": aliases, **config}
    data = safetensors.torch.save(kept, metadata={"scn": json.dumps(content)})
    write_atomically(path, data.replace(_UNSEALED.encode(), _seal(data).encode(), 1))


def _without_repeats(tensors: dict[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, str]]:
    """One tensor for each place in memory, and which name stands for which: tied weights are one."""
    kept: dict[str, Tensor] = {}
    aliases: dict[str, str] = {}
    first: dict[tuple[Any, ...], str] = {}
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise WrongType(f"{name} is a {type(tensor).__name__}: only tensors can be saved")
        place = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)
        if tensor.numel() and place in first:
            aliases[name] = first[place]
        else:
            first[place] = name
            kept[name] = tensor.detach().cpu().contiguous()
    return kept, aliases


def load_model(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_model` wrote: tensors and configuration."""
    data = path.read_bytes()
    try:
        length = int.from_bytes(data[:8], "little")
        config = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["scn"])
        seal, version = str(config["sha256"]), int(config["format"])
    except (ValueError, KeyError, TypeError) as error:
        raise ModelFileError(f"{path} is not a model file of scn, or is damaged") from error
    if len(seal) != 64 or _seal(data.replace(seal.encode(), _UNSEALED.encode(), 1)) != seal:
        raise ModelFileError(f"{path} is damaged: its content does not match its checksum")
    if version > NEWEST:
        raise ModelFileError(
            f"{path} has format {version}, but this version of scn reads up to {NEWEST}: install a newer scn"
        )
    try:
        tensors = safetensors.torch.load(data)
        tied = {name: tensors[kept] for name, kept in config["aliases"].items()}
    except (SafetensorError, KeyError, AttributeError) as error:  # sealed, but not by us
        raise ModelFileError(f"{path} is damaged: {error}") from error
    return tensors | tied, config


def _seal(unsealed: bytes) -> str:
    return hashlib.sha256(unsealed).hexdigest()


def take_former_names(_: nn.Module, tensors: dict[str, Tensor], prefix: str, *rest: Any) -> None:
    """Networks and checkpoints of version 0.1 call the map confignet."""
    former = f"{prefix}confignet."
    for name in [name for name in tensors if name.startswith(former)]:
        tensors[f"{prefix}map.{name.removeprefix(former)}"] = tensors.pop(name)


def take_types(net: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Convert each parameter and buffer to the type it was saved with, keeping ties."""
    for name, value in net.state_dict(keep_vars=True).items():
        if name in tensors and value.dtype != tensors[name].dtype:
            value.data = value.data.to(tensors[name].dtype)
