"""The C functions of a network in whole numbers: 8-bit weights and activations, sums of 32 bits.

A layer's sums are multiplied by one factor a row, which holds the steps of weights and activations and the
gain of a norm layer, so that only weights that are mixed need any work when alpha changes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from scn.export.base import Options
from scn.export.code import STRIP, Parts, window_of
from scn.export.graph import Add, Affine, CannotExport, Graph, LessLeast, Op, Pad, Pool, Relu, Reshape, Window
from scn.export.layers import is_linear
from scn.export.memory import plan
from scn.export.pack import exact, floats, packed_words, table, whole
from scn.export.quantise import Step, quantised_rows

WORD = 4


class Int8Code:
    """Builds the parts for one graph, whose values have these steps."""

    def __init__(self, graph: Graph, options: Options, steps: dict[int, Step]) -> None:
        last = graph.ops[-1]
        if not isinstance(last, Affine) or not is_linear(graph, last):
            raise CannotExport(f'the last layer, "{last.name}", is not linear: use `inference=float`')
        self.graph, self.options, self.steps = graph, options, steps
        self.parts = Parts()
        widths = {value: step.bits // 8 for value, step in steps.items()}
        self.plan = plan(graph, widths, {graph.output})
        self.stored = {op.target: quantised_rows(op.weight) for op in graph.affine}
        self.patch = self.buffer = 0  # bytes of scratch
        self.theta = self.base = self.shared = self.rows = 0
        self.bases: list[Tensor] = []
        self.constants: list[Tensor] = []

    def build(self) -> Parts:
        self.parts.need("block", "int8_dot")
        self._input()
        for op in self.graph.ops:
            if not isinstance(op, Reshape):
                self.parts.infer.append(f"/* {op.name.replace('*', '')} */")
                self._emit(op)
        self._weights()
        self._state()
        return self.parts

    def _weights(self) -> None:
        """The tables of weights stand before those that point into them."""
        written = []
        for name, sets in (("bases", self.bases), ("shared", self.constants)):
            if sets:
                values = torch.cat(sets, dim=1)
                listed = table("int8_t", "bytes", whole(values)).removeprefix("static const ").rstrip(";\n")
                kind, _, numbers = listed.partition(" = ")
                union = f"union {{\n    {kind};\n    uint32_t aligned;\n}}"
                written.append(f"static const {union} scn_{name} = {{{numbers}}};\n")
                self.parts.flash.append((name, values.numel()))
        self.parts.tables[:0] = written

    def _state(self) -> None:
        parts = self.parts
        parts.defines += [f"#define SCN_DIMS {self.graph.dims}", f"#define SCN_STRIP {STRIP}"]
        copies = 2 if self.options.double_buffer else 1
        for kind, name, words in (
            ("uint32_t", "rows", self.theta // WORD),
            ("float", "steps", 2 * self.rows),
        ):
            if words:
                parts.theta.append(f"{kind} {name}[{words}]")
                parts.ram.append(("theta", WORD * words * copies))
        if self.options.theta == "row":
            parts.state.append(f"float beta[{self.graph.dims}]")
            parts.ram.append(("beta", 4 * self.graph.dims))
        sizes = {"activations": self.plan.size, "scratch": _padded(self.patch) + _padded(self.buffer)}
        for name, size in sizes.items():
            if size:
                parts.state.append(f"uint32_t {name}[{size // WORD}]")
                parts.ram.append((name, size))

    def _table(self, name: str, values: Tensor, label: str = "biases and gains") -> str:
        self.parts.tables.append(table("float", name, floats(values)))
        self.parts.flash.append((label, 4 * values.numel()))
        return name

    def bits(self, value: int) -> int:
        return self.steps[value].bits

    def at(self, value: int) -> str:
        """Where a value lies, as a C expression of its own type."""
        bits = self.bits(value)
        return f"(int{bits}_t *)s->activations + {self.plan.offsets[value] * 8 // bits}"

    def _input(self) -> None:
        step, count = self.steps[0], self.graph.size(0)
        factor = exact(1 / step.scale)
        if step.bits == 16:
            self.parts.need("int8_input")
            self.parts.defines.append(f"#define SCN_INPUT_BITS {step.high.bit_length() + 1}")
            call = f"scn_input_int16(x, {self.at(0)}, {count}, {factor});"
        else:
            self.parts.need("int8_input8")
            call = f"scn_input_int8(x, {self.at(0)}, {count}, {factor});"
        self.parts.infer.append(call)

    def _out(self, value: int) -> str:
        """How sums become the value; a name of a constant."""
        step = self.steps[value]
        name = f"scn_out_{value}"
        limits = f"{step.low}, {step.high}, {step.zero}"
        self.parts.tables.append(f"static const scn_out {name} = {{{limits}}};\n")
        return name

    def _emit(self, op: Op) -> None:
        if isinstance(op, Affine):
            self._affine(op)
        elif isinstance(op, Pool):
            self._pool(op)
        elif isinstance(op, Add):
            self._add(op)
        else:
            self._simple(op)

    def _affine(self, op: Affine) -> None:
        rows = self._held(op)
        factor, offset = self._factors(op)
        linear = is_linear(self.graph, op)
        if not linear:
            self._convolution(op, rows, factor, offset)
            return
        if self.bits(op.sources[0]) == 16:
            x = self.at(op.sources[0])
        else:
            self._widen(op)
            x = "(const int16_t *)s->scratch"
        self._linear(op, rows, factor, offset, x)

    def _linear(self, op: Affine, rows: str, factor: str, offset: str, x: str) -> None:
        last, strips = op.target == self.graph.output, rows.startswith("&")
        end = str(int(op.relu)) if last else self._out(op.target)
        y = "logits" if last else self.at(op.target)
        bits = self.bits(op.target)
        if strips:
            self.buffer = max(self.buffer, 4 * min(op.columns, STRIP))
            function = "scn_last_row_int8" if last else f"scn_linear_row_int{bits}"
            self.parts.need("int8_row", "int8_last_row" if last else f"int_linear_row:{bits}")
            here = f"{x}, {y}, @BUFFER@, {end}"
            self.parts.infer.append(f"{function}({rows}, s->beta, {factor}, {offset}, {here});")
            return
        self.parts.need("int8_last" if last else f"int_affine:{bits}")
        sizes = f"{op.rows}, {op.columns}" if last else f"{op.rows}, {op.columns}, 1"
        function = "scn_last_int8" if last else f"scn_affine_int{bits}"
        self.parts.infer.append(f"{function}({rows}, {factor}, {offset}, {x}, {y}, {sizes}, {end});")

    def _widen(self, op: Affine) -> None:
        self.parts.need("int8_widen")
        source, count = op.sources[0], self.graph.size(op.sources[0])
        self.patch = max(self.patch, 2 * count)
        self.parts.infer.append(
            f"scn_widen({self.at(source)}, (int16_t *)s->scratch, {count}, {self.steps[source].zero});"
        )

    def _held(self, op: Affine) -> str:
        """The rows of a layer as a C expression, or the address of what they are mixed from."""
        weight, scale = self.stored[op.target]
        words = packed_words(weight, op.groups)
        fill = words.new_zeros(len(words), -words.shape[1] % WORD)
        words = torch.cat([words, fill], dim=1)
        number = op.target
        if op.bases == 1:
            place, self.shared = self.shared, self.shared + words.shape[1]
            self.constants.append(words)
            if op.gain is not None or len(op.bias) > 1:
                self._layer(op, scale, f"scn_shared.bytes + {place}")
            return f"scn_shared.bytes + {place}"
        place, self.base = self.base, self.base + words.shape[1]
        self.bases.append(words)
        self._layer(op, scale, f"scn_bases.bytes + {place}")
        self.parts.need("int8_mix")
        if self.options.theta == "row":
            return f"&scn_layer_{number}"
        self.parts.need("int8_rows_ram")
        theta, self.theta = self.theta, self.theta + words.shape[1]
        self.parts.mix.append(
            f"scn_mix_rows_int8(&scn_layer_{number}, beta, (int8_t *)theta->rows + {theta});"
        )
        return f"(const int8_t *)theta->rows + {theta}"

    def _layer(self, op: Affine, scale: Tensor, base: str) -> None:
        number, dims = op.target, self.graph.dims
        self.parts.need("int8_rows")
        pointers = [base, self._table(f"scn_scale_{number}", scale, "scales")]
        for name in ("gain", "inner", "bias"):
            values = getattr(op, name)
            if values is None:
                pointers.append("0")
            else:
                pointers.append(self._table(f"scn_{name}_{number}", values.expand(dims, -1)))
        target = 1.0 if op.target == self.graph.output else self.steps[op.target].scale
        steps = [exact(self.steps[op.sources[0]].scale), exact(target)]
        stride = "@STRIDE@" if op.bases > 1 else "0"
        sizes = [stride, *map(str, (op.bases, op.groups, op.rows // op.groups, op.columns))]
        values = ", ".join([*pointers, *steps, *sizes])
        self.parts.tables.append(f"static const scn_rows scn_layer_{number} = {{{values}}};\n")

    def _factors(self, op: Affine) -> tuple[str, str]:
        """What sums are multiplied by, and what is added: constants, or mixed for each alpha."""
        if op.bases > 1 or op.gain is not None or len(op.bias) > 1:
            place, self.rows = 2 * self.rows, self.rows + op.rows
            here = (f"theta->steps + {place}", f"theta->steps + {place + op.rows}")
            self.parts.mix.append(f"scn_mix_steps(&scn_layer_{op.target}, beta, {here[0]}, {here[1]});")
            return here
        source = self.steps[op.sources[0]].scale
        target = 1.0 if op.target == self.graph.output else self.steps[op.target].scale
        _, scale = self.stored[op.target]
        factor = self._table(f"scn_factor_{op.target}", scale * source / target, "scales")
        return factor, self._table(f"scn_offset_{op.target}", op.bias / target)

    def _convolution(self, op: Affine, rows: str, factor: str, offset: str) -> None:
        source, groups = op.sources[0], op.groups
        before, behind = self.bits(source), self.bits(op.target)
        window = self._window(source, op.target, op.window, groups)
        self.patch = max(self.patch, 2 * op.columns)
        end = f"{self._out(op.target)}, {self.steps[source].zero}"
        self.parts.need(f"int_affine:{behind}", f"int_gather:{before}")
        count = op.rows // groups
        for group in range(groups):
            x = f"{self.at(source)} + {group * self.graph.size(source) // groups}"
            y = f"{self.at(op.target)} + {group * self.graph.size(op.target) // groups}"
            here = f"{factor} + {group * count}, {offset} + {group * count}, {x}, {y}, (int16_t *)s->scratch"
            types = f"int{before}_int{behind}"
            if rows.startswith("&"):
                self.parts.need(f"int_conv_row:{before}:{behind}")
                self.buffer = max(self.buffer, 4 * op.columns)
                call = f"scn_convolution_row_{types}({window}, {rows}, {group}, s->beta, {here}"
                self.parts.infer.append(f"{call}, @BUFFER@, {end});")
            else:
                self.parts.need(f"int_conv:{before}:{behind}")
                call = f"scn_convolution_{types}({window}, {rows} + {group * count * op.columns}"
                self.parts.infer.append(f"{call}, {here}, {end});")

    def _window(self, source: int, target: int, window: Window, groups: int = 1) -> str:
        self.parts.need("patch")
        text = window_of(self.graph, source, target, window, groups)
        self.parts.tables.append(f"static const scn_window scn_window_{target} = {text};\n")
        return f"&scn_window_{target}"

    def _pool(self, op: Pool) -> None:
        source = self.steps[op.sources[0]]
        window = self._window(op.sources[0], op.target, op.window)
        x, y = self.at(op.sources[0]), self.at(op.target)
        before, behind = self.bits(op.sources[0]), self.bits(op.target)
        if op.largest:
            self.parts.need("seen", f"int_max:{before}")
            least = source.zero if op.relu else source.low + source.zero
            self.parts.infer.append(f"scn_max_int{before}({window}, {x}, {y}, {least});")
            return
        self.parts.need("seen", f"int_mean:{before}:{behind}")
        factor = exact(source.scale / self.steps[op.target].scale)
        rest = f"{source.zero}, {factor}, {int(op.count_padding)}, {self._out(op.target)}"
        self.parts.infer.append(f"scn_mean_int{before}_int{behind}({window}, {x}, {y}, {rest});")

    def _add(self, op: Add) -> None:
        types = [self.bits(value) for value in (*op.sources, op.target)]
        self.parts.need(f"int_add:{types[0]}:{types[1]}:{types[2]}")
        target = self.steps[op.target].scale
        sides = ", ".join(
            f"{self.at(s)}, {self.steps[s].zero}, {exact(self.steps[s].scale / target)}" for s in op.sources
        )
        rest = f"{self.at(op.target)}, {self.graph.size(op.target)}, {self._out(op.target)}"
        name = "_".join(f"int{bits}" for bits in types)
        self.parts.infer.append(f"scn_add_{name}({sides}, {rest});")

    def _simple(self, op: Op) -> None:
        x, y, zero = self.at(op.sources[0]), self.at(op.target), self.steps[op.sources[0]].zero
        channels, height, width = self.graph.shapes[op.sources[0]]
        bits = self.bits(op.sources[0])
        if isinstance(op, Relu):
            self.parts.need(f"int_relu:{bits}")
            call = f"scn_relu_int{bits}({x}, {y}, {self.graph.size(op.target)}, {zero});"
        elif isinstance(op, Pad):
            self.parts.need(f"int_pad:{bits}")
            sizes = ", ".join(map(str, (channels, height, width, *op.margins, int(op.nearest), zero)))
            call = f"scn_pad_int{bits}({x}, {y}, {sizes});"
        else:
            assert isinstance(op, LessLeast)
            self.parts.need("int8_less_least")
            call = f"scn_less_least_int8({x}, {y}, {channels}, {height * width});"
        self.parts.infer.append(call)

    def finish(self) -> Parts:
        """The parts, with places filled in that are known only when all layers are."""
        parts = self.build()
        buffer = f"(int8_t *)s->scratch + {_padded(self.patch)}"
        parts.infer = [line.replace("@BUFFER@", buffer) for line in parts.infer]
        parts.tables = [text.replace("@STRIDE@", str(self.base)) for text in parts.tables]
        return parts


def _padded(size: int) -> int:
    return -(-size // WORD) * WORD
