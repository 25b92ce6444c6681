"""Fashion-MNIST from its four official idx files (H. Xiao, K. Rasul, R. Vollgraf, 2017; MIT)."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np

from scn.core.errors import ScnError
from scn.data.archives import entries
from scn.data.dataset import Arrays
from scn.data.download import Remote
from scn.data.sources import Request, Source, register

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


PACKAGE = Remote(
    "https://deb.debian.org/debian/pool/main/d/dataset-fashion-mnist/"
    "dataset-fashion-mnist_0.0~git20200523.55506a9-1_all.deb",
    size=30_900_652,
    checksum="sha256:39e172fe32dd318ebb3e512220c3beea2fa47d7e20bab348fb4e0922d6beefc0",
)


def read(request: Request) -> Arrays | None:
    """The four idx files, packed or not, or Debian's package of them."""
    paths = request.find_all(*((name, f"{name}.gz") for name in FILES.values()))
    package = request.find(PACKAGE.name)
    if paths is not None:
        arrays = {key: read_idx(path) for key, path in zip(FILES, paths, strict=True)}
    elif package is not None:
        arrays = _read_package(package)
    else:
        return None
    arrays["classes"] = np.array(CLASSES)
    arrays["provenance"] = np.array("Fashion-MNIST, the four official idx files; MIT licence")
    return arrays


def _read_package(path: Path) -> Arrays:
    keys = {f"{name}.gz": key for key, name in FILES.items()}
    found = {keys[e.file]: parse_idx(e.read(), path / e.file) for e in entries(path) if e.file in keys}
    missing = [name for key, name in FILES.items() if key not in found]
    if missing:
        raise ScnError(f"{path} lacks {', '.join(missing)}")
    return found


def read_idx(path: Path) -> np.ndarray[Any, Any]:
    """One array of unsigned bytes from an idx file, packed or not."""
    return parse_idx(path.read_bytes(), path)


def parse_idx(raw: bytes, path: Path) -> np.ndarray[Any, Any]:
    """The content of an idx file: magic 0 0 8 n, n sizes, then the bytes. `path` is for errors."""
    try:
        data = gzip.decompress(raw) if path.suffix == ".gz" else raw
    except (OSError, EOFError) as error:
        raise ScnError(f"{path} is not a whole gzip file: {error}") from error
    if len(data) < 4 or data[:3] != b"\x00\x00\x08":
        raise ScnError(f"{path} is not an idx file of unsigned bytes")
    header = 4 + 4 * data[3]
    sizes = data[4:header].ljust(header - 4, b"\0")
    shape = tuple(int(n) for n in np.frombuffer(sizes, dtype=">u4"))
    if len(data) != header + math.prod(shape):
        raise ScnError(
            f"{path} should hold {' x '.join(map(str, shape))} bytes, but holds {len(data) - header}"
        )
    return np.frombuffer(data, dtype=np.uint8, offset=header).reshape(shape)


def _official(name: str, size: int, md5: str) -> Remote:
    folder = "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion"
    return Remote(f"{folder}/{name}.gz", size, f"md5:{md5}")


register(
    Source(
        name="fashion-mnist",
        description="70,000 grey images of clothing, 28x28, 10 classes",
        licence="MIT",
        read=read,
        files=(
            _official(FILES["x_train"], 26_421_880, "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
            _official(FILES["y_train"], 29_515, "25c81989df183df01b3e8a0aad5dffbe"),
            _official(FILES["x_test"], 4_422_102, "bef4ecab320f06d8554ea6380940ec79"),
            _official(FILES["y_test"], 5_148, "bb300cfdad3c16e7a12a480ee83cd310"),
        ),
        mirrors=((PACKAGE,),),
    )
)
