"""The target "blob": weights alone, for firmware that is there already."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from scn.core.errors import ScnError
from scn.export import c
from scn.export.base import BLOB, Options, Report, target
from scn.export.blob.format import read
from scn.export.staging import write_staged
from scn.export.subject import Subject


def check(subject: Subject, options: Options) -> None:
    """Refuse what C code refuses, and an adapter, which is code."""
    if options.sensor is not None:
        raise ScnError("a blob holds weights alone: leave out `sensor`")
    c.check(subject, options)


@target(BLOB, check, has_blobs=True)
def write(subject: Subject, options: Options, folder: Path) -> Report:
    """Write NAME.blob; refuses a network that the firmware of another blob could not load."""
    chosen = options if options.in_blob else replace(options, weights_in="blob")
    made = c.generate(subject, chosen)
    assert made.blob is not None
    if options.follows is not None:
        _same_structure(subject, Path(options.follows), made)
    path = folder / f"{subject.name}.blob"
    write_staged(path, made.blob)
    return Report([path], made.facts)


def _same_structure(subject: Subject, path: Path, made: c.Generated) -> None:
    old, new = read(path), made.facts["structure"]
    if old.structure != new:
        raise ScnError(
            f"{subject.name} has the structure {new}, and {path} has {old.structure}: firmware for one "
            "cannot load the other; train the same backbone, map and D, and export with the same options"
        )
