"""A data set in memory: samples as whole numbers, labels, class names and where they came from.

The file form is one .npz with `x_train, y_train, x_test, y_test` (`x_val, y_val` where official),
`classes` and `provenance`. Samples are images, waveforms, points or the readings of a sensor: see `forms`.
Labels are whole numbers for classes, or floating-point values to predict, with their names in `targets`.
Where a sensor measured the change of the input, `params_train` and so on hold it, a row for each sample.
"""

from __future__ import annotations

import functools
import hashlib
import math
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from scn.core.errors import Failed, NotThere, ScnError
from scn.core.registry import Registry, own_part
from scn.data import check, forms

Arrays = forms.Arrays

# A loader takes the data folder and returns the arrays of the file form, or None where it finds
# nothing to load.
Loader = Callable[[Path], Arrays | None]
registry: Registry[Loader] = Registry("data set")

# What a data set's own file needs before it has the form above, by name.
preparations: dict[str, Callable[[Arrays], Arrays]] = {}


@dataclass(frozen=True)
class Dataset:
    """Arrays in the file form, checked."""

    name: str
    arrays: Arrays
    checksum: str
    _ready: dict[str, Tensor] = field(default_factory=dict, repr=False, compare=False)  # images by split

    @property
    def classes(self) -> list[str]:
        """The names of the classes; none where values are to be predicted."""
        return [str(name) for name in self.arrays.get("classes", [])]

    @property
    def targets(self) -> list[str]:
        """The names of the values to predict; none where samples belong to classes."""
        return [str(name) for name in self.arrays.get("targets", [])]

    @property
    def target_units(self) -> list[str]:
        """The unit of each value to predict, "" where it has none."""
        return [str(unit) for unit in self.arrays.get("target_units", [])]

    @property
    def sample_rate(self) -> int | None:
        """Samples a second, of waveforms."""
        return int(self.arrays["sample_rate"]) if "sample_rate" in self.arrays else None

    @property
    def counts(self) -> dict[str, int]:
        """How many samples each split has."""
        return {k[2:]: len(v) for k, v in self.arrays.items() if k.startswith("y_")}

    def split(self, name: str) -> tuple[Tensor, Tensor]:
        """Samples (N, ...) as whole numbers, ready for a transform, and their labels.

        Those are classes, (N,) int64, or the values to predict, float32 (N,), or (N, T) where T are several.
        """
        self._has(f"y_{name}")
        y = self.arrays[f"y_{name}"]
        labels = y.astype(np.float32 if self.targets else np.int64)
        if len(self.targets) == 1:
            labels = labels.reshape(-1)
        return self._samples(name), torch.from_numpy(labels)

    def _samples(self, name: str) -> Tensor:
        """A copy, whose change changes nothing here. Images are kept: resizing takes longer than reading."""
        x = self.arrays[f"x_{name}"]
        if x.dtype != np.uint8:
            return torch.from_numpy(forms.ready(x))
        if name not in self._ready:
            self._ready[name] = torch.from_numpy(forms.ready(x))
        return self._ready[name].clone()

    def said(self, label: Tensor) -> str:
        """One label as a person says it: the name of the class, or the values with their units."""
        if not self.targets:
            return self.classes[int(label)]
        values = zip(label.view(-1).tolist(), self.target_units, strict=True)
        return ", ".join(f"{value:.3g} {unit}".rstrip() for value, unit in values)

    def measured(self, name: str) -> Tensor:
        """What was measured beside each sample of one split: (N, P)."""
        self._has(f"params_{name}")
        return torch.from_numpy(self.arrays[f"params_{name}"].astype(np.float32))

    def refuse_unlearnable(self) -> None:
        """Refuse to train on classes that cannot be learnt from these training samples."""
        if not self.targets:
            try:
                check.refuse_unlearnable(self.arrays, self.classes)
            except ScnError as error:
                raise ScnError(f"{self.name}: {error}") from error

    def _has(self, key: str) -> None:
        if key in self.arrays:
            return
        if key.startswith("params_"):
            raise ScnError(f"{self.name} has no measurements: a file with {key} has them")
        raise ScnError(f'{self.name} has no split "{key[2:]}". It has: {", ".join(self.counts)}')


def load(name: str | os.PathLike[str]) -> Dataset:
    """The data set of a registered name, or of a file in the .npz form given by its path."""
    if str(name) in _given.get():
        return _given.get()[str(name)].opened()
    if is_path(name):
        path = Path(name)
        if not path.is_file():
            raise NotThere(f"there is no data file {path}")
        return _in_file(path.stem, path.resolve(), _stamp(path), prepared=False)
    name = str(name)
    if ":" in name:
        return _own(name)
    loader = registry.get(name)
    folder = data_folder()
    file = folder / f"{name}.npz"
    if file.is_file():
        return _in_file(name, file.resolve(), _stamp(file), prepared=True)
    arrays = loader(folder)
    if arrays is None:
        raise NotThere(
            f"the data set {name} is not in {folder}: `scn data get {name}` fetches it, or point "
            f"SCN_DATA_DIR at the folder with {name}.npz or its official files"
        )
    return _checked(name, preparations.get(name, dict)(arrays))


@dataclass(frozen=True)
class Parcel:
    """A data set on its way to a computer that may not have it."""

    dataset: Dataset
    checksum: str  # of what was sent: a data set of the user's own may state another

    def opened(self) -> Dataset:
        if _checksum(self.dataset.arrays) != self.checksum:
            raise Failed(f"the data {self.dataset.name} did not arrive as they were sent: checksums differ")
        return self.dataset


def parcel(name: str) -> Parcel:
    """The data set of this name or path, to be `given` elsewhere."""
    dataset = load(name)
    return Parcel(dataset, _checksum(dataset.arrays))


_given: ContextVar[Mapping[str, Parcel]] = ContextVar("given", default={})  # noqa: B039  (never changed)


@contextmanager
def given(parcels: Mapping[str, Parcel]) -> Iterator[None]:
    """Meanwhile these are what `load` finds by their names and paths, whatever this computer has."""
    before = _given.set(parcels)
    try:
        yield
    finally:
        _given.reset(before)


def _stamp(path: Path) -> tuple[int, int]:
    """What changes when a file is written anew."""
    about = path.stat()
    return about.st_mtime_ns, about.st_size


@functools.lru_cache(maxsize=1)
def _in_file(name: str, path: Path, stamp: tuple[int, int], *, prepared: bool) -> Dataset:
    """The last one that was read stays in memory: many runs on the same data ask for it in turn."""
    arrays = _read(path)
    return _checked(name, preparations.get(name, dict)(arrays) if prepared else arrays)


def _own(name: str) -> Dataset:
    """What a function of the user's own returns: arrays of the file form by name, or a whole data set."""
    make = own_part(name, registry.kind)
    if not callable(make):
        raise ScnError(f'the data set "{name}" must be a function that returns arrays, not {make!r:.60}')
    made = make()
    if isinstance(made, Dataset):
        return made
    if not isinstance(made, Mapping):
        raise ScnError(
            f'the data set "{name}" must return arrays by name (x_train, y_train, x_test, y_test), but '
            f"returned {type(made).__name__}"
        )
    return _checked(short_name(name), {str(key): np.asarray(array) for key, array in made.items()})


def short_name(name: str) -> str:
    """What a data set is called in a title: a file without folder and ending, code without its module."""
    return Path(name).stem if is_path(name) else name.rpartition(":")[2]


def is_path(name: str | os.PathLike[str]) -> bool:
    """Whether this is the path of a file rather than a registered name."""
    return not isinstance(name, str) or name.endswith(".npz") or os.sep in name


def data_folder() -> Path:
    """$SCN_DATA_DIR, or a folder of the user's cache."""
    if "SCN_DATA_DIR" in os.environ:
        return Path(os.environ["SCN_DATA_DIR"])
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "scn"


SCALE = {torch.uint8: 255, torch.int16: 32767}


def to_float(samples: Tensor) -> Tensor:
    """uint8 -> [0, 1], int16 -> [-1, 1]."""
    return samples.to(torch.float32).div_(SCALE[samples.dtype])


@dataclass(frozen=True)
class Normalisation:
    """What a network sees of a sample: (x - mean) / deviation, for each channel."""

    mean: tuple[float, ...] = (0.5,)
    deviation: tuple[float, ...] = (0.5,)

    def __call__(self, samples: Tensor) -> Tensor:
        channels = torch.tensor([self.mean, self.deviation], device=samples.device)
        mean, deviation = channels.view(2, -1, *(1,) * (samples.dim() - 2))
        return (samples - mean).div_(deviation)

    def beside(self, channels: int) -> Normalisation:
        """The same, with further channels behind that are left as they are."""
        return Normalisation((*self.mean, *[0.0] * channels), (*self.deviation, *[1.0] * channels))


def measured_normalisation(samples: Tensor) -> Normalisation:
    """Mean 0 and deviation 1 for each channel of these whole numbers (N, C, ...).

    From counts of the values, in whole numbers: the same to the last bit on any number of threads.
    """
    scale, lowest = SCALE[samples.dtype], torch.iinfo(samples.dtype).min
    means, deviations = [], []
    for channel in samples.unbind(dim=1):
        counts = torch.bincount(channel.flatten() if lowest == 0 else channel.flatten().int() - lowest)
        values = (counts.nonzero().flatten() + lowest).tolist()
        found = list(zip(values, counts[counts > 0].tolist(), strict=True))
        total = sum(count for _, count in found)
        first = sum(value * count for value, count in found)
        second = sum(value * value * count for value, count in found)
        variance = (second * total - first * first) / (total * max(total - 1, 1))
        means.append(first / total / scale)
        deviations.append(math.sqrt(variance) / scale or 1.0)  # a constant channel is left at 0
    return Normalisation(tuple(means), tuple(deviations))


def _read(path: Path) -> Arrays:
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except (ValueError, TypeError, AttributeError, zipfile.BadZipFile, EOFError) as error:
        raise ScnError(f"{path} is not a readable .npz file: {error}") from error


def _checked(name: str, arrays: Arrays) -> Dataset:
    splits = [key[2:] for key in arrays if key.startswith("y_")]
    needed = {f"{axis}_{split}" for axis in "xy" for split in ("train", "test", *splits)}
    missing = sorted(needed - arrays.keys())
    if missing:
        raise ScnError(
            f"{name} lacks {', '.join(missing)}: a data file holds x_train, y_train, x_test, y_test"
        )
    try:
        arrays = forms.unpacked(arrays)
        check.check_samples(arrays, splits)
        arrays = {**arrays, **check.found_labels(arrays, splits)}
    except ValueError as error:
        raise ScnError(f"{name}: {error}") from error
    arrays.setdefault("provenance", np.array(""))
    return Dataset(name, arrays, _checksum(arrays))


def _checksum(arrays: Arrays) -> str:
    digest = hashlib.sha256()
    for key in sorted(key for key in arrays if key.startswith(("x_", "y_", "params_"))):
        array = np.ascontiguousarray(arrays[key])
        digest.update(f"{key} {array.dtype} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()
