"""What rounding weights and activations costs: the score before and after, on test samples."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from scn.core.network import SCN
from scn.export.base import Options
from scn.export.calibrate import by_setting, calibrate
from scn.export.graph import Graph
from scn.export.interpret import Float, Int8, run
from scn.export.operations.affine import layers_of
from scn.export.operations.affine.in_float import mixes_by_shares
from scn.export.predictions import agreement, are_classes, largest_difference, scores_of
from scn.export.quantisation import Quantisation, quantised_rows
from scn.export.subject import LabelledSamples, Subject

TEST_SAMPLES = 1000


def betas(subject: Subject, graph: Graph, samples: LabelledSamples) -> Tensor:
    """The mixing coefficients of each sample: (N, D), or (1, 1) for one configuration."""
    if graph.dims == 1 or not isinstance(subject.network, SCN):
        return torch.ones(1, graph.dims, dtype=torch.float64)
    with torch.no_grad():
        return subject.network.beta(subject.transform.encode(samples.params)).double()


def quantisation_of(
    subject: Subject, graph: Graph, chosen: set[int] | None = None
) -> dict[int, Quantisation]:
    """The quantisation parameters of all values, by training samples. `chosen`: those that have 16 bits."""
    samples = subject.calibration()
    return calibrate(graph, samples.x, betas(subject, graph, samples), subject.objective.predictions, chosen)


def with_rounded_weights(graph: Graph, options: Options) -> Graph:
    """The same graph with its weights as they are stored."""
    rounded = copy.deepcopy(graph)
    for op in layers_of(rounded):
        if options.weights == "float16":
            op.weight = op.weight.half().double()
        else:
            stored, scale = quantised_rows(op.weight)
            op.weight = stored * scale.unsqueeze(2)
            op.by_shares = mixes_by_shares(graph, options)
    return rounded


def of_weights(subject: Subject, options: Options, graph: Graph) -> dict[str, Any]:
    """With rounded weights in float arithmetic."""
    rounded = with_rounded_weights(graph, options)
    return _compared(subject, graph, lambda beta: Float(rounded, beta))


def of_all(
    subject: Subject,
    graph: Graph,
    quantisation: dict[int, Quantisation],
    stored: dict[int, tuple[Tensor, Tensor]],
    by_rows: bool = False,
) -> dict[str, Any]:
    """In whole numbers throughout."""
    return _compared(subject, graph, lambda beta: Int8(graph, beta, quantisation, stored, by_rows))


def _compared(subject: Subject, graph: Graph, exported: Callable[[Tensor], Float]) -> dict[str, Any]:
    """The score on test samples before and after, under its name."""
    objective = subject.objective
    score = objective.score
    if subject.has_no_data:
        return {score.key: None}
    samples = subject.samples("test", TEST_SAMPLES, seed=1)
    found = torch.empty(2, len(samples.y), graph.size(graph.output), dtype=torch.float64)
    for rows, beta in by_setting(betas(subject, graph, samples), len(samples.y)):
        x = samples.x[rows].double()
        for outputs, arithmetic in zip(found, (Float(graph, beta), exported(beta)), strict=True):
            outputs[rows] = run(arithmetic, x)[graph.output].flatten(1)
    before, after = (scores_of(objective, outputs, samples.y)[score.key] for outputs in found)
    theirs, ours = (objective.predictions(outputs) for outputs in found)
    if are_classes(theirs):
        same = {"agreement": round(agreement(ours, theirs), 4)}
    else:
        same = {"max_difference": largest_difference(ours, theirs)}
    return {
        score.key: {
            "float32": round(before, 4),
            "exported": round(after, 4),
            "drop": round(before - after if score.higher_is_better else after - before, 4),
            **same,
            "samples": len(samples.y),
        }
    }
