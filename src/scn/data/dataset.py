"""A data set in memory: uint8 images, labels, class names and where they came from.

The file form is one .npz with `x_train, y_train, x_test, y_test` (`x_val, y_val` where official),
`classes` and `provenance`; images are uint8, (N, H, W) or (N, H, W, C).
"""

from __future__ import annotations

import hashlib
import math
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


def load(name: str | os.PathLike[str]) -> Dataset:
    """The data set of a registered name, or of a file in the .npz form given by its path."""
    if is_path(name):
        path = Path(name)
        if not path.is_file():
            raise FileNotFoundError(f"there is no data file {path}")
        return _checked(path.stem, _read(path))
    name = str(name)
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


def is_path(name: str | os.PathLike[str]) -> bool:
    """Whether this is the path of a file rather than a registered name."""
    return not isinstance(name, str) or name.endswith(".npz") or os.sep in name


def data_folder() -> Path:
    """$SCN_DATA_DIR, or a folder of the user's cache."""
    if "SCN_DATA_DIR" in os.environ:
        return Path(os.environ["SCN_DATA_DIR"])
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "scn"


def to_float(images: Tensor) -> Tensor:
    """uint8 images -> [0, 1]."""
    return images.to(torch.float32).div_(255)


@dataclass(frozen=True)
class Normalisation:
    """What a network sees of an image in [0, 1]: (x - mean) / deviation, for each channel."""

    mean: tuple[float, ...] = (0.5,)
    deviation: tuple[float, ...] = (0.5,)

    def __call__(self, images: Tensor) -> Tensor:
        mean = torch.tensor(self.mean, device=images.device).view(-1, 1, 1)
        return (images - mean).div_(torch.tensor(self.deviation, device=images.device).view(-1, 1, 1))


def measured_normalisation(images: Tensor) -> Normalisation:
    """Mean 0 and deviation 1 for each channel of these uint8 images (N, C, H, W).

    From counts of the 256 values, in whole numbers: the same to the last bit on any number of threads.
    """
    means, deviations = [], []
    for channel in images.unbind(dim=1):
        counts = torch.bincount(channel.flatten(), minlength=256).tolist()
        total = sum(counts)
        first = sum(value * count for value, count in enumerate(counts))
        second = sum(value * value * count for value, count in enumerate(counts))
        variance = (second * total - first * first) / (total * max(total - 1, 1))
        means.append(first / total / 255)
        deviations.append(max(math.sqrt(variance) / 255, 1e-3))
    return Normalisation(tuple(means), tuple(deviations))


def _read(path: Path) -> Arrays:
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except (ValueError, TypeError, AttributeError, zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{path} is not a readable .npz file: {error}") from error


def _checked(name: str, arrays: Arrays) -> Dataset:
    splits = [key[2:] for key in arrays if key.startswith("y_")]
    needed = {f"{axis}_{split}" for axis in "xy" for split in ("train", "test", *splits)}
    missing = sorted(needed - arrays.keys())
    if missing:
        raise ValueError(
            f"{name} lacks {', '.join(missing)}: a data file holds x_train, y_train, x_test, y_test"
        )
    for split in splits:
        _check_split(name, split, arrays[f"x_{split}"], arrays[f"y_{split}"])
    highest = max(int(arrays[f"y_{split}"].max(initial=0)) for split in splits)
    arrays.setdefault("classes", np.array([str(i) for i in range(highest + 1)]))
    arrays.setdefault("provenance", np.array(""))
    lowest = min(int(arrays[f"y_{split}"].min(initial=0)) for split in splits)
    if arrays["classes"].ndim != 1 or lowest < 0 or highest >= len(arrays["classes"]):
        raise ValueError(
            f"{name} holds labels {lowest} to {highest}, but names {arrays['classes'].size} classes: labels "
            "count from 0, and `classes` is a list of names"
        )
    return Dataset(name, arrays, _checksum(arrays))


def _check_split(name: str, split: str, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> None:
    if x.dtype != np.uint8 or x.ndim not in (3, 4) or (x.ndim == 4 and x.shape[3] > 4):
        raise ValueError(
            f"{name}: x_{split} must be uint8 images (N, H, W) or (N, H, W, C) with up to 4 channels, but is "
            f"{x.dtype} of shape {x.shape}"
        )
    if y.shape != x.shape[:1] or y.dtype.kind not in "iu":
        raise ValueError(
            f"{name}: y_{split} must be one whole number for each of {len(x)} images, but is {y.dtype} of "
            f"shape {y.shape}"
        )


def _checksum(arrays: Arrays) -> str:
    digest = hashlib.sha256()
    for key in sorted(key for key in arrays if key[:2] in ("x_", "y_")):
        array = np.ascontiguousarray(arrays[key])
        digest.update(f"{key} {array.dtype} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()


def _resized(images: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """(N, H, W[, C]) uint8 -> (N, C, 32, 32) uint8, by the bilinear filter of Pillow, as a copy.

    To the last bit what Pillow makes of a square image; others may differ by 1, as its versions do.
    """
    channels = images[:, None] if images.ndim == 3 else images.transpose(0, 3, 1, 2)
    if channels.shape[2:] == (SIZE, SIZE):
        return np.array(channels, order="C")
    planes = channels.reshape(-1, *channels.shape[2:])
    columns = _resized_rows(planes, SIZE).transpose(0, 2, 1)
    resized = _resized_rows(columns, SIZE).transpose(0, 2, 1)
    return np.array(resized, order="C").reshape(*channels.shape[:2], SIZE, SIZE)


def _resized_rows(planes: np.ndarray[Any, Any], width: int) -> np.ndarray[Any, Any]:
    """(N, H, W) -> (N, H, width). Pillow resizes rows and columns in turn, so all rows may share a call."""
    from PIL import Image

    rows = Image.fromarray(np.ascontiguousarray(planes).reshape(-1, planes.shape[2]))
    resized = rows.resize((width, rows.height), Image.Resampling.BILINEAR)
    return np.asarray(resized).reshape(*planes.shape[:2], width)
