"""Fashion-MNIST from its four official idx files (H. Xiao, K. Rasul, R. Vollgraf, 2017; MIT)."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np

from scn.data.dataset import Arrays, registry

CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
FILES = {
    "x_train": "train-images-idx3-ubyte",
    "y_train": "train-labels-idx1-ubyte",
    "x_test": "t10k-images-idx3-ubyte",
    "y_test": "t10k-labels-idx1-ubyte",
}


@registry.register("fashion-mnist")
def load(folder: Path) -> Arrays | None:
    """The idx files, packed or not, in the data folder or in its subfolder `fashion-mnist`."""
    places = [folder / "fashion-mnist", folder]
    found = {key: _find(places, name) for key, name in FILES.items()}
    if not any(found.values()):
        return None
    missing = [FILES[key] for key, path in found.items() if path is None]
    if missing:
        raise FileNotFoundError(f"Fashion-MNIST in {folder} lacks {', '.join(missing)}")
    arrays = {key: read_idx(path) for key, path in found.items() if path is not None}
    arrays["classes"] = np.array(CLASSES)
    arrays["provenance"] = np.array("Fashion-MNIST, the four official idx files; MIT licence")
    return arrays


def _find(places: list[Path], name: str) -> Path | None:
    candidates = (place / f"{name}{ending}" for place in places for ending in ("", ".gz"))
    return next((path for path in candidates if path.is_file()), None)


def read_idx(path: Path) -> np.ndarray[Any, Any]:
    """One array of unsigned bytes from an idx file: magic 0 0 8 n, n sizes, then the bytes."""
    raw = path.read_bytes()
    try:
        data = gzip.decompress(raw) if path.suffix == ".gz" else raw
    except (OSError, EOFError) as error:
        raise ValueError(f"{path} is not a whole gzip file: {error}") from error
    if len(data) < 4 or data[:3] != b"\x00\x00\x08":
        raise ValueError(f"{path} is not an idx file of unsigned bytes")
    header = 4 + 4 * data[3]
    sizes = data[4:header].ljust(header - 4, b"\0")
    shape = tuple(int(n) for n in np.frombuffer(sizes, dtype=">u4"))
    if len(data) != header + math.prod(shape):
        raise ValueError(
            f"{path} should hold {' x '.join(map(str, shape))} bytes, but holds {len(data) - header}"
        )
    return np.frombuffer(data, dtype=np.uint8, offset=header).reshape(shape)
