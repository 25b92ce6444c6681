"""The file: a head that says what it is, four sections of numbers, and a CRC-32 of all before it.

Everything is little-endian and counted in words of 4 bytes. Programs use it where it lies, so that each
section starts at a multiple of 16 bytes. The head names the structure of the network: what code must agree
with; the model is the weights themselves, which may be others.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scn.core.errors import ScnError

Array = np.ndarray[Any, Any]

MAGIC = b"SCN BLOB"
ORDER = 0x01020304
VERSION = 1
WORD = 4
ALIGNED = 16
HEAD = np.dtype(
    [
        ("magic", "S8"),
        ("order", "<u4"),
        ("version", "<u4"),  # of this file
        ("format_version", "<u4"),  # of how weights are stored in it
        ("size", "<u4"),  # bytes, with the CRC
        ("structure", "S16"),
        ("model_hash", "S20"),  # and a 0 behind it
        ("made_by", "S32"),  # the same
        ("sections", "<u4", (4, 3)),  # kind, offset in bytes, how many
        ("wide", "<u4"),  # bit v: value v has 16 bits, among 8-bit ones
    ]
)
HEAD_WORDS = HEAD.itemsize // WORD
CRC_BYTES = 4
SECTIONS = ("floats", "numbers", "shared", "bases")
KINDS = ("<f4", "<i4", "<u2", "i1")  # the number of a kind is its place; halves are bits
LEAST_BYTE = -127
MOST_WIDE = 32


@dataclass(frozen=True)
class Section:
    """Where numbers of a kind lie. `offset` in bytes."""

    kind: int
    offset: int
    count: int

    @property
    def end(self) -> int:
        return self.offset + self.count * np.dtype(KINDS[self.kind]).itemsize

    @property
    def words(self) -> tuple[int, int]:
        """The first word, and the one behind the last."""
        return self.offset // WORD, -(-self.end // WORD)


@dataclass(frozen=True)
class Blob:
    """A blob that was read and checked. Of float16 the numbers are the bits."""

    structure: str
    model_hash: str
    made_by: str
    format_version: int
    floats: Array
    numbers: Array
    shared: Array
    bases: Array
    wide: set[int]  # of 8-bit arithmetic, the values that have 16 bits
    content: bytes


def placed(kinds: Sequence[int], counts: Sequence[int]) -> list[Section]:
    """Sections one behind the other; the last one ends at a whole word."""
    found, place = [], HEAD.itemsize
    for kind, count in zip(kinds, counts, strict=True):
        section = Section(kind, place, count)
        place = -(-section.end // ALIGNED) * ALIGNED
        found.append(section)
    return found


def size_of(sections: Sequence[Section]) -> int:
    """Bytes of the file."""
    return sections[-1].words[1] * WORD + CRC_BYTES


def head_of(
    structure: str,
    model_hash: str,
    made_by: str,
    format_version: int,
    sections: Sequence[Section],
    wide: set[int],
) -> bytes:
    """The head; of the values with 16 bits it can name the first 32."""
    head = np.zeros((), HEAD)
    head["magic"], head["order"], head["version"] = MAGIC, ORDER, VERSION
    head["format_version"], head["size"] = format_version, size_of(sections)
    head["structure"], head["model_hash"] = structure.encode(), model_hash.encode()
    head["made_by"] = made_by.encode()[:28]
    head["wide"] = sum(1 << value for value in wide if value < MOST_WIDE)
    head["sections"] = [(section.kind, section.offset, section.count) for section in sections]
    return head.tobytes()


def assembled(head: bytes, sections: Sequence[Section], values: Sequence[Array]) -> bytes:
    """The bytes of the file."""
    content = bytearray(size_of(sections) - CRC_BYTES)
    content[: len(head)] = head
    for section, numbers in zip(sections, values, strict=True):
        content[section.offset : section.end] = numbers.astype(KINDS[section.kind]).tobytes()
    return bytes(content) + zlib.crc32(content).to_bytes(CRC_BYTES, "little")


def read(path: Path) -> Blob:
    """A blob from a file; one that is damaged, or no blob, is an error."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ScnError(f"{path} cannot be read ({error.strerror}): name a blob that is there") from error
    return parse(content, str(path))


def parse(content: bytes, name: str = "the blob") -> Blob:
    """The same of bytes. What follows behind the size that the head states is left alone."""
    if len(content) < HEAD.itemsize + CRC_BYTES or content[: len(MAGIC)] != MAGIC:
        raise ScnError(f"{name} is no blob of weights: write one by `scn export RUN --to blob`")
    head = np.frombuffer(content, HEAD, 1)[0]
    size = int(head["size"])
    if int(head["order"]) != ORDER or size % WORD or not HEAD.itemsize + CRC_BYTES <= size <= len(content):
        raise _damaged(name, f"it states {size:,} bytes, and has {len(content):,}")
    content = content[:size]
    if zlib.crc32(content[:-CRC_BYTES]) != int.from_bytes(content[-CRC_BYTES:], "little"):
        raise _damaged(name, "its checksum does not fit")
    if int(head["version"]) != VERSION:
        raise ScnError(f"{name} has version {head['version']} of the format: this scn reads {VERSION}")
    sections = _sections(name, head["sections"], size)
    values = [np.frombuffer(content, KINDS[one.kind], one.count, one.offset) for one in sections]
    for label, numbers in zip(SECTIONS, values, strict=True):
        if not _possible(numbers):
            raise _damaged(name, f"{label} holds what is no finite weight")
    structure, model, made_by = (
        bytes(head[key]).decode("ascii", "replace") for key in ("structure", "model_hash", "made_by")
    )
    wide = {value for value in range(MOST_WIDE) if int(head["wide"]) >> value & 1}
    version = int(head["format_version"])
    floats, numbers, shared, bases = values
    return Blob(structure, model, made_by, version, floats, numbers, shared, bases, wide, content)


def _sections(name: str, rows: Array, size: int) -> list[Section]:
    kinds, counts = rows[:, 0].tolist(), rows[:, 2].tolist()
    if kinds[:2] != [0, 1] or any(kind >= len(KINDS) for kind in kinds):
        raise _damaged(name, "its sections are of unknown kinds")
    sections = placed(kinds, counts)
    if [one.offset for one in sections] != rows[:, 1].tolist() or size_of(sections) != size:
        raise _damaged(name, "its sections do not lie one behind the other")
    return sections


def _possible(numbers: Array) -> bool:
    if numbers.dtype == np.dtype("<u2"):
        numbers = numbers.view("<f2")
    if numbers.dtype.kind == "f":
        return bool(np.isfinite(numbers).all())
    return numbers.dtype.itemsize > 1 or not (numbers < LEAST_BYTE).any()


def _damaged(name: str, reason: str) -> ScnError:
    return ScnError(f"{name} is damaged ({reason}): copy or export it again")
