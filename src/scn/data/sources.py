"""Where each data set comes from, and its conversion to the .npz form, which happens once.

A data set adds one row, a `Source`: its licence, its official files, mirrors, and the reader that turns
those files into arrays. The reader also serves as the loader of a data folder that has official files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scn.core.errors import AlreadyThere, Failed, NotThere, ScnError
from scn.core.registry import Registry, nearest
from scn.core.storage import failures_named
from scn.data.dataset import Arrays, registry
from scn.data.download import Remote, download
from scn.data.watch import Watch, unwatched


@dataclass(frozen=True)
class Request:
    """What a reader is asked for: where to look, which classes (None: all), how to show progress."""

    places: tuple[Path, ...]
    classes: tuple[str, ...] | None = None
    watch: Watch = unwatched

    def __post_init__(self) -> None:
        if self.classes is not None and len(set(self.classes)) != max(len(self.classes), 1):
            raise ScnError(f"name each class once, and at least one: {', '.join(self.classes)}")

    def find(self, *names: str) -> Path | None:
        """The first file or folder with one of these names: a place itself, or something in it."""
        candidates = (path for name in names for place in self.places for path in (place, place / name))
        return next((path for path in candidates if path.name in names and path.exists()), None)

    def find_all(self, *needs: Sequence[str]) -> list[Path] | None:
        """A path for each need, which is a list of equally good names. None if there is none at all."""
        found = [self.find(*names) for names in needs]
        paths = [path for path in found if path is not None]
        if not paths:
            return None
        missing = [names[0] for names, path in zip(needs, found, strict=True) if path is None]
        if missing:
            raise NotThere(f"beside {paths[0]} the reader lacks {', '.join(missing)}")
        return paths


Reader = Callable[[Request], Arrays | None]


@dataclass(frozen=True)
class Source:
    """One data set. files: the official ones; mirrors: other sets of files that hold the same data."""

    name: str
    description: str
    licence: str
    read: Reader
    files: tuple[Remote, ...] = ()
    mirrors: tuple[tuple[Remote, ...], ...] = ()
    folders: tuple[str, ...] = ()  # what the official archives unpack to
    of: str = ""  # the data set that this is another form of, if it is

    def load(self, folder: Path) -> Arrays | None:
        """The arrays from official files in the data folder or its subfolder of this name."""
        return self.read(Request((folder / self.name, folder)))

    @property
    def size(self) -> int | None:
        """Bytes of the official files, where all are known."""
        sizes = [file.size for file in self.files]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def check(self) -> str:
        """What downloads are checked against: for all files the same words."""
        return ", ".join(dict.fromkeys(file.check for file in self.files)) or "not checked"

    @property
    def names(self) -> list[str]:
        """Names by which its files and folders are recognised."""
        return [file.name for group in (self.files, *self.mirrors) for file in group] + list(self.folders)

    def state(self, folder: Path) -> str:
        """What of it the data folder has."""
        if (folder / f"{self.name}.npz").is_file():
            return "ready"
        if self.of:
            return sources.get(self.of).state(folder)
        if not self.files:
            return "embedded"
        places = (folder / self.name, folder)
        if Request(places).find(*self.names):
            return "official files"
        partial = any((place / f"{name}.part").exists() for place in places for name in self.names)
        return "partly fetched" if partial else "no"


sources: Registry[Source] = Registry("data set")


def register(source: Source) -> Source:
    """Enter a data set: it can then be fetched, imported and loaded by its name."""
    registry.register(source.name)(source.load)
    return sources.register(source.name)(source)


def recognise(paths: Sequence[Path]) -> Source:
    """The data set that these files belong to, by their official names."""
    request = Request(tuple(paths))
    found = [source for source in map(sources.get, sources) if request.find(*source.names)]
    if len(found) == 1:
        return found[0]
    given = ", ".join(map(str, paths))
    if found:
        names = ", ".join(source.name for source in found)
        raise ScnError(f"{given} has files of {names}: say which one you mean by `source=NAME`")
    raise ScnError(f"{given} has no official file of a known data set ({', '.join(sources)})")


def fetch(
    source: Source,
    folder: Path,
    watch: Watch = unwatched,
    say: Callable[[str], None] = lambda _: None,
    address: str | None = None,
    checked: bool = True,
) -> list[Path]:
    """The files of a data set in `folder`: the official ones, or those of the first mirror that works.

    address: fetch the official files from below this address instead. checked: refuse other content.
    """
    if source.of:
        raise ScnError(f"{source.name} is made from {source.of}: `scn data get {source.of}` fetches that")
    if not source.files:
        raise ScnError(f"{source.name} comes with the package: there is nothing to fetch")
    choices = (source.files, *source.mirrors)
    if address is not None:
        choices = (tuple(_moved(file, address) for file in source.files),)
    if not checked:
        choices = tuple(tuple(Remote(file.url) for file in files) for files in choices)
    reasons = []
    for files in choices:
        try:
            return [download(file, folder, watch, plain=address is not None) for file in files]
        except OSError as error:
            say(f"{source.name}: {error}")
            reasons.append(error)
    if len(reasons) == 1:
        raise reasons[0]
    said = "; ".join(str(reason) for reason in reasons)
    raise Failed(f"{source.name} came from none of its {len(choices)} addresses: {said}")


def _moved(file: Remote, address: str) -> Remote:
    return Remote(f"{address.rstrip('/')}/{file.url.rsplit('/', 1)[-1]}", file.size, file.checksum)


def convert(source: Source, request: Request, folder: Path, *, replace: bool = False) -> Path:
    """Read official files and write NAME.npz, whole or not at all."""
    target = folder / f"{source.name}.npz"
    if target.exists() and not replace:
        raise AlreadyThere(f"{target} is there already: `replace=True` makes it anew")
    arrays = source.read(request)
    if arrays is None:
        places = ", ".join(map(str, request.places))
        raise NotThere(f"{places} has no files of {source.name}: {', '.join(source.names)}")
    folder.mkdir(parents=True, exist_ok=True)
    _write(target, of_classes(arrays, request.classes))
    return target


def of_classes(arrays: Arrays, wanted: Sequence[str] | None) -> Arrays:
    """Only the samples of these classes, which are numbered in this order."""
    classes = [str(name) for name in arrays["classes"]]
    if wanted is None or list(wanted) == classes:
        return arrays
    unknown = next((name for name in wanted if name not in classes), None)
    if unknown is not None:
        raise ScnError(f"there is no class {nearest(unknown, classes)}")
    kept = dict(arrays, classes=np.array(wanted))
    number = np.full(len(classes), -1)
    number[[classes.index(name) for name in wanted]] = range(len(wanted))
    for key in [key for key in arrays if key == "y" or key.startswith("y_")]:
        labels = number[arrays[key]]
        split = key.removeprefix("y").removeprefix("_")
        for other, array in arrays.items():
            of_split = split in other.split("_") if split else other not in ("classes", "provenance")
            if of_split and array.shape[:1] == labels.shape:
                kept[other] = array[labels >= 0]
        kept[key] = labels[labels >= 0].astype(arrays[key].dtype)
    return kept


def _write(target: Path, arrays: Arrays) -> None:
    for left_over in target.parent.glob(f".{target.name}.*"):  # of a process that was killed
        left_over.unlink(missing_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with failures_named(target), temporary.open("xb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
