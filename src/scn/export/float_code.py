"""The parts of a network whose arithmetic is in float32."""

from __future__ import annotations

from scn.export.base import Options
from scn.export.builder import Builder
from scn.export.entrance import First
from scn.export.graph import Graph
from scn.export.memory import lay_out
from scn.export.operations.affine import in_float, layers_of, strips
from scn.export.operations.base import Operation
from scn.export.parts import Parts


class FloatCode(Builder):
    """Values of four bytes; the input and the output lie where the caller has them.

    Where a sensor's samples come in, what they become has a place as well, which later values may take.
    """

    vectors = "theta->bias"  # where biases are that were mixed

    def __init__(self, graph: Graph, options: Options, output: str) -> None:
        super().__init__(graph, options, output)
        self.arrangement = in_float.arranged(layers_of(graph), options)
        widths = dict.fromkeys(range(len(graph.shapes)), 4)
        own = {graph.output} if options.input else {0, graph.output}
        self.strips = strips.strips(graph, self.arrangement)
        self.layout = lay_out(graph, widths, own, strips=self.strips)
        if options.input:
            self.parts.first = First(place=f"s->activations + {self.layout.offsets[0] // 4}")

    def build(self) -> Parts:
        self.parts.need("block", "store")
        in_float.add_tables(self)
        for layer in self.arrangement.layers:
            in_float.add_mix(self, layer)
        self._write_operations()
        self.parts.defines += [
            f"#define SCN_DIMS {self.graph.dims}",
            f"#define SCN_STRIP {in_float.STRIP}",
            f"#define SCN_PATCH {in_float.PATCH}",
        ]
        scratch = max(op.float_scratch(self) for op in self.graph.ops)
        self._add_state(
            [
                ("float", "rows", self.arrangement.theta_size),
                ("float", "bias", self.arrangement.vectors_size),
            ],
            [("float", "activations", self.layout.size // 4), ("float", "scratch", scratch)],
        )
        return self.parts

    def _write(self, op: Operation) -> None:
        op.write_float(self)

    def at(self, value: int) -> str:
        root = self.layout.roots[value]
        if root == 0:
            return "x"
        if root == self.layout.roots[self.graph.output]:
            return self.output
        return f"s->activations + {self.layout.offsets[value] // 4}"
