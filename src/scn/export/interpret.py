"""Run a graph in Python: in floating point, or in the whole numbers that the generated C computes with."""

from __future__ import annotations

from torch import Tensor

from scn.export.graph import Graph
from scn.export.operations.base import Operation
from scn.export.quantisation import Quantisation

SHARE = 32768  # parts of a whole in which the base models' shares are counted


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

    stored[target]: the whole weights (M, rows, columns) of a layer, and their scales (M, rows).
    """

    def __init__(
        self,
        graph: Graph,
        beta: Tensor,
        quantisation: dict[int, Quantisation],
        stored: dict[int, tuple[Tensor, Tensor]],
    ) -> None:
        super().__init__(graph, beta)
        self.quantisation, self.stored = quantisation, stored

    def start(self, x: Tensor) -> Tensor:
        return self.quantised(0, x / self.scale(0))

    def apply(self, op: Operation, *sources: Tensor) -> Tensor:
        return op.run_int8(self, *sources)

    def scale(self, value: int) -> float:
        return self.quantisation[value].scale

    def quantised(self, value: int, y: Tensor) -> Tensor:
        """Numbers of steps as they are stored: rounded, halves away from 0, and within the limits."""
        held = self.quantisation[value]
        away: Tensor = y.sign() * (y.abs() + 0.5).floor()
        return away.clamp(held.low, held.high)

    def mixed_rows(self, target: int) -> tuple[Tensor, Tensor]:
        """The rows of a layer in whole numbers, and their scales."""
        weight, scale = self.stored[target]
        if len(weight) == 1:
            return weight[0], scale[0]
        step = (self.beta.abs().unsqueeze(1) * scale).sum(dim=0)
        shares = (self.beta.unsqueeze(1) * scale / step * SHARE).round().clamp(-SHARE + 1, SHARE - 1)
        sums = (shares.unsqueeze(2) * weight).sum(dim=0)
        return ((sums + SHARE / 2) / SHARE).floor().clamp(-127, 127), step
