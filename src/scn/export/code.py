"""The C functions of a network whose arithmetic is in float32, from snippets in `templates/`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from torch import Tensor

from scn.export.base import Options
from scn.export.graph import Add, Affine, Graph, LessLeast, Op, Pad, Pool, Relu, Reshape, Window
from scn.export.layers import Arrangement, Layer, arrange, is_linear, tables
from scn.export.memory import Plan, plan
from scn.export.pack import floats, halves, table, whole
from scn.export.quantise import quantised_rows

STRIP = 64  # columns mixed at a time in a linear layer
PATCH = 128  # values of a patch gathered at a time in a convolution, at least one channel of it
BYTES = {"float32": 4, "float16": 2, "int8": 1}
WRITTEN = {"float32": floats, "float16": halves, "int8": whole}
BASE_TYPES = {"float32": "float", "float16": "uint16_t", "int8": "int8_t"}


@dataclass
class Parts:
    """The pieces of a source file, and the memory that they take: (what, bytes) in flash and in RAM."""

    defines: list[str] = field(default_factory=list)
    snippets: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    state: list[str] = field(default_factory=list)  # fields of the state, without the flags
    theta: list[str] = field(default_factory=list)  # fields of theta, which a double buffer has twice
    mix: list[str] = field(default_factory=list)  # statements that fill theta by beta
    infer: list[str] = field(default_factory=list)  # statements from x to logits
    flash: list[tuple[str, int]] = field(default_factory=list)
    ram: list[tuple[str, int]] = field(default_factory=list)

    def need(self, *names: str) -> None:
        self.snippets += [name for name in names if name not in self.snippets]


def window_of(graph: Graph, source: int, target: int, window: Window, groups: int = 1) -> str:
    """The scn_window of an operation on one of its groups."""
    channels, height, width = graph.shapes[source]
    rows, out_height, out_width = graph.shapes[target]
    sizes = [channels // groups, height, width, rows // groups, out_height, out_width]
    for pair in (window.kernel, window.stride, window.padding, window.dilation):
        sizes += pair
    return "{" + ", ".join(map(str, sizes)) + "}"


class FloatCode:
    """Builds the parts for one graph."""

    def __init__(self, graph: Graph, options: Options) -> None:
        self.graph, self.options = graph, options
        self.parts = Parts()
        self.arrangement: Arrangement = arrange(graph, options)
        widths = dict.fromkeys(range(len(graph.shapes)), 4)
        self.plan: Plan = plan(graph, widths, {0, graph.output})
        self.scratch = 0

    def build(self) -> Parts:
        self.parts.need("block", "store")
        self._tables()
        for layer in self.arrangement.layers:
            self._mix(layer)
        for op in self.graph.ops:
            self._op(op)
        self._state()
        return self.parts

    def _state(self) -> None:
        parts, arrangement = self.parts, self.arrangement
        parts.defines += [
            f"#define SCN_DIMS {self.graph.dims}",
            f"#define SCN_STRIP {STRIP}",
            f"#define SCN_PATCH {PATCH}",
        ]
        copies = 2 if self.options.double_buffer else 1
        for name, count in (("rows", arrangement.theta_size), ("bias", arrangement.bias_size)):
            if count:
                parts.theta.append(f"float {name}[{count}]")
                parts.ram.append(("theta", 4 * count * copies))
        if self.options.theta == "row":
            parts.state.append(f"float beta[{self.graph.dims}]")
            parts.ram.append(("beta", 4 * self.graph.dims))
        for name, count in (("activations", self.plan.size // 4), ("scratch", self.scratch)):
            if count:
                parts.state.append(f"float {name}[{count}]")
                parts.ram.append((name, 4 * count))

    def _tables(self) -> None:
        layers, kind = self.arrangement.layers, self.options.weights
        weights = [layer.op.weight for layer in layers]
        if kind == "int8":
            codes = [quantised_rows(weight) for weight in weights]
            weights = [stored for stored, _ in codes]
            for layer, (_, scale) in zip(layers, codes, strict=True):
                self._table(layer, "scale", scale)
        for name, values in zip(("bases", "shared"), tables(layers, weights), strict=True):
            if values.numel():
                self.parts.tables.append(table(BASE_TYPES[kind], f"scn_{name}", WRITTEN[kind](values)))
                self.parts.flash.append((name, values.numel() * BYTES[kind]))
        for layer in layers:
            self._vectors(layer)

    def _vectors(self, layer: Layer) -> None:
        for name in ("bias", "gain", "inner"):
            values = getattr(layer.op, name)
            if values is not None:
                self._table(layer, name, values)

    def _table(self, layer: Layer, name: str, values: Tensor) -> None:
        self.parts.tables.append(table("float", f"scn_{name}_{layer.number}", floats(values)))
        self.parts.flash.append(("scales" if name == "scale" else "biases and gains", 4 * values.numel()))

    def _mix(self, layer: Layer) -> None:
        if layer.place == "flash" and layer.bias is None:
            return
        self.parts.need("rows")
        if layer.place != "flash":
            self.parts.need(f"mix_{self.options.weights}", "coefficients")
        op = layer.op
        stride = self.arrangement.base_size if layer.in_bases else 0
        weights = f"scn_{'bases' if layer.in_bases else 'shared'} + {layer.base}"
        pointers = [weights]
        for name, there in (
            ("scale", self.options.weights == "int8"),
            ("gain", op.gain is not None),
            ("inner", op.inner is not None),
            ("bias", layer.bias is not None),
        ):
            pointers.append(f"scn_{name}_{layer.number}" if there else "0")
        sizes = [stride, op.bases, op.groups, op.rows // op.groups, op.columns]
        values = ", ".join([*pointers, *map(str, sizes)])
        self.parts.tables.append(f"static const scn_rows scn_layer_{layer.number} = {{{values}}};\n")
        if layer.place == "ram":
            self.parts.need("rows_ram")
            self.parts.mix.append(
                f"scn_mix_rows(&scn_layer_{layer.number}, beta, theta->rows + {layer.theta});"
            )
        if layer.bias is not None:
            self.parts.need("rows_bias")
            self.parts.mix.append(
                f"scn_mix_bias(&scn_layer_{layer.number}, beta, theta->bias + {layer.bias});"
            )

    def _beta(self, op: Affine) -> str:
        return "s->beta" if op.mixed else "0"

    def at(self, value: int) -> str:
        """Where a value lies, as a C expression."""
        root = self.plan.roots[value]
        if root == 0:
            return "x"
        if root == self.plan.roots[self.graph.output]:
            return "logits"
        return f"s->activations + {self.plan.offsets[value] // 4}"

    def _op(self, op: Op) -> None:
        emit = {
            Affine: self._affine,
            Pool: self._pool,
            Add: self._add,
            Relu: self._relu,
            Pad: self._pad,
            LessLeast: self._less_least,
        }
        if not isinstance(op, Reshape):
            self.parts.infer.append(f"/* {op.name.replace('*', '')} */")
            emit[type(op)](op)  # type: ignore[operator]

    def _affine(self, op: Affine) -> None:
        layer = self.arrangement.of(op)
        bias = f"scn_bias_{layer.number}" if layer.bias is None else f"theta->bias + {layer.bias}"
        x, y, relu = self.at(op.sources[0]), self.at(op.target), int(op.relu)
        if not is_linear(self.graph, op):
            self._convolution(op, layer, bias)
        elif layer.place == "strips":
            self.parts.need("linear", "linear_row")
            self.scratch = max(self.scratch, 4 * min(op.columns, STRIP))
            where = f"{self._beta(op)}, {bias}, {x}, {y}, s->scratch, {relu}"
            self.parts.infer.append(f"scn_linear_row(&scn_layer_{layer.number}, {where});")
        else:
            self.parts.need("linear", "linear_ram")
            rows = self._rows(layer)
            self.parts.infer.append(f"scn_linear({rows}, {bias}, {x}, {y}, {op.rows}, {op.columns}, {relu});")

    def _rows(self, layer: Layer) -> str:
        return f"theta->rows + {layer.theta}" if layer.place == "ram" else f"scn_shared + {layer.base}"

    def _window(self, name: str, source: int, target: int, window: Window, groups: int = 1) -> str:
        self.parts.need("patch")
        text = window_of(self.graph, source, target, window, groups)
        self.parts.tables.append(f"static const scn_window scn_{name} = {text};\n")
        return f"&scn_{name}"

    def _convolution(self, op: Affine, layer: Layer, bias: str) -> None:
        window = self._window(f"window_{layer.number}", op.sources[0], op.target, op.window, op.groups)
        x, y, relu, groups = self.at(op.sources[0]), self.at(op.target), int(op.relu), op.groups
        channels, area = self.graph.shapes[op.sources[0]][0] // groups, math.prod(op.window.kernel)
        patch = 4 * min(channels, max(1, PATCH // area)) * area
        rows = op.rows // groups
        x_step = self.graph.size(op.sources[0]) // groups
        y_step = self.graph.size(op.target) // groups
        for group in range(groups):
            here = (f"{bias} + {group * rows}", f"{x} + {group * x_step}", f"{y} + {group * y_step}")
            if layer.place == "strips":
                self.parts.need("gather", "conv_row")
                self.scratch = max(self.scratch, patch + 4 * op.columns)
                call = f"scn_convolution_row({window}, &scn_layer_{layer.number}, {group}, {self._beta(op)}"
            else:
                self.parts.need("gather", "conv_ram")
                self.scratch = max(self.scratch, patch + 4 * rows)
                call = f"scn_convolution({window}, {self._rows(layer)} + {group * rows * op.columns}"
            self.parts.infer.append(f"{call}, {', '.join(here)}, s->scratch, {relu});")

    def _pool(self, op: Pool) -> None:
        kind = "max" if op.largest else "mean"
        self.parts.need("seen", kind)
        window = self._window(f"pool_{op.target}", op.sources[0], op.target, op.window)
        if op.largest:
            rest = "0.0f" if op.relu else "-FLT_MAX"
        else:
            rest = f"{int(op.count_padding)}, {int(op.relu)}"
        call = f"scn_{kind}({window}, {self.at(op.sources[0])}, {self.at(op.target)}, {rest});"
        self.parts.infer.append(call)

    def _add(self, op: Add) -> None:
        self.parts.need("add")
        a, b = (self.at(source) for source in op.sources)
        count = self.graph.size(op.target)
        self.parts.infer.append(f"scn_add({a}, {b}, {self.at(op.target)}, {count}, {int(op.relu)});")

    def _relu(self, op: Relu) -> None:
        self.parts.need("relu")
        count = self.graph.size(op.target)
        self.parts.infer.append(f"scn_relu({self.at(op.sources[0])}, {self.at(op.target)}, {count});")

    def _pad(self, op: Pad) -> None:
        self.parts.need("pad")
        sizes = ", ".join(map(str, (*self.graph.shapes[op.sources[0]], *op.margins, int(op.nearest))))
        self.parts.infer.append(f"scn_pad({self.at(op.sources[0])}, {self.at(op.target)}, {sizes});")

    def _less_least(self, op: LessLeast) -> None:
        self.parts.need("less_least")
        channels, height, width = self.graph.shapes[op.target]
        self.parts.infer.append(
            f"scn_less_least({self.at(op.sources[0])}, {self.at(op.target)}, {channels}, {height * width});"
        )
