"""Progress on standard error: a bar on a terminal, plain lines elsewhere, nothing if quiet."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn, track

from scn.experiment.compare import progress as epochs_done
from scn.experiment.jobs import Job
from scn.experiment.train import Report
from scn.training.loop import Training
from scn.training.state import State

LINE_SECONDS = 10.0  # between two plain lines of a training
COMPARISON_SECONDS = 30.0  # of a comparison
SURE = 0.1  # of the steps: the first may take longer than the others
LOOK_SECONDS = 1.0  # between two looks at what the runs of a comparison have done


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
        TextColumn("{task.fields[validated]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(name, epoch=0, epochs="?", validated="")

        def report(state: State, training: Training, metrics: dict[str, Any] | None) -> None:
            if metrics is not None:
                progress.update(task, validated=_validated(training, metrics))
            if metrics is not None or state.step % 20 == 0:
                epoch = min(state.step // training.steps_per_epoch + 1, training.recipe.epochs)
                epochs = training.recipe.epochs
                progress.update(task, total=training.steps, completed=state.step, epoch=epoch, epochs=epochs)

        yield report


def _validated(training: Training, metrics: dict[str, Any]) -> str:
    """The score on the validation data, if there are any, as the middle of a line."""
    score = training.method.objective.score
    value = metrics[f"validation_{score.key}"]
    return "" if value is None else f"validation {score.label} {score.text(value)}, "


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
            shown = _validated(training, metrics)
            print(
                f"{self.name}: epoch {metrics['epoch']}/{training.recipe.epochs}, "
                f"loss {metrics['loss']:.4f}, {shown}{metrics['seconds']:.1f} s",
                file=sys.stderr,
                flush=True,
            )


@contextmanager
def comparison_progress(
    jobs: Sequence[Job], folder: Path, quiet: bool, named: str = "compare"
) -> Iterator[Callable[[str, str], None]]:
    """A function to say what came of a run, by its name; between its calls the runs are watched."""
    if quiet:
        yield lambda name, text: None
        return
    terminal = sys.stderr.isatty()
    columns = (TextColumn(named), BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), disable=not terminal) as bar:
        task = bar.add_task("", total=sum(_epochs(job) for job in jobs))
        print_ = bar.console.print if terminal else _print_line
        watched = _Watched(jobs, folder, print_, regular=not terminal)
        over = threading.Event()

        def watch() -> None:
            while not over.wait(LOOK_SECONDS):
                watched.look()
                bar.update(task, completed=watched.done, description=watched.summary())

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield watched.end
        finally:
            over.set()
            thread.join()


def _print_line(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _epochs(job: Job) -> int:
    return int(job.config.recipe["epochs"])


class _Watched:
    """The runs of a comparison: which have begun, which have ended, and how long the others will take."""

    def __init__(
        self, jobs: Sequence[Job], folder: Path, say: Callable[[str], None], *, regular: bool
    ) -> None:
        self.jobs, self.folder, self.say, self.regular = jobs, folder, say, regular
        self.total = sum(_epochs(job) for job in jobs)
        self.known = epochs_done(jobs, folder)  # of an earlier call
        self.earlier = self.done = sum(self.known.values())
        self.ended: set[str] = set()
        self.began = self.last = time.monotonic()

    def look(self) -> None:
        """Read what the runs have written, and say what is new."""
        now = epochs_done([job for job in self.jobs if job.name not in self.ended], self.folder)
        if self.regular:
            whole = {job.name: _epochs(job) for job in self.jobs}  # comes at its end from another machine
            for name in now.keys() - self.known.keys():
                if now[name] < whole[name]:
                    self.say(f"{name}: begun")
        self.known |= now
        self.done = sum(self.known.values())
        if self.regular and time.monotonic() - self.last >= COMPARISON_SECONDS:
            self._note(self.summary())

    def end(self, name: str, text: str) -> None:
        """Say what came of a run."""
        self.ended.add(name)
        self.known |= epochs_done([job for job in self.jobs if job.name == name], self.folder)
        self.done = sum(self.known.values())
        self._note(f"{name}: {text}  ({self.summary()})")

    def summary(self) -> str:
        passed = time.monotonic() - self.began
        text = f"{len(self.ended)}/{len(self.jobs)} runs, {duration(passed)}"
        fresh, left = self.done - self.earlier, self.total - self.done
        return f"{text}, about {duration(passed * left / fresh)} left" if fresh and left else text

    def _note(self, text: str) -> None:
        self.last = time.monotonic()
        self.say(text)


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def steps_progress(name: str, quiet: bool) -> Callable[[range], Iterable[int]]:
    """Gives the numbers of a range one by one, and shows how far that is."""

    def shown(steps: range) -> Iterator[int]:
        if sys.stderr.isatty():
            yield from track(steps, name, console=Console(stderr=True), transient=True)
            return
        _print_line(f"{name} ...")
        began = last = time.monotonic()
        for done, step in enumerate(steps):
            now = time.monotonic()
            if done and now - last > LINE_SECONDS:
                last, share = now, done / len(steps)
                left = f", about {duration((now - began) * (1 / share - 1))} left"
                _print_line(f"{name}: {share:.0%}{left if share > SURE else ''}")
            yield step

    return iter if quiet else shown
