"""Where the tables of a network lie in its blob, and which structure code and blob must agree on.

All base models come last, so that what is small stands together at the beginning: a program that cannot map
its storage holds that part in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from scn.export.blob import format as form
from scn.export.blob.format import Array, Section
from scn.export.identity import DIGITS, FORMAT_VERSION, made_by
from scn.export.parts import Limits, Parts, Table
from scn.export.selftest import Golden
from scn.export.subject import Subject

KINDS = {"float": 0, "int32_t": 1, "uint16_t": 2, "int8_t": 3}
TEXTUAL = ("defines", "theta", "encode", "alphas", "map_label", "beta", "pick", "few", "mix", "take", "infer")
HOW_TO_READ = ("rows_ram", "only")  # pieces that are others where storage is not mapped
SELF_TEST, LOADED = "self-test", "calibration"


@dataclass(frozen=True)
class BlobLayout:
    """The tables of a network as they lie in its blob."""

    parts: Parts
    structure: str
    model_hash: str
    dims: int

    @cached_property
    def groups(self) -> list[list[Table]]:
        """The tables of each section."""
        tables = [part for part in self.parts.constants if isinstance(part, Table)]
        large = [[table for table in tables if table.label == label] for label in ("shared", "bases")]
        rest = [table for table in tables if table.label not in ("shared", "bases")]
        return [[table for table in rest if table.kind == kind] for kind in ("float", "int32_t")] + large

    @cached_property
    def sections(self) -> list[Section]:
        kinds = [0, 1, *(KINDS[group[0].kind] if group else 0 for group in self.groups[2:])]
        return form.placed(kinds, [sum(table.values.numel() for table in group) for group in self.groups])

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return form.size_of(self.sections)

    @property
    def small(self) -> int:
        """Words before the first base model or shared weight."""
        return self.sections[2].offset // form.WORD

    @property
    def expected(self) -> bytes:
        """What code knows of the head: all but which weights they are, and who made them."""
        return form.head_of(self.structure, "", "", FORMAT_VERSION, self.sections, self.parts.wide)

    def places(self) -> Iterator[tuple[Table, int]]:
        """Each table, and its first byte."""
        for section, group in zip(self.sections, self.groups, strict=True):
            place = section.offset
            for table in group:
                yield table, place
                place += table.bytes

    def limits(self) -> list[tuple[int, int, int]]:
        """For the section of whole numbers, in order: how many, the least and the largest."""
        found: list[tuple[int, int, int]] = []
        for table in self.groups[1]:
            each = self._single if table.name == NUMBER else [table.limits] * table.values.numel()
            for least, largest in each:
                count = 0
                if found and found[-1][1:] == (least, largest):
                    count = found.pop()[0]
                found.append((count + 1, least, largest))
        return found

    @property
    def _single(self) -> list[Limits]:
        return [limits for _, limits in self.parts.numbers]

    def content(self) -> bytes:
        """The file."""
        values = [
            np.concatenate([_numbers(table) for table in group]) if group else np.zeros(0)
            for group in self.groups
        ]
        head = form.head_of(
            self.structure, self.model_hash, made_by(), FORMAT_VERSION, self.sections, self.parts.wide
        )
        return form.assembled(head, self.sections, values)


NUMBER, DECIMAL = "scn_number", "scn_decimal"


def laid_out(subject: Subject, parts: Parts, model_hash: str, found: Golden, dims: int) -> BlobLayout:
    """The layout of a network. Adds to its parts what the blob holds beside its tables."""
    tests = {"alphas": found.alphas, "outputs": found.outputs, "near": torch.tensor([found.near])}
    added = [Table("float", f"scn_test_{name}", values, SELF_TEST) for name, values in tests.items()]
    added.append(Table("float", DECIMAL, torch.tensor(parts.decimals), LOADED))
    added.append(Table("int32_t", NUMBER, torch.tensor([value for value, _ in parts.numbers]), LOADED))
    parts.constants += [table for table in added if table.values.numel()]
    return BlobLayout(parts, structure(subject, parts), model_hash, dims)


def structure(subject: Subject, parts: Parts) -> str:
    """A hash of all that code is made of, but numbers in tables: what a retrained network has in common."""
    found = hashlib.sha256()
    said = [repr(getattr(parts, field)) for field in TEXTUAL]
    said.append(repr([name for name in parts.snippets if name not in HOW_TO_READ]))
    norm = subject.normalisation
    said += [repr(subject.shape), repr((tuple(norm.mean), tuple(norm.deviation))), *_meanings(subject)]
    for part in parts.constants:
        if isinstance(part, Table):
            said.append(f"{part.kind} {part.name} {tuple(part.values.shape)} {part.words} {part.limits}")
        else:
            said.append(part if isinstance(part, str) else part.text())
    said.append(repr([limits for _, limits in parts.numbers]))
    for text in said:
        found.update(f"{len(text)} {text}\n".encode())
    return found.hexdigest()[:DIGITS]


def _meanings(subject: Subject) -> list[str]:
    """What answers are called: code knows the names, and a blob must mean the same."""
    kind = type(subject.objective).__name__
    return [kind, repr(subject.classes), repr(subject.target_names), repr(subject.target_units)]


def _numbers(table: Table) -> Array:
    values = table.values.detach().flatten()
    if table.kind == "uint16_t":
        return values.half().view(torch.int16).numpy().view("<u2")
    return (values.float() if table.kind == "float" else values.long()).numpy()
