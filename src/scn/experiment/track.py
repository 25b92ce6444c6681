"""Show a training elsewhere while it runs, by the name of the tool."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from scn.core.errors import ScnError
from scn.core.registry import Registry
from scn.experiment.train import Report
from scn.training.loop import Training
from scn.training.state import State

# Takes the run folder, and returns what `train` reports to.
registry: Registry[Callable[[Path], Report]] = Registry("tracker")


@registry.register("tensorboard")
def tensorboard(folder: Path) -> Report:
    """Every metric as a curve over epochs, in RUN/tensorboard."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise ScnError("the tracker tensorboard needs TensorBoard: pip install 'scn[track]'") from error

    writer: SummaryWriter | None = None

    def report(state: State, training: Training, metrics: dict[str, Any] | None) -> None:
        nonlocal writer
        if metrics is None:
            return
        if writer is None:  # an interrupted run goes on here: what came after its checkpoint is void
            writer = SummaryWriter(str(folder / "tensorboard"), purge_step=metrics["epoch"])
        for name, value in metrics.items():
            if name != "epoch" and value is not None:
                writer.add_scalar(name, value, metrics["epoch"])
        writer.flush()

    return report
