"""Post-training quantisation: weights by rows, activations by what calibration samples show.

A value of the graph is stored as a whole number of steps. After ReLU the numbers are 0 to 255, otherwise
-128 to 127. The step is chosen so that the squared error over the calibration samples, from rounding and
from cutting off what is too large, is least.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from scn.export.fixed_point import power_of_two_above
from scn.export.graph import CannotExport, Graph
from scn.export.interpret import Float, Int8, run
from scn.export.operations.affine import Affine, layers_of, rescale
from scn.export.operations.base import Operation
from scn.export.predictions import agreement
from scn.export.quantisation import MOST, Quantisation, quantised_rows

LONGEST = 2**31 - 1
CLIPS = torch.linspace(0.4, 1.0, 31, dtype=torch.float64)  # parts of the largest value that are tried
SPARE = 1.25  # of the largest value seen: 16 bits have some to spare
ENOUGH = 0.995  # of the predictions for calibration samples stay


def calibrate(
    graph: Graph,
    x: Tensor,
    betas: Tensor,
    predictions: Callable[[Tensor], Tensor],
    chosen: set[int] | None = None,
) -> dict[int, Quantisation]:
    """The quantisation parameters of each value.

    x: (N, ...); betas: (N, D) or (1, D), the coefficients of each sample; `predictions` from outputs (N, O).
    Values have 8 bits. Where that changes more than a few predictions, those that do the most harm get 16,
    one after the other; unless it was `chosen` before which these are.
    """
    values = _values(graph, x, betas)
    stored = {op.target: quantised_rows(op.weight) for op in layers_of(graph)}
    groups = by_setting(betas, len(x))
    right = torch.empty_like(values[graph.output].flatten(1))
    right[torch.cat([rows for rows, _ in groups])] = values[graph.output].flatten(1)

    def outputs(wide: set[int]) -> Tensor:
        quantisation, found = _quantisation(graph, values, wide, stored), torch.empty_like(right)
        for rows, beta in groups:
            arithmetic = Int8(graph, beta, quantisation, stored)
            found[rows] = run(arithmetic, x[rows].double())[graph.output].flatten(1)
        return found

    def enough(wide: set[int]) -> bool:
        return agreement(predictions(outputs(wide)), predictions(right)) >= ENOUGH

    wide: set[int] = chosen or set()
    if chosen is None and not enough(wide):
        free = {op.target for op in graph.ops if _may_be_wide(graph, op)}
        harm = {v: float((outputs(free - {v}) - right).square().mean()) for v in sorted(free)}
        for value in sorted(free, key=lambda v: -harm[v]):
            wide.add(value)
            if enough(wide):
                break
    return _quantisation(graph, values, wide, stored)


def _may_be_wide(graph: Graph, op: Operation) -> bool:
    readable = all(reader.reads_16_bits for reader in graph.readers(op.target))
    return op.rescales and op.target != graph.output and readable


def _quantisation(
    graph: Graph, values: dict[int, Tensor], wide: set[int], stored: dict[int, tuple[Tensor, Tensor]]
) -> dict[int, Quantisation]:
    found: dict[int, Quantisation] = {0: _of_input(graph, values[0])}
    for op in graph.ops:
        source, target = found[op.sources[0]], op.target
        if not op.rescales:
            found[target] = op.quantisation(source)
        elif target in wide:
            found[target] = _of_16_bits(graph, target, values[target], op.is_positive(source))
        else:
            found[target] = _of_8_bits(values[target], op.is_positive(source))
        if isinstance(op, Affine):
            found[target] = _as_coarse_as_sums(op, found[target], source, stored[target][1], graph.output)
    return found


def _as_coarse_as_sums(
    op: Affine, held: Quantisation, source: Quantisation, scale: Tensor, output: int
) -> Quantisation:
    """No finer than the sums that values are made of; outputs are as fine, in steps of a power of two."""
    least = rescale.SPARE * rescale.unit_of(scale, op.gain, source.scale)
    if op.target == output:
        return Quantisation(power_of_two_above(least), 0 if op.relu else -LONGEST, LONGEST)
    return replace(held, scale=max(held.scale, least))


def _values(graph: Graph, x: Tensor, betas: Tensor) -> dict[int, Tensor]:
    """Every value of the graph, over all samples in the order of `by_setting`."""
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


def _of_input(graph: Graph, x: Tensor) -> Quantisation:
    """16 bits where that costs those that read the input no time."""
    if not all(op.widens for op in graph.readers(0)):
        return Quantisation(max(float(x.abs().max()), 1e-6) / MOST, -MOST, MOST)
    held = _of_16_bits(graph, 0, x, positive=False)
    return Quantisation(power_of_two_above(held.scale), held.low - 1, held.high)


def _of_16_bits(graph: Graph, value: int, seen: Tensor, positive: bool) -> Quantisation:
    """As many bits, up to 16, as the sums of the layers that read a value can hold; some of it to spare."""
    columns = max((op.columns for op in _layers_behind(graph, value)), default=1)
    limit = 2 ** min(15, (LONGEST // (MOST * columns)).bit_length() - 1) - 1
    if limit < 255:
        raise CannotExport(f"a layer of {columns} columns overflows sums of 32 bits: use `inference=float`")
    most = max(float(seen.abs().max()), 1e-6)
    return Quantisation(most * SPARE / limit, 0 if positive else -limit, limit)


def _layers_behind(graph: Graph, value: int) -> list[Affine]:
    """The layers that read a value, also through operations that pass it on."""
    found: list[Affine] = []
    for op in graph.readers(value):
        if isinstance(op, Affine):
            found.append(op)
        elif op.passes_on:
            found += _layers_behind(graph, op.target)
    return found


def _of_8_bits(values: Tensor, positive: bool) -> Quantisation:
    """The scale with the least squared error, from rounding and from cutting off."""
    low, high, zero = (0, 255, -128) if positive else (-128, 127, 0)
    flat = values.flatten()
    flat = flat[torch.linspace(0, len(flat) - 1, min(len(flat), 2**17)).long()]
    most = float(flat.max() if positive else flat.abs().max())
    if most <= 0:
        return Quantisation(1.0, low, high, zero)
    errors = []
    for clip in CLIPS.tolist():
        scale = most * clip / high
        errors.append(float(((flat / scale).round().clamp(low, high) * scale - flat).square().mean()))
    best = float(CLIPS[int(torch.tensor(errors).argmin())])
    return Quantisation(most * best / high, low, high, zero)
