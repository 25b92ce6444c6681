"""The parts of a network in whole numbers: 8-bit weights and activations, sums of 32 bits."""

from __future__ import annotations

from scn.export.base import Options
from scn.export.builder import Builder
from scn.export.entrance import First
from scn.export.fixed_point import Factor
from scn.export.graph import CannotExport, Graph
from scn.export.memory import lay_out
from scn.export.operations.affine import Affine, in_int8, layers_of
from scn.export.operations.base import Operation
from scn.export.pack import WORD, padded
from scn.export.parts import WHOLE, Parts, Struct
from scn.export.quantisation import Quantisation, quantised_rows

# What is allowed of numbers that are loaded: with any of them the code is defined.
STEPS = (-65536, 65536)
FRACTION = (0, 30)
SHIFT = (1, 62)
EXPONENT = (-126, 127)

Scratch = tuple[int, int]  # bytes of a patch of the input, and of a strip of rows behind it


class Int8Code(Builder):
    """Values with these quantisation parameters; only the output lies where the caller has it."""

    def __init__(
        self, graph: Graph, options: Options, output: str, quantisation: dict[int, Quantisation]
    ) -> None:
        last = graph.ops[-1]
        if not isinstance(last, Affine) or not last.is_linear(graph):
            raise CannotExport(f'the last layer, "{last.name}", is not linear: use `inference=float`')
        super().__init__(graph, options, output)
        self.quantisation = quantisation
        between = [v for v in quantisation if v not in (0, graph.output)]
        self.parts.wide = {value for value in between if self.bits(value) == 16}
        self.stored = {op.target: quantised_rows(op.weight) for op in layers_of(graph)}
        self.arrangement = in_int8.arranged(graph, layers_of(graph), options)
        widths = {value: held.bits // 8 for value, held in quantisation.items()}
        self.layout = lay_out(graph, widths, {graph.output})
        sizes = [op.int8_scratch(self) or (0, 0) for op in graph.ops]
        self.patch, self.strip = (padded(max(size)) for size in zip(*sizes, strict=True))

    def build(self) -> Parts:
        self.parts.need("block", "whole", "word", "sse", "int8_out", "int8_dot")
        self._write_input()
        self._write_operations()
        in_int8.add_weights(self)
        self.parts.defines.append(f"#define SCN_DIMS {self.graph.dims}")
        self._add_state(
            [
                ("uint32_t", "rows", self.arrangement.theta_size // WORD),
                ("int32_t", "steps", self.arrangement.vectors_size),
            ],
            [
                ("int16_t", "activations", self.layout.size // 2),
                ("int16_t", "scratch", (self.patch + self.strip) // 2),
            ],
        )
        return self.parts

    def _write(self, op: Operation) -> None:
        op.write_int8(self)

    @property
    def buffer(self) -> str:
        """Where a strip of rows is mixed."""
        return f"(int8_t *)s->scratch.halves + {self.patch}"

    def bits(self, value: int) -> int:
        return self.quantisation[value].bits

    def at(self, value: int) -> str:
        """Where a value lies, as a C expression of its own type."""
        bits = self.bits(value)
        cast = "(int8_t *)" if bits == 8 else ""
        return f"{cast}s->activations.halves + {self.layout.offsets[value] * 8 // bits}"

    def steps(self, number: int) -> str:
        """A zero point or a limit, as a C expression."""
        return self.parts.number(number, STEPS)

    def factor(self, factor: Factor) -> tuple[str, str]:
        """A factor and its shift, as C expressions."""
        return self.parts.number(factor.number, WHOLE), self.parts.number(factor.shift, SHIFT)

    def add_limits(self, value: int, fraction: int = 0) -> str:
        """Add a constant that says how sums become the value; returns its name."""
        held, name = self.quantisation[value], f"scn_out_{value}"
        ends = WHOLE if value == self.graph.output else STEPS  # outputs become floats, and add no zero point
        numbers = [self.parts.number(number, ends) for number in (held.low, held.high)]
        numbers += [self.steps(held.zero), self.parts.number(fraction, FRACTION)]
        self.parts.constants.append(Struct("scn_out", name, numbers))
        return name

    def _write_input(self) -> None:
        held, count = self.quantisation[0], self.graph.size(0)
        exponent = self.parts.number(held.exponent, EXPONENT)
        if held.bits == 16:
            self.parts.need("int8_input")
            self.parts.defines.append(f"#define SCN_INPUT_BITS {held.high.bit_length() + 1}")
            self._take("scn_input_int16", "x", self.at(0), count, exponent)
            return
        self.parts.need("int8_input8")
        self._take("scn_input_int8", "x", self.at(0), count, exponent, *self.factor(held.narrowing))

    def _take(self, function: str, *arguments: str | int) -> None:
        self.parts.take.append(f"{function}({', '.join(map(str, arguments))});")
        held = self.quantisation[0]
        self.parts.first = First(f"int{held.bits}_t", self.at(0), held.scale, held.of_floats)
