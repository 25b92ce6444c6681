"""A network shown to many candidates: what does not depend on alpha is computed once for all of them.

Up to the first layer that is mixed there is nothing to choose. If that layer is linear, its D products W_i x
are shared as well, because theta x = sum of beta_i (W_i x). From there on each candidate has its own values,
and its weights are mixed by rows, while they are used: no theta is needed, and the configuration that is
there stays.
"""

from __future__ import annotations

from dataclasses import replace

from scn.export.base import Options
from scn.export.float_code import FloatCode
from scn.export.graph import Graph
from scn.export.layers import Layer
from scn.export.memory import lay_out
from scn.export.operations.affine import Affine, in_float
from scn.export.operations.base import Operation
from scn.export.parts import Field, Parts

LABEL = "search"
USED = "scn_used"  # the base models that candidates use


class SharedCode(FloatCode):
    """The code of the same graph by rows, in two lists: `once` for an input, `each` for a candidate."""

    vectors = "s->search_bias"
    outputs = "s->search_outputs"

    def __init__(self, graph: Graph, options: Options) -> None:
        super().__init__(graph, replace(options, theta="row", double_buffer=False, input=None), self.outputs)
        first = next(place for place, op in enumerate(graph.ops) if isinstance(op, Affine) and op.mixed)
        self.before, self.after = graph.ops[:first], graph.ops[first:]
        self.shared = self._shared(self.after[0])
        widths = dict.fromkeys(range(len(graph.shapes)), 4)
        self.layout = lay_out(graph, widths, {0, graph.output}, self._kept())
        self.once: list[str] = []
        self.each: list[str] = []

    @property
    def beta(self) -> str:
        return "beta"

    def _shared(self, op: Operation) -> Layer | None:
        """The first layer that is mixed, if its products can be shared."""
        linear = isinstance(op, Affine) and op.bases > 1 and op.is_linear(self.graph)
        return self.arrangement.of(op) if linear and isinstance(op, Affine) else None

    def _kept(self) -> set[int]:
        """Values that are made once, but read for each candidate."""
        made = {op.target for op in self.before}
        reading = self.after[1:] if self.shared else self.after
        return {source for op in reading for source in op.sources if source in made}

    @property
    def reads_x(self) -> bool:
        """Whether candidates read the input itself."""
        reading = self.after[1:] if self.shared else self.after
        return any(self.layout.roots[source] == 0 for op in reading for source in op.sources)

    def add_to(self, parts: Parts) -> None:
        """Fill the lists; what they need is added to the parts of the network, which have its tables."""
        self.once = self._written(self.before)
        self.each = self._biases()
        after = self.after
        if self.shared:
            self._share(self.shared)
            after = after[1:]
        self.each += self._written(after)
        parts.need(*self.parts.snippets)
        scratch = max(op.float_scratch(self) for op in self.graph.ops)
        if self.shared and self.options.weights != "float32":
            scratch = max(scratch, 4 * in_float.STRIP)
        parts.enlarge(Field("float", "activations", self.layout.size // 4, "activations"))
        parts.enlarge(Field("float", "scratch", scratch, "scratch"))
        products = self.shared.op.bases * self.shared.op.rows if self.shared else 0
        for name, count in {
            "products": products,
            "bias": self.arrangement.vectors_size,
            "outputs": self.graph.size(self.graph.output),
        }.items():
            parts.enlarge(Field("float", f"search_{name}", count, LABEL))

    def _written(self, ops: list[Operation]) -> list[str]:
        self.parts.infer.clear()
        for op in ops:
            self.write_operation(op)
        return list(self.parts.infer)

    def _biases(self) -> list[str]:
        """What mixes the biases of layers that are not shared."""
        mixed = [one for one in self.arrangement.layers if one.vectors is not None and one is not self.shared]
        return [
            f"scn_mix_bias(&scn_layer_{one.number}, beta, {self.vectors} + {one.vectors});" for one in mixed
        ]

    def _share(self, layer: Layer) -> None:
        """Products with what is added to them, once; their mixture for each candidate."""
        op, strips = layer.op, self.options.weights != "float32"
        added = "inner" if op.gain is not None else "bias"
        values = op.inner if op.gain is not None else op.bias
        assert values is not None
        self.parts.need("linear", "search_products_strips" if strips else "search_products", "search_combine")
        if strips:
            self.parts.need(
                "coefficients", f"mix_{self.options.weights}", *(["only"] if self.parts.few else [])
            )
        step = op.rows if len(values) > 1 else 0
        buffer = ", s->scratch" if strips else ""
        self.once.append(
            f"scn_products(&scn_layer_{layer.number}, {USED}, scn_{added}_{layer.number}, {step}, "
            f"{self.at(op.sources[0])}, s->search_products{buffer});"
        )
        self.each.append(
            f"scn_combine(&scn_layer_{layer.number}, beta, s->search_products, {self.at(op.target)}, "
            f"{int(op.relu)});"
        )
