"""How long an epoch of each task takes with the budget `cpu`, and how much of it the transform takes.

Only the share is a figure to compare; the seconds are for planning. Needs the data: `SCN_DATA_DIR`.
`python benchmarks/tasks.py svhn rotation` measures only the tasks with both words in their names.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from scn import runs
from scn.experiment import tasks
from scn.experiment.choice import choose
from scn.experiment.train import training_data
from scn.runs import backbone_of
from scn.training.loop import Training

STEPS = 48


def measure(task: tasks.Task, folder: Path) -> tuple[float, float]:
    """Seconds of an epoch without validation, and the share of the transform in it."""
    chosen = choose(task=task.name, budget="cpu", changes={"epochs": 1})
    run = runs.create(folder / "run", chosen.config("scn", dims=max(task.dims)))
    whole = training_data(run)
    used = min(len(whole.samples), STEPS * chosen.recipe.batch_size)
    part = replace(
        whole,
        samples=whole.samples[:used],
        labels=whole.labels[:used],
        measured=None if whole.measured is None else whole.measured[:used],
        validation_samples=whole.samples[:0],
        validation_labels=whole.labels[:0],
    )
    training = Training(run.method(), run.recipe(), part, run.normalisation(), seed=0, prefetch=False)
    kind = type(training.method.transform)
    apply, spent = kind.apply, 0.0

    def timed(self: Any, x: Tensor, params: Tensor) -> Tensor:
        nonlocal spent
        began = time.perf_counter()
        result = apply(self, x, params)
        spent += time.perf_counter() - began
        return result

    kind.apply = timed  # type: ignore[method-assign]
    try:
        state = training.start(backbone_of(run), torch.device("cpu"))
        (metrics,) = training.run(state, lambda _: None)
    finally:
        kind.apply = apply  # type: ignore[method-assign]
    return metrics["seconds"] * len(whole.samples) / used, spent / metrics["seconds"]


def main() -> None:
    torch.set_num_threads(1)
    print("task: seconds of an epoch on one core, share of the transform (limit 0.50)")
    for name, task in tasks.TASKS.items():
        if not all(word in name for word in sys.argv[1:]):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                seconds, share = measure(task, Path(folder))
            except FileNotFoundError as error:
                print(f"  {name:<45} skipped: {error}")
                continue
        print(f"  {name:<45} D={max(task.dims)} {seconds:7.2f} s {share:6.2f}", flush=True)


if __name__ == "__main__":
    main()
