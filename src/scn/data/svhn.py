"""Street View House Numbers, format 2: digits cropped to 32x32 (Y. Netzer et al., 2011)."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np

from scn.core.errors import ScnError
from scn.data.dataset import Arrays
from scn.data.download import Remote
from scn.data.sources import Request, Source, register

FILES = {"train": "train_32x32.mat", "test": "test_32x32.mat"}


def read(request: Request) -> Arrays | None:
    """The two Matlab files. The much larger extra_32x32.mat is not used, as in the paper."""
    paths = request.find_all(*((name,) for name in FILES.values()))
    if paths is None:
        return None
    arrays: Arrays = {}
    for split, path in request.watch(list(zip(FILES, paths, strict=True)), "read digits", len(FILES)):
        arrays[f"x_{split}"], arrays[f"y_{split}"] = read_mat(path)
    arrays["classes"] = np.array([str(digit) for digit in range(10)])
    arrays["provenance"] = np.array(
        "SVHN format 2, train_32x32.mat and test_32x32.mat; label 10 became 0; for non-commercial use"
    )
    return arrays


def read_mat(path: Path) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Images (N, 32, 32, 3) and labels (N,), both uint8. The file holds X: (32, 32, 3, N) and y: (N, 1)."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        content = loadmat(path, variable_names=("X", "y"))
        images, labels = content["X"], content["y"].reshape(-1)
    except KeyError as error:
        raise ScnError(f"{path} has no array {error}") from error
    except (MatReadError, ValueError, TypeError, NotImplementedError, zlib.error, OSError) as error:
        raise ScnError(f"{path} is not a whole Matlab file: {error}") from error
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[3] != len(labels):
        raise ScnError(
            f"{path} should hold uint8 images (32, 32, 3, N) and N labels, but holds {images.dtype} "
            f"{images.shape} and {len(labels)}"
        )
    if len(labels) and not 0 <= labels.min() <= labels.max() <= 10:
        raise ScnError(f"{path} has labels {labels.min()} to {labels.max()}, but digits are 1 to 10")
    return np.ascontiguousarray(images.transpose(3, 0, 1, 2)), (labels % 10).astype(np.uint8)


def _official(scheme: str) -> tuple[Remote, ...]:
    folder = f"{scheme}://ufldl.stanford.edu/housenumbers"
    train = "sha256:435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8"
    test = "sha256:cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b"
    return (
        Remote(f"{folder}/{FILES['train']}", 182_040_794, train),
        Remote(f"{folder}/{FILES['test']}", 64_275_384, test),
    )


register(
    Source(
        name="svhn",
        description="99,289 colour images of house numbers' digits, 32x32",
        licence="non-commercial use",
        read=read,
        files=_official("https"),
        mirrors=(_official("http"),),  # the address its authors give
    )
)
