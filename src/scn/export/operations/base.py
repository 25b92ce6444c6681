"""What an operation of the export is: one class that says all there is to know about it.

How it is recognised in what torch recorded, what it computes (in floating point and in whole numbers, as a
reference in Python), its C code in both arithmetics, and what it does to memory and to quantisation. To add
one, write a file with a subclass and add it to the table in `operations/__init__.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from torch import Tensor, nn

from scn.export.graph import CannotExport

if TYPE_CHECKING:
    from scn.export.float_code import FloatCode
    from scn.export.graph import Graph, Window
    from scn.export.int8_code import Int8Code, Scratch
    from scn.export.interpret import Float, Int8
    from scn.export.quantisation import Quantisation
    from scn.export.translation import FunctionTranslator, LayerTranslator


@dataclass
class Operation(ABC):
    """An operation that reads the values `sources` (numbers) and makes the value `target`."""

    name: str
    sources: list[int]
    target: int

    # Recognition: what becomes this operation, or part of it.
    layers: ClassVar[Mapping[type[nn.Module], LayerTranslator]] = {}
    functions: ClassVar[Mapping[Any, FunctionTranslator]] = {}
    # C code by name, each piece behind those that it uses. In int8, @1@, @2@, ... are numbers of bits.
    float_snippets: ClassVar[Mapping[str, str]] = {}
    int8_snippets: ClassVar[Mapping[str, str]] = {}
    # A ReLU behind it becomes part of it: it has a field `relu`.
    takes_relu: ClassVar[bool] = False
    relu = False
    # Memory: the same numbers in another shape; or it may write over its first source.
    is_view: ClassVar[bool] = False
    in_place: ClassVar[bool] = False
    # Quantisation: a value of 16 bits costs it no time; it can read one at all; what is behind it
    # multiplies the same whole numbers, so that its columns limit their bits.
    widens: ClassVar[bool] = False
    reads_16_bits: ClassVar[bool] = True
    passes_on: ClassVar[bool] = True

    @property
    def rescales(self) -> bool:
        """Whether its values have quantisation parameters of their own, by calibration."""
        return False

    def quantisation(self, source: Quantisation) -> Quantisation:
        """The quantisation parameters of its values where it does not rescale, from those of its source."""
        return source

    def is_positive(self, source: Quantisation) -> bool:
        """Whether a value of its own is never below 0."""
        return self.relu

    def take_pool(self, graph: Graph, window: Window) -> bool:
        """Make the largest of each window part of it, where it can: then its values are those."""
        return False

    def macs(self, graph: Graph) -> int:
        """Multiply-accumulates of one inference."""
        return 0

    @abstractmethod
    def run_float(self, arithmetic: Float, *sources: Tensor) -> Tensor:
        """Its values (N, channels, height, width) in floating point."""

    def run_int8(self, arithmetic: Int8, *sources: Tensor) -> Tensor:
        """Its values in whole numbers, counted without their zero points."""
        return self.run_float(arithmetic, *sources)

    @abstractmethod
    def write_float(self, code: FloatCode) -> None:
        """Add its C code in floating point."""

    def write_int8(self, code: Int8Code) -> None:
        """Add its C code in whole numbers."""
        raise CannotExport(f'"{self.name}" has no code in whole numbers: use `inference=float`')

    def float_scratch(self, code: FloatCode) -> int:
        """Floats that it needs besides its values while it runs."""
        return 0

    def int8_scratch(self, code: Int8Code) -> Scratch | None:
        """Bytes that it needs besides its values while it runs."""
        return None
