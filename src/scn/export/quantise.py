"""Post-training quantisation: weights by rows, activations by what calibration samples show.

A value of the graph is stored as a whole number of steps. After ReLU the numbers are 0 to 255, otherwise
-128 to 127. The step is chosen so that the squared error over the calibration samples, from rounding and
from cutting off what is too large, is least.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from scn.export.equalise import equalised
from scn.export.graph import Add, Affine, CannotExport, Graph, LessLeast, Op, Pool, Relu, Reshape
from scn.export.interpret import Float, run

MOST = 127
LONGEST = 2**31 - 1
CLIPS = torch.linspace(0.4, 1.0, 31, dtype=torch.float64)  # parts of the largest value that are tried
SPARE = 1.25  # of the largest input seen: inputs have bits to spare


@dataclass(frozen=True)
class Step:
    """How a value is stored: (x / scale, rounded, from low to high) + zero."""

    scale: float
    low: int = -128
    high: int = 127
    zero: int = 0

    @property
    def bits(self) -> int:
        return 8 if self.high - self.low <= 255 else 16


def quantised_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """(M, rows, columns) -> whole numbers from -127 to 127, and the scale of each row (M, rows)."""
    scale = weight.abs().amax(dim=2) / MOST
    scale = scale.where(scale > 0, 1.0).float().double()
    return (weight / scale.unsqueeze(2)).round().clamp(-MOST, MOST), scale


def calibrate(graph: Graph, x: Tensor, betas: Tensor) -> tuple[Graph, dict[int, Step]]:
    """The graph with channels of equal size, and the step of each of its values.

    x: (N, ...), betas: (N, D) or (1, D), the mixing coefficients of each sample.
    """
    graph = equalised(graph, _values(graph, x, betas))
    values = _values(graph, x, betas)
    steps: dict[int, Step] = {0: _input_step(graph, values[0])}
    for op in graph.ops:
        source = steps[op.sources[0]]
        if isinstance(op, Reshape | Relu) or (isinstance(op, Pool) and op.largest):
            steps[op.target] = source
        elif isinstance(op, LessLeast):
            steps[op.target] = Step(source.scale, 0, 255, -128)
        elif isinstance(op, Affine | Add | Pool):
            positive = op.relu or (isinstance(op, Pool) and source.low == 0)
            steps[op.target] = _best_step(values[op.target], positive)
        else:
            steps[op.target] = source
    return graph, steps


def _values(graph: Graph, x: Tensor, betas: Tensor) -> dict[int, Tensor]:
    """Every value of the graph, over all samples; samples that share their beta go together."""
    found: dict[int, list[Tensor]] = {}
    for rows, beta in by_setting(betas, len(x)):
        for number, value in run(Float(graph, beta), x[rows].double()).items():
            found.setdefault(number, []).append(value)
    return {number: torch.cat(parts) for number, parts in found.items()}


def by_setting(betas: Tensor, count: int) -> list[tuple[Tensor, Tensor]]:
    """(which samples, their beta), for each different row of betas."""
    different, which = betas.unique(dim=0, return_inverse=True)
    which = which.expand(count) if len(betas) == 1 else which
    return [((which == i).nonzero().flatten(), beta) for i, beta in enumerate(different)]


def _input_step(graph: Graph, x: Tensor) -> Step:
    """16 bits where only layers with weights read the input, as many of them as the sums can hold."""
    most = max(float(x.abs().max()), 1e-6)
    readers = _readers(graph, 0)
    if not all(isinstance(op, Affine) for op in readers):
        return Step(most / MOST, -MOST, MOST)
    columns = max(op.columns for op in readers if isinstance(op, Affine))
    limit = 2 ** min(15, (LONGEST // (MOST * columns)).bit_length() - 1) - 1
    if limit < 255:
        raise CannotExport(f"a layer of {columns} columns overflows sums of 32 bits: use --inference float")
    return Step(most * SPARE / limit, -limit, limit)


def _readers(graph: Graph, value: int) -> list[Op]:
    found: list[Op] = []
    for op in graph.ops:
        if value in op.sources:
            found += _readers(graph, op.target) if isinstance(op, Reshape) else [op]
    return found


def _best_step(values: Tensor, positive: bool) -> Step:
    low, high, zero = (0, 255, -128) if positive else (-128, 127, 0)
    flat = values.flatten()
    flat = flat[torch.linspace(0, len(flat) - 1, min(len(flat), 2**17)).long()]
    most = float(flat.max() if positive else flat.abs().max())
    if most <= 0:
        return Step(1.0, low, high, zero)
    errors = []
    for clip in CLIPS.tolist():
        scale = most * clip / high
        errors.append(float(((flat / scale).round().clamp(low, high) * scale - flat).square().mean()))
    best = float(CLIPS[int(torch.tensor(errors).argmin())])
    return Step(most * best / high, low, high, zero)
