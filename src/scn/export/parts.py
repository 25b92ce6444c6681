"""The pieces of a source file, complete before any text is made of them.

What they take of flash and RAM follows from the pieces themselves.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from torch import Tensor

from scn.export.entrance import Entrance, First
from scn.export.pack import array, exact, floats, halves, whole
from scn.transforms.guard import Policy

BYTES = {"float": 4, "int32_t": 4, "uint32_t": 4, "int16_t": 2, "uint16_t": 2, "int8_t": 1, "uint8_t": 1}
Limits = tuple[int, int]  # the least and the largest value of whole numbers that are loaded
WHOLE: Limits = (-(2**31), 2**31 - 1)
IN_SECTION = ("bases", "shared")
WRITTEN: dict[str, Callable[[Tensor], Iterable[str]]] = {
    "float": floats,
    "uint16_t": halves,
    "int8_t": whole,
    "int16_t": whole,
    "int32_t": whole,
}


@dataclass(frozen=True)
class Table:
    """A constant array; `label` is its line in the memory map.

    With `words`, bytes that are read four at a time: aligned, and before all that points into them.
    """

    kind: str
    name: str
    values: Tensor
    label: str
    words: bool = False
    limits: Limits = WHOLE

    @property
    def bytes(self) -> int:
        return self.values.numel() * BYTES[self.kind]

    @property
    def section(self) -> str:
        """A macro by which the port says where large tables lie."""
        return "SCN_WEIGHTS " if self.label in IN_SECTION else ""

    def text(self) -> str:
        items = WRITTEN[self.kind](self.values)
        if not self.words:
            declared, numbers = array(self.kind, self.name, items)
            return f"{self.section}static const {declared} = {numbers};\n"
        declared, numbers = array(self.kind, "bytes", items)
        union = f"union {{\n    {declared};\n    uint32_t aligned;\n}}"
        return f"{self.section}static const {union} {self.name} = {{{numbers}}};\n"


@dataclass(frozen=True)
class Struct:
    """A constant struct that names tables: written once, or, where these are in a blob, where it is used."""

    kind: str
    name: str
    values: list[str]

    @property
    def local(self) -> str:
        return f"const {self.kind} {self.name} = {{{', '.join(self.values)}}};"

    def text(self) -> str:
        return f"static {self.local}\n"


@dataclass(frozen=True)
class Field:
    """An array in the state or in theta. With `words`, aligned like words though its elements are smaller."""

    kind: str
    name: str
    count: int
    label: str
    words: bool = False

    @property
    def bytes(self) -> int:
        return self.count * BYTES[self.kind]

    def text(self) -> str:
        if not self.words:
            return f"{self.kind} {self.name}[{self.count}]"
        fields = f"        {self.kind} halves[{self.count}];\n        uint32_t aligned;\n"
        return f"union {{\n{fields}    }} {self.name}"


@dataclass(frozen=True)
class Member:
    """Anything else in the state."""

    declared: str
    bytes: int
    label: str

    def text(self) -> str:
        return self.declared


@dataclass
class Functions:
    """Public functions beside configuration and inference: their names, and texts for header and source."""

    names: list[str] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)
    defined: list[str] = field(default_factory=list)


@dataclass
class Parts:
    """All that the texts of a network are made of."""

    defines: list[str] = field(default_factory=list)
    snippets: list[str] = field(default_factory=list)
    constants: list[Table | Struct | str] = field(default_factory=list)  # arrays, and what names them
    in_blob: bool = False  # whether tables are loaded, not compiled
    numbers: list[tuple[int, Limits]] = field(default_factory=list)  # single ones that are loaded
    decimals: list[float] = field(default_factory=list)
    wide: set[int] = field(default_factory=set)  # values between layers with 16 bits
    theta: list[Field] = field(default_factory=list)
    copies: int = 1  # of theta: two for a double buffer
    state: list[Field | Member] = field(default_factory=list)  # without theta and the flags
    encode: list[str] | None = None  # statements from params to alpha, where the transform says how
    alphas: int = 0  # values of alpha; 0 where nothing is mixed
    wishes: int = 0  # bytes of what requests leave
    guard: Policy | None = None  # what looks at readings before they configure
    guarded: int = 0  # bytes of what it remembers
    map_label: str = ""  # what makes beta of alpha, as a person says it; "" where nothing is mixed
    beta: list[str] = field(default_factory=list)  # statements from alpha to beta
    pick: list[str] = field(default_factory=list)  # of a map that picks few base models: from alpha to few
    few: bool = False  # whether only those base models are mixed that a map picks
    in_place: bool = False  # whether inference uses the rows of a single base model where they are stored
    mix: list[str] = field(default_factory=list)  # statements that fill theta by beta
    take: list[str] = field(default_factory=list)  # statements from x to what the first layer reads
    infer: list[str] = field(default_factory=list)  # statements from that to logits
    first: First = field(default_factory=First)
    entrance: Entrance | None = None  # of a sensor's own samples
    search: Functions = field(default_factory=Functions)

    @property
    def configurable(self) -> bool:
        """Whether there is anything to mix."""
        return bool(self.map_label)

    def need(self, *snippets: str) -> None:
        """Add snippets that are not there yet."""
        self.snippets += [name for name in snippets if name not in self.snippets]

    def enlarge(self, wanted: Field) -> None:
        """A field of the state that is at least as large as this one; none where that is empty."""
        fields = (one for one in self.state if isinstance(one, Field))
        there = next((one for one in fields if one.name == wanted.name), None)
        if there is not None:
            self.state.remove(there)
        if there is not None and there.count > wanted.count:
            wanted = there
        if wanted.count:
            self.state.append(wanted)

    def add_floats(self, name: str, values: Tensor, label: str = "biases and gains") -> str:
        """Add a table of float32; returns its name."""
        self.constants.append(Table("float", name, values, label))
        return name

    def add_numbers(
        self, name: str, values: Tensor, label: str = "biases and gains", limits: Limits = WHOLE
    ) -> str:
        """Add a table of whole numbers; returns its name."""
        self.constants.append(Table("int32_t", name, values, label, limits=limits))
        return name

    def number(self, value: int, limits: Limits) -> str:
        """A whole number that comes from training or calibration, as a C expression."""
        if not self.in_blob:
            return str(value)
        self.numbers.append((value, limits))
        return f"scn_number[{len(self.numbers) - 1}]"

    def decimal(self, value: float) -> str:
        """The same of a float32."""
        if not self.in_blob:
            return exact(value)
        self.decimals.append(value)
        return f"scn_decimal[{len(self.decimals) - 1}]"

    def weights(self, name: str, words: bool) -> str:
        """The first weight of a table of base models or shared weights, as a C expression."""
        return f"{name}.bytes" if words and not self.in_blob else name

    @property
    def flash(self) -> dict[str, int]:
        """Bytes of the arrays, by what they are."""
        tables = [part for part in self.constants if isinstance(part, Table)]
        tables += self.entrance.tables if self.entrance is not None else []
        return _summed([(part.label, part.bytes) for part in tables])

    @property
    def ram(self) -> dict[str, int]:
        """Bytes of the state, by what it is."""
        theta = [(part.label, part.bytes * self.copies) for part in self.theta]
        more = [(label, size) for label, size in (("wishes", self.wishes), ("guard", self.guarded)) if size]
        return _summed([*theta, *((part.label, part.bytes) for part in self.state), *more])

    def constant_texts(self) -> list[str]:
        """In an order in which each names only what stands before it."""
        parts = sorted(self.constants, key=lambda part: not (isinstance(part, Table) and part.words))
        return [part if isinstance(part, str) else part.text() for part in parts]


def body(statements: list[str], depth: int = 1) -> str:
    """Statements as they stand in a function."""
    return textwrap.indent("\n".join(statements), "    " * depth)


def _summed(sizes: list[tuple[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for label, size in sizes:
        found[label] = found.get(label, 0) + size
    return found
