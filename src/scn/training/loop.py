"""The training loop, for every method.

What happens in a step depends on the seed and the number of the step alone: the order of the samples and
the settings of the transform are drawn at the start of an epoch from (seed, epoch), and what the loss
draws from (seed, step). So a run that was killed goes on from its last checkpoint and ends bit for bit
where it would have ended.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from scn.core.errors import Failed, ScnError
from scn.data import Normalisation, to_float
from scn.methods import Method
from scn.training.batches import CHUNK, Batch, Batches, TrainingData, generator_for, seed_for
from scn.training.muon import Muon
from scn.training.processes import ALONE, Processes
from scn.training.recipe import Recipe
from scn.training.shared_step import SharedStep
from scn.training.state import State
from scn.training.step import CompiledStep, PlainStep

VALIDATION_SETTINGS = 16
CHECKED_EVERY = 50  # steps between two looks at the loss


class Diverged(Failed):
    """The loss is no longer a number."""


@dataclass(frozen=True)
class Training:
    """One training: what is learned, from what, how; of several processes this one's part of it."""

    method: Method
    recipe: Recipe
    data: TrainingData
    normalisation: Normalisation
    seed: int
    prefetch: bool = True
    processes: Processes = ALONE

    def __post_init__(self) -> None:
        if len(self.data.samples) < self.recipe.batch_size:
            raise ScnError(
                f"batch_size {self.recipe.batch_size} is more than the {len(self.data.samples)} training "
                "samples: choose a smaller one"
            )
        self.processes.require(self.recipe, self.method.transform.measured)

    @cached_property
    def batches(self) -> Batches:
        return Batches(
            self.method,
            self.recipe,
            self.data,
            self.normalisation,
            self.seed,
            self.prefetch,
            self.processes,
        )

    @property
    def steps_per_epoch(self) -> int:
        return self.batches.per_epoch

    @property
    def steps(self) -> int:
        return self.recipe.epochs * self.steps_per_epoch

    def start(self, backbone: Callable[[], nn.Module], device: torch.device) -> State:
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            net = self.method.build(backbone)
            self.method.prepare(net, self.normalisation)
            net = net.to(device)
        return State(net, self._optimiser(net, device))

    def _optimiser(self, net: nn.Module, device: torch.device) -> torch.optim.Optimizer:
        rate, decay = self.recipe.learning_rate, self.recipe.weight_decay
        if self.recipe.optimiser == "muon":
            return Muon(net, rate, decay, self.method.together)
        return torch.optim.Adam(
            net.parameters(), rate, weight_decay=decay, fused=device.type in ("cpu", "cuda")
        )

    def run(self, state: State, after_step: Callable[[State], None]) -> Iterator[dict[str, Any]]:
        """Train to the end; yields the metrics of each epoch. `after_step` may stop it by raising.

        The network is then as after the last epoch, or after one that was clearly better (`State.settle`).
        """
        descend = self._kind_of_step()(self.method, state.net, self.recipe.mixed_precision)
        while state.step < self.steps:
            epoch, done = divmod(state.step, self.steps_per_epoch)
            state.net.train()
            began = time.perf_counter() - state.seconds
            for batch in self.batches.of_epoch(epoch, done):
                self._take_step(state, batch, descend)
                state.seconds = time.perf_counter() - began
                last = state.step % self.steps_per_epoch == 0
                if last or state.step % CHECKED_EVERY == 0:
                    self.check(state)
                if not last:
                    after_step(state)
            yield self._finish_epoch(state, epoch)
            state.sums, state.seconds = {}, 0.0
            after_step(state)
        state.settle()

    def _kind_of_step(self) -> type[PlainStep]:
        if self.processes.count > 1:
            return SharedStep
        return CompiledStep if self.recipe.compiled else PlainStep

    def _take_step(self, state: State, batch: Batch, descend: PlainStep) -> None:
        for group in state.optimiser.param_groups:
            group["lr"] = self.recipe.rate(state.step, self.steps_per_epoch)
        # Each process has dropout of its own; the first that of a training without others.
        purpose = "step" if self.processes.is_first else f"step of process {self.processes.rank}"
        device, number = descend.parameters[0].device, seed_for(self.seed, purpose, state.step)
        torch.default_generator.manual_seed(number)
        if device.type == "cuda":
            torch.cuda.manual_seed(number)
        alphas = {name: rows.to(device) for name, rows in batch.alphas.items()}
        parts = descend(batch.x.to(device), batch.labels.to(device), alphas)
        state.optimiser.step()
        for name, part in parts.items():
            state.sums[name] = state.sums[name] + part if name in state.sums else part
        state.step += 1

    def check(self, state: State) -> None:
        """Raise if the loss, of all processes, or the weights are no longer numbers."""
        state.sums = self.processes.means(state.sums)
        total = sum(float(value) for value in state.sums.values())
        weights = sum(float(parameter.detach().abs().sum()) for parameter in state.net.parameters())
        if not math.isfinite(total) or not math.isfinite(weights):
            what = f"the loss became {total}" if not math.isfinite(total) else "the weights became infinite"
            epoch = (state.step - 1) // self.steps_per_epoch + 1
            raise Diverged(f"{what} in epoch {epoch} (step {state.step})")

    def _finish_epoch(self, state: State, epoch: int) -> dict[str, Any]:
        """Validate, note the result in the state, and return the metrics."""
        parts = {name: float(value) / self.steps_per_epoch for name, value in state.sums.items()}
        return {
            "epoch": epoch + 1,
            "loss": sum(parts.values()),
            **parts,
            f"validation_{self.method.objective.score.key}": self.judge(state),
            "learning_rate": self.recipe.rate(state.step - 1, self.steps_per_epoch),
            **self.method.statistics(state.net),
            "seconds": round(state.seconds, 3),
        }

    def judge(self, state: State) -> float | None:
        """The score on the validation data, which is noted in the state."""
        objective, values = self.method.objective, self.validate(state.net)
        reached = float(values.mean()) if len(values) else None
        state.note(reached, objective.standard_error(values), objective.score)
        return reached

    @torch.no_grad()
    def validate(self, net: nn.Module) -> Tensor:
        """(N,): what each prediction on the validation data counts, under a few settings drawn once."""
        objective, device = self.method.objective, next(net.parameters()).device
        count = len(self.data.validation_labels)
        measured = self.data.validation_measured
        groups = min(VALIDATION_SETTINGS if measured is None else count, count)
        if not groups:
            return torch.zeros(0, dtype=torch.float64)
        used = count // groups * groups
        params = (
            self.method.draw(groups, generator_for(self.seed, "validation")) if measured is None else measured
        )
        net.eval()
        samples, labels = (
            part[:used] for part in (self.data.validation_samples, self.data.validation_labels)
        )
        spread = objective.spread(labels)
        size = used // groups
        at_once = max(1, CHUNK // (size * samples[0].numel()))  # groups
        found = []
        for rows, x, y in zip(
            params.split(at_once), samples.split(at_once * size), labels.split(at_once * size), strict=True
        ):
            shown = self.method.inputs(to_float(x), rows, self.normalisation).to(device)
            found.append(objective.values(self.method.outputs(net, shown, rows).cpu(), y, spread)[:, 0])
        return torch.cat(found)
