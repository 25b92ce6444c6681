"""Post-training quantisation: weights by rows, activations by what calibration samples show.

A value of the graph is stored as a whole number of steps. After ReLU the numbers are 0 to 255, otherwise
-128 to 127. The step is chosen so that the squared error over the calibration samples, from rounding and
from cutting off what is too large, is least.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from scn.export.graph import Add, Affine, CannotExport, Graph, LessLeast, Op, Pool, Reshape
from scn.export.interpret import Float, Int8, run

MOST = 127
LONGEST = 2**31 - 1
CLIPS = torch.linspace(0.4, 1.0, 31, dtype=torch.float64)  # parts of the largest value that are tried
SPARE = 1.25  # of the largest value seen: 16 bits have some to spare
ENOUGH = 0.995  # of the answers to calibration samples stay


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


def calibrate(graph: Graph, x: Tensor, betas: Tensor) -> dict[int, Step]:
    """The step of each value. x: (N, ...), betas: (N, D) or (1, D), the coefficients of each sample.

    Values have 8 bits. Where that changes more than a few answers to the samples, those that do the most
    harm get 16, one after the other.
    """
    values = _values(graph, x, betas)
    stored = {op.target: quantised_rows(op.weight) for op in graph.affine}
    right = values[graph.output].flatten(1)

    def logits(wide: set[int]) -> Tensor:
        steps, found = _steps(graph, values, wide), torch.empty_like(right)
        for rows, beta in by_setting(betas, len(x)):
            found[rows] = run(Int8(graph, beta, steps, stored), x[rows].double())[graph.output].flatten(1)
        return found

    def enough(wide: set[int]) -> bool:
        same = logits(wide).argmax(dim=1) == right.argmax(dim=1)
        return bool(same.double().mean() >= ENOUGH)

    wide: set[int] = set()
    if not enough(wide):
        free = {op.target for op in graph.ops if _may_be_wide(graph, op)}
        harm = {v: float((logits(free - {v}) - right).square().mean()) for v in sorted(free)}
        for value in sorted(free, key=lambda v: -harm[v]):
            wide.add(value)
            if enough(wide):
                break
    return _steps(graph, values, wide)


def _may_be_wide(graph: Graph, op: Op) -> bool:
    own = isinstance(op, Affine | Add) or (isinstance(op, Pool) and not op.largest)
    readers = _readers(graph, op.target)
    return own and op.target != graph.output and not any(isinstance(r, LessLeast) for r in readers)


def _steps(graph: Graph, values: dict[int, Tensor], wide: set[int]) -> dict[int, Step]:
    steps: dict[int, Step] = {0: _input_step(graph, values[0])}
    for op in graph.ops:
        source = steps[op.sources[0]]
        if isinstance(op, LessLeast):
            steps[op.target] = Step(source.scale, 0, 255, -128)
        elif isinstance(op, Affine | Add) or (isinstance(op, Pool) and not op.largest):
            positive = op.relu or (isinstance(op, Pool) and source.low == 0)
            if op.target in wide:
                steps[op.target] = _wide_step(graph, op.target, values[op.target], positive)
            else:
                steps[op.target] = _best_step(values[op.target], positive)
        else:
            steps[op.target] = source
    return steps


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
    """16 bits where only layers with weights read the input: it costs them no time."""
    if not all(isinstance(op, Affine) for op in _readers(graph, 0)):
        return Step(max(float(x.abs().max()), 1e-6) / MOST, -MOST, MOST)
    return _wide_step(graph, 0, x, positive=False)


def _wide_step(graph: Graph, value: int, seen: Tensor, positive: bool) -> Step:
    """As many bits, up to 16, as the sums of the layers that read a value can hold; some of it to spare."""
    columns = max((op.columns for op in _layers_behind(graph, value)), default=1)
    limit = 2 ** min(15, (LONGEST // (MOST * columns)).bit_length() - 1) - 1
    if limit < 255:
        raise CannotExport(f"a layer of {columns} columns overflows sums of 32 bits: use `inference=float`")
    most = max(float(seen.abs().max()), 1e-6)
    return Step(most * SPARE / limit, 0 if positive else -limit, limit)


def _layers_behind(graph: Graph, value: int) -> list[Affine]:
    """The layers that read a value, also through operations that keep its step."""
    found: list[Affine] = []
    for op in _readers(graph, value):
        if isinstance(op, Affine):
            found.append(op)
        elif not isinstance(op, Add):
            found += _layers_behind(graph, op.target)
    return found


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
