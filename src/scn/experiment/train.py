"""Train a run: the loop, with its run folder, checkpoints and metrics around it."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn

from scn import data
from scn.core.errors import ScnError
from scn.core.storage import failures_named, load_model, save_model, write_atomically
from scn.experiment.lock import alone
from scn.runs import Run
from scn.runs.folder import METRICS
from scn.training.batches import TrainingData, hold_back
from scn.training.loop import Training
from scn.training.processes import ALONE, Processes
from scn.training.state import State

Report = Callable[[State, Training, dict[str, Any] | None], None]


def choose_device(name: str, processes: Processes = ALONE) -> torch.device:
    """ "auto" takes a GPU where there is one; of several processes on a computer each takes its own."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and processes.count > 1:
        name = f"cuda:{processes.local}"
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ScnError(f'device "{name}" cannot be used here: {str(error).splitlines()[0]}') from error
    return device


def training_data(run: Run) -> TrainingData:
    """The run's training data, divided by its seed or as its makers did."""
    config, recipe = run.config, run.recipe()
    dataset = data.load(config.data)
    if config.checksum and dataset.checksum != config.checksum:
        raise ScnError(
            f"{config.data} is not the data that {run.folder} was begun with: their checksums differ"
        )
    samples, labels = dataset.split("train")
    labels = run.objective().labels(labels)
    transform = run.transform()
    by_sensor = transform.measured

    def readings(part: str) -> Tensor:
        return transform.within(dataset.measured(part), clamp=recipe.clamp, named=f"params_{part}")

    measured = readings("train") if by_sensor else None
    official = "val" in dataset.counts
    share, used = 0.0 if official else recipe.validation_share, recipe.train_samples or len(samples)
    parts = hold_back(samples, labels, share, config.seed, measured)
    parts = replace(parts, samples=parts.samples[:used], labels=parts.labels[:used])
    if by_sensor:
        assert parts.measured is not None
        parts = replace(parts, measured=parts.measured[:used])
    if official:
        held_back, known = dataset.split("val")
        known = run.objective().labels(known)
        parts = replace(parts, validation_samples=held_back, validation_labels=known)
        parts = replace(parts, validation_measured=readings("val")) if by_sensor else parts
    return parts


def train(
    run: Run,
    backbone: Callable[[], nn.Module],
    *,
    device: str = "auto",
    prefetch: bool = True,
    checkpoint_minutes: float = 2.0,
    report: Report | None = None,
    processes: Processes = ALONE,
) -> nn.Module:
    """Train the run to its end, from its checkpoint if it has one, and write its network.

    `report` is called after every step, and with the metrics after every epoch. Of several `processes`, which
    have joined each other and see the same folder, the first alone writes and reports.
    """
    training = Training(
        run.method(),
        run.recipe(),
        training_data(run),
        run.normalisation(),
        run.config.seed,
        prefetch,
        processes,
    )
    state = training.start(backbone, choose_device(device, processes))
    keeper = _Keeper(run, training, checkpoint_minutes, report or _unreported)
    with ExitStack() as held, _signals_caught(keeper):
        with processes.first():
            if processes.is_first:
                held.enter_context(_alone(run))
            keeper.restore(state)
        for metrics in training.run(state, keeper.after_step):
            keeper.note(state, metrics)
    if processes.is_first:
        run.save_network(state.net.eval())
        shutil.rmtree(keeper.file.parent, ignore_errors=True)
    return state.net


def extend(run: Run, backbone: Callable[[], nn.Module], epochs: int) -> Run:
    """The same run with more epochs before it, to be trained on by `train`.

    It goes on from the trained network, with a new optimiser and the learning rates that the schedule of all
    `epochs` has for the rest. Killed at any moment, the run can be trained on or is what it was: the
    checkpoint is there before the network goes, and the new length comes last.
    """
    before = run.recipe().epochs
    if epochs == before:
        return run
    _refuse_to_extend(run, before, epochs)
    earlier = [*run.config.source.get("epochs", []), before]
    longer = replace(
        run.config,
        recipe={**run.config.recipe, "epochs": epochs},
        source={**run.config.source, "epochs": earlier},
    )
    extended = Run(run.folder, longer)
    training = Training(
        extended.method(), extended.recipe(), training_data(run), run.normalisation(), run.config.seed
    )
    state = training.start(backbone, torch.device("cpu"))
    with _alone(run):
        state.net.load_state_dict(run.network(backbone).state_dict())
        state.step = before * training.steps_per_epoch
        training.judge(state)
        _Keeper(run, training, 0.0, _unreported).write_checkpoint(state)
        run.void_measurements()
        run.model_file.unlink()
        extended.write_config()
    return extended


def _refuse_to_extend(run: Run, before: int, epochs: int) -> None:
    if "imported" in run.config.source:
        raise ScnError(f"{run.folder} was imported and not trained here: it cannot be trained on")
    if not run.is_trained:
        raise ScnError(
            f"{run.folder} has not come to the end of its {before} epochs: go on without `epochs` first"
        )
    if epochs < before:
        raise ScnError(f"{run.folder} has {before} epochs behind it: `epochs` must be more, but is {epochs}")


def _unreported(state: State, training: Training, metrics: dict[str, Any] | None) -> None:
    """Where nobody asked for a report."""


class _Keeper:
    """Writes metrics and checkpoints, and stops the training when a person asks for it.

    Of several processes the first writes, and all stop after the same step, whichever of them was asked.
    """

    def __init__(self, run: Run, training: Training, minutes: float, report: Report) -> None:
        self.training, self.report, self.processes = training, report, training.processes
        self.interval = 60 * minutes
        self.file = run.checkpoint_file
        self.metrics = run.metrics_file
        self.written = time.monotonic()
        self.stopping = 0  # the signal that asked for it

    def restore(self, state: State) -> None:
        """Go on where the last checkpoint was written; later metrics will be written anew."""
        if self.file.is_file():
            tensors, content = load_model(self.file)
            state.restore(tensors, content)
        if self.processes.is_first:
            self._clear_away(state)

    def _clear_away(self, state: State) -> None:
        for left_over in self.file.parent.glob(f".{self.file.name}.*"):  # of a process that was killed
            left_over.unlink()
        lines = self.metrics.read_text().splitlines() if self.metrics.is_file() else []
        kept = lines[: state.step // self.training.steps_per_epoch]
        write_atomically(self.metrics, "".join(f"{line}\n" for line in kept).encode())

    def note(self, state: State, metrics: dict[str, Any]) -> None:
        if not self.processes.is_first:
            return
        with failures_named(self.metrics), self.metrics.open("a") as file:
            file.write(json.dumps(metrics) + "\n")
        self.report(state, self.training, metrics)

    def after_step(self, state: State) -> None:
        late = time.monotonic() - self.written > self.interval
        stopping, due = self.processes.largest(self.stopping, late and self.processes.is_first)
        if stopping or due:
            self.training.check(state)
            self.write_checkpoint(state)
        if stopping:
            raise KeyboardInterrupt
        if self.processes.is_first:
            self.report(state, self.training, None)

    def write_checkpoint(self, state: State) -> None:
        if self.processes.is_first:
            self.file.parent.mkdir(exist_ok=True)
            save_model(self.file, state.tensors(), state.numbers())
        self.written = time.monotonic()

    def stop(self, number: int, frame: FrameType | None) -> None:
        if self.stopping == number:  # asked twice: at once. Ctrl-C and a caller that ends us ask once each
            raise KeyboardInterrupt
        self.stopping = self.stopping or number


def _alone(run: Run) -> AbstractContextManager[None]:
    """Two processes that train one run would write over each other's checkpoints."""
    said = f"{run.folder} is being trained by another process: let it end, or end it"
    return alone(run.config_file, said)


@contextmanager
def _signals_caught(keeper: _Keeper) -> Iterator[None]:
    """Ctrl-C and SIGTERM wait for the step to end, so that a checkpoint can be written.

    What is ignored stays so: a worker leaves Ctrl-C to its caller.
    """
    both = (signal.SIGINT, signal.SIGTERM)
    caught = [number for number in both if signal.getsignal(number) is not signal.SIG_IGN]
    try:
        before = [signal.signal(number, keeper.stop) for number in caught]
    except ValueError:  # not in the main thread: signals are somebody else's business
        yield
        return
    try:
        yield
    finally:
        for number, handler in zip(caught, before, strict=True):
            signal.signal(number, handler)


def epochs_trained(folder: Path) -> int | None:
    """How many epochs this run has behind it; None before its training has begun."""
    path = folder / METRICS
    return path.read_text().count("\n") if path.is_file() else None


def last_checkpoint(run: Run) -> Path | None:
    return run.checkpoint_file if run.checkpoint_file.is_file() else None
