"""Run a graph in Python: in floating point, or in the whole numbers that the generated C computes with."""

from __future__ import annotations

from torch import Tensor

from scn.export.graph import Graph
from scn.export.operations.base import Operation
from scn.export.quantisation import Quantisation


def run(arithmetic: Float, x: Tensor) -> dict[int, Tensor]:
    """x: (N, ...) -> every value of the graph (N, channels, height, width), in double precision."""
    graph = arithmetic.graph
    values = {0: arithmetic.start(x.reshape(-1, *graph.shapes[0]))}
    for op in graph.ops:
        values[op.target] = arithmetic.apply(op, *(values[source] for source in op.sources))
    return values


class Float:
    """Each operation as torch has it, with the weights for one beta."""

    def __init__(self, graph: Graph, beta: Tensor) -> None:
        self.graph, self.beta = graph, beta.double()

    def start(self, x: Tensor) -> Tensor:
        return x

    def apply(self, op: Operation, *sources: Tensor) -> Tensor:
        return op.run_float(self, *sources)


class Int8(Float):
    """The same in whole numbers; values are counted without their zero points.

    stored[target]: the whole weights (M, rows, columns) of a layer, and their scales (M, rows). by_rows:
    linear layers take the sums of each base model by itself; otherwise rows are mixed, and rounded.
    """

    def __init__(
        self,
        graph: Graph,
        beta: Tensor,
        quantisation: dict[int, Quantisation],
        stored: dict[int, tuple[Tensor, Tensor]],
        by_rows: bool = False,
    ) -> None:
        super().__init__(graph, beta)
        self.quantisation, self.stored, self.by_rows = quantisation, stored, by_rows

    def start(self, x: Tensor) -> Tensor:
        return self.quantisation[0].of_floats(x).double()

    def apply(self, op: Operation, *sources: Tensor) -> Tensor:
        return op.run_int8(self, *sources)

    def scale(self, value: int) -> float:
        return self.quantisation[value].scale

    def within(self, value: int, steps: Tensor) -> Tensor:
        """Numbers of steps as they are stored: within the limits."""
        held = self.quantisation[value]
        return steps.clamp(held.low, held.high).double()
