"""Evaluate a run: its network on the test data of its own data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import torch
from torch import Tensor, nn

from scn import data
from scn.runs.evaluate import evaluate
from scn.runs.folder import Run
from scn.runs.scores import Scores


def evaluate_run(
    run: Run,
    net: nn.Module,
    params: Tensor,
    *,
    preset: str | None = None,
    fixed: Tensor | None = None,
    samples: int | None = None,
    answer: Callable[[Tensor], Tensor] | None = None,
    progress: Callable[[Tensor], Iterable[Tensor]] = iter,
) -> Scores:
    """The score under each row of params, with what it was measured on as facts.

    `samples` are so many of the test data, spread over all of them; by default all.
    """
    method = run.method(preset)
    dataset = data.load(run.config.data)
    total = dataset.counts["test"]
    chosen = torch.linspace(0, total - 1, min(samples or total, total)).round().long()
    tested, labels = (part[chosen] for part in dataset.split("test"))
    readings = dataset.measured("test")[chosen] if method.transform.measured else None
    outside = [] if readings is None else method.transform.outside(readings)
    if readings is not None and run.recipe().clamp:
        readings = method.transform.clamped(readings)
    found = evaluate(
        method,
        net,
        tested,
        labels,
        params,
        normalisation=run.normalisation(),
        fixed=fixed,
        measured=readings,
        answer=answer,
        progress=progress,
    )
    facts = {
        **found.facts,
        "data": dataset.name,
        "samples": len(labels),
        "checksum": dataset.checksum,
        "transform": run.config.transform,
        "preset": preset or run.config.preset,
        "settings": len(params),
        "fixed": None if fixed is None else fixed.tolist(),
        "chance": method.objective.chance(method.objective.labels(labels)),
    }
    if outside:
        facts["outside"] = [values.facts() for values in outside]  # of the ranges that it was trained for
    if found.counts is not None:
        facts["counts"] = found.counts.tolist()  # under each setting
    return replace(found, facts=facts)
