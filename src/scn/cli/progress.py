"""Progress on standard error: a bar on a terminal, plain lines elsewhere, nothing if quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from scn.experiment.train import Report
from scn.training.loop import Training
from scn.training.state import State

LINE_SECONDS = 10.0  # between two plain lines


@contextmanager
def training_progress(name: str, quiet: bool) -> Iterator[Report]:
    """A function for `train` to report to."""
    if quiet:
        yield lambda *_: None
    elif sys.stderr.isatty():
        with _bar(name) as report:
            yield report
    else:
        yield _Lines(name)


@contextmanager
def _bar(name: str) -> Iterator[Report]:
    columns = (
        TextColumn(name),
        BarColumn(),
        TextColumn("epoch {task.fields[epoch]}/{task.fields[epochs]}"),
        TextColumn("accuracy {task.fields[accuracy]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(name, epoch=0, epochs="?", accuracy="-")

        def report(state: State, training: Training, metrics: dict[str, Any] | None) -> None:
            if metrics is not None and metrics["validation_accuracy"] is not None:
                progress.update(task, accuracy=f"{metrics['validation_accuracy']:.3f}")
            if metrics is not None or state.step % 20 == 0:
                epoch = min(state.step // training.steps_per_epoch + 1, training.recipe.epochs)
                epochs = training.recipe.epochs
                progress.update(task, total=training.steps, completed=state.step, epoch=epoch, epochs=epochs)

        yield report


class _Lines:
    """A line now and then, and one for the last epoch."""

    def __init__(self, name: str) -> None:
        self.name, self.last = name, 0.0

    def __call__(self, state: State, training: Training, metrics: dict[str, Any] | None) -> None:
        if metrics is None:
            return
        done = metrics["epoch"] == training.recipe.epochs
        if done or time.monotonic() - self.last > LINE_SECONDS:
            self.last = time.monotonic()
            accuracy = metrics["validation_accuracy"]
            shown = "" if accuracy is None else f", validation accuracy {accuracy:.4f}"
            print(
                f"{self.name}: epoch {metrics['epoch']}/{training.recipe.epochs}, "
                f"loss {metrics['loss']:.4f}{shown}, {metrics['seconds']:.1f} s",
                file=sys.stderr,
                flush=True,
            )
