"""A data set in memory: uint8 images, labels, class names and where they came from.

The file form is one .npz with `x_train, y_train, x_test, y_test` (`x_val, y_val` where official),
`classes` and `provenance`; images are uint8, (N, H, W) or (N, H, W, C).
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from scn.core.registry import Registry

Arrays = dict[str, np.ndarray[Any, Any]]

# A loader takes the data folder and returns the arrays of the file form, or None where it finds
# nothing to load.
Loader = Callable[[Path], Arrays | None]
registry: Registry[Loader] = Registry("data set")

SIZE = 32  # every image set is brought to 32x32, as in the paper


@dataclass(frozen=True)
class Dataset:
    """Arrays in the file form, checked."""

    name: str
    arrays: Arrays
    checksum: str

    @property
    def classes(self) -> list[str]:
        return [str(name) for name in self.arrays["classes"]]

    @property
    def counts(self) -> dict[str, int]:
        """How many samples each split has."""
        return {k[2:]: len(v) for k, v in self.arrays.items() if k.startswith("y_")}

    def split(self, name: str) -> tuple[Tensor, Tensor]:
        """Images (N, C, 32, 32) as uint8 and labels (N,) as int64 of one split."""
        if f"y_{name}" not in self.arrays:
            raise ValueError(f'{self.name} has no split "{name}". It has: {", ".join(self.counts)}')
        labels = torch.from_numpy(self.arrays[f"y_{name}"].astype(np.int64))
        return torch.from_numpy(_resized(self.arrays[f"x_{name}"])), labels


def load(name: str) -> Dataset:
    """The data set of a registered name, or of a file in the .npz form given by its path."""
    if name.endswith(".npz") or os.sep in name:
        path = Path(name)
        if not path.is_file():
            raise FileNotFoundError(f"there is no data file {path}")
        return _checked(path.stem, _read(path))
    loader = registry.get(name)
    folder = data_folder()
    file = folder / f"{name}.npz"
    arrays = _read(file) if file.is_file() else loader(folder)
    if arrays is None:
        raise FileNotFoundError(
            f"the data set {name} is not in {folder}: put {name}.npz or its official files there, "
            "or point SCN_DATA_DIR at the folder that has them"
        )
    return _checked(name, arrays)


def data_folder() -> Path:
    """$SCN_DATA_DIR, or a folder of the user's cache."""
    if "SCN_DATA_DIR" in os.environ:
        return Path(os.environ["SCN_DATA_DIR"])
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "scn"


def to_float(images: Tensor) -> Tensor:
    """uint8 images -> [0, 1]."""
    return images.to(torch.float32) / 255


@dataclass(frozen=True)
class Normalisation:
    """What a network sees of an image in [0, 1]: (x - mean) / deviation, for each channel."""

    mean: tuple[float, ...] = (0.5,)
    deviation: tuple[float, ...] = (0.5,)

    def __call__(self, images: Tensor) -> Tensor:
        mean = torch.tensor(self.mean, device=images.device).view(-1, 1, 1)
        return (images - mean) / torch.tensor(self.deviation, device=images.device).view(-1, 1, 1)


def measured_normalisation(images: Tensor) -> Normalisation:
    """Mean 0 and deviation 1 for each channel of these uint8 images (N, C, H, W)."""
    channels = images.transpose(0, 1).flatten(1).double() / 255
    deviation = [max(value, 1e-3) for value in channels.std(dim=1).tolist()]
    return Normalisation(tuple(channels.mean(dim=1).tolist()), tuple(deviation))


def _read(path: Path) -> Arrays:
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except (ValueError, zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{path} is not a readable .npz file: {error}") from error


def _checked(name: str, arrays: Arrays) -> Dataset:
    missing = [key for key in ("x_train", "y_train", "x_test", "y_test") if key not in arrays]
    if missing:
        raise ValueError(
            f"{name} lacks {', '.join(missing)}: a data file holds x_train, y_train, x_test, y_test"
        )
    highest = max(int(arrays[k].max(initial=0)) for k in arrays if k.startswith("y_"))
    arrays.setdefault("classes", np.array([str(i) for i in range(highest + 1)]))
    arrays.setdefault("provenance", np.array(""))
    for split in (key[2:] for key in arrays if key.startswith("y_")):
        x, y = arrays[f"x_{split}"], arrays[f"y_{split}"]
        if x.dtype != np.uint8 or x.ndim not in (3, 4):
            raise ValueError(
                f"{name}: x_{split} must be uint8 images (N, H, W) or (N, H, W, C), but is "
                f"{x.dtype} of shape {x.shape}"
            )
        if y.shape != x.shape[:1] or y.dtype.kind not in "iu":
            raise ValueError(
                f"{name}: y_{split} must be one whole number for each of {len(x)} images, but is "
                f"{y.dtype} of shape {y.shape}"
            )
        if len(y) and not 0 <= int(y.min()) <= int(y.max()) < len(arrays["classes"]):
            raise ValueError(
                f"{name}: y_{split} holds labels {y.min()} to {y.max()}, but there are "
                f"{len(arrays['classes'])} classes"
            )
    return Dataset(name, arrays, _checksum(arrays))


def _checksum(arrays: Arrays) -> str:
    digest = hashlib.sha256()
    for key in sorted(key for key in arrays if key[:2] in ("x_", "y_")):
        array = np.ascontiguousarray(arrays[key])
        digest.update(f"{key} {array.dtype} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()


def _resized(images: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """(N, H, W[, C]) uint8 -> (N, C, 32, 32) uint8, by the bilinear filter of Pillow."""
    if images.shape[1:3] != (SIZE, SIZE):
        from PIL import Image

        images = (
            np.stack(
                [
                    np.asarray(Image.fromarray(i).resize((SIZE, SIZE), Image.Resampling.BILINEAR))
                    for i in images
                ]
            )
            if len(images)
            else np.zeros((0, SIZE, SIZE, *images.shape[3:]), np.uint8)
        )
    channels = images[:, None] if images.ndim == 3 else images.transpose(0, 3, 1, 2)
    return np.ascontiguousarray(channels)
