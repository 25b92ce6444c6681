"""Measure a run: its network on the test data of its own data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from scn import data
from scn.runs import Run
from scn.runs.evaluate import Accuracy, evaluate


def measure(
    run: Run,
    net: nn.Module,
    params: Tensor,
    *,
    preset: str | None = None,
    fixed: Tensor | None = None,
    samples: int | None = None,
    answer: Callable[[Tensor], Tensor] | None = None,
    progress: Callable[[Tensor], Iterable[Tensor]] = iter,
) -> tuple[Accuracy, dict[str, Any]]:
    """Accuracy under each row of params, and what it was measured on, for evaluation.json.

    `samples` are so many of the test data, spread over all of them; by default all.
    """
    method = run.method(preset)
    dataset = data.load(run.config.data)
    total = dataset.counts["test"]
    chosen = torch.linspace(0, total - 1, samples or total).round().long()
    images, labels = (part[chosen] for part in dataset.split("test"))
    by_sensor = method.transform.measured
    readings = dataset.measured("test")[chosen] if by_sensor else None
    outside = [] if readings is None else method.transform.outside(readings)
    if readings is not None and method.recipe.clamp:
        readings = method.transform.clamped(readings)
    result = evaluate(
        method,
        net,
        images,
        labels,
        params,
        normalisation=run.normalisation(),
        fixed=fixed,
        measured=readings,
        answer=answer,
        progress=progress,
    )
    facts = {
        "data": dataset.name,
        "samples": len(labels),
        "checksum": dataset.checksum,
        "transform": run.config.transform,
        "preset": preset or run.config.preset,
        "settings": len(params),
        "fixed": None if fixed is None else fixed.tolist(),
    }
    if outside:
        facts["outside"] = [found.facts() for found in outside]  # the ranges that the run was trained for
    if result.samples is not None:
        facts["counts"] = result.samples.tolist()  # under each setting
    return result, facts
