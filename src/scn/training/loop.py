"""The training loop, for every method.

What happens in a step depends on the seed and the number of the step alone: the order of the images and
the settings of the transform are drawn at the start of an epoch from (seed, epoch), and what the loss
draws from (seed, step). So a run that was killed goes on from its last checkpoint and ends bit for bit
where it would have ended.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from scn.core.errors import Failed, ScnError
from scn.data import Normalisation, to_float
from scn.methods import Method
from scn.training.muon import Muon
from scn.training.recipe import Recipe
from scn.training.step import Compiled, Plain

CHUNK = 2**21  # values prepared in one go: enough to make the cost of a call small
VALIDATION_SETTINGS = 16
CHECKED_EVERY = 50  # steps between two looks at the loss


NUMBERS = ("step", "seconds", "best_accuracy", "last_accuracy")  # of a state, for its checkpoint


class Diverged(Failed):
    """The loss is no longer a number."""


@dataclass(frozen=True)
class Batch:
    x: Tensor  # (B, C, H, W), ready for the network
    y: Tensor
    told: dict[str, Tensor]  # what the method's loss is told, K rows each


@dataclass
class State:
    """Everything that changes in training: what a checkpoint holds."""

    net: nn.Module
    optimiser: torch.optim.Optimizer
    step: int = 0
    sums: dict[str, Tensor] = field(default_factory=dict)  # loss parts of this epoch so far
    seconds: float = 0.0  # of this epoch so far
    best: dict[str, Tensor] = field(default_factory=dict)  # the network at its best on the validation data
    best_accuracy: float = 0.0
    last_accuracy: float = 0.0

    def tensors(self) -> dict[str, Tensor]:
        found = {f"net.{name}": value for name, value in self.net.state_dict().items()}
        for index, moments in self.optimiser.state_dict()["state"].items():
            found |= {f"optimiser.{index}.{name}": value for name, value in moments.items()}
        found |= {f"best.{name}": value for name, value in self.best.items()}
        return found | {f"sum.{name}": value for name, value in self.sums.items()}

    def numbers(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in NUMBERS}

    def restore(self, tensors: dict[str, Tensor], numbers: dict[str, Any]) -> None:
        groups: dict[str, dict[str, Tensor]] = {"net": {}, "optimiser": {}, "sum": {}, "best": {}}
        for full, value in tensors.items():
            kind, _, name = full.partition(".")
            groups[kind][name] = value
        self.net.load_state_dict(groups["net"])
        content = self.optimiser.state_dict()
        for full, value in groups["optimiser"].items():
            index, _, name = full.partition(".")
            content["state"].setdefault(int(index), {})[name] = value
        self.optimiser.load_state_dict(content)
        self.sums, self.best = groups["sum"], groups["best"]
        for name in NUMBERS:
            setattr(self, name, numbers.get(name, 0.0))

    def note(self, accuracy: float | None) -> None:
        """Remember the network if none did better on the validation data; of equal ones the later."""
        if accuracy is None:
            return
        self.last_accuracy = accuracy
        if accuracy >= self.best_accuracy:
            self.best_accuracy = accuracy
            self.best = {name: value.clone() for name, value in self.net.state_dict().items()}

    def settle(self, samples: int) -> None:
        """Go back to the best epoch if it was better than the last by more than chance.

        Chance is two standard errors of an accuracy measured on so many validation samples. The best of
        hundreds of epochs by a smaller margin is mostly luck, and came before the rate had fallen.
        """
        share = (self.last_accuracy * samples + 1) / (
            samples + 2
        )  # never 1, which would leave nothing to chance
        chance = 2 * math.sqrt(share * (1 - share) / max(samples, 1))
        if self.best and self.best_accuracy - self.last_accuracy > chance:
            self.net.load_state_dict(self.best)


@dataclass(frozen=True)
class Split:
    """Training and validation data, in memory as whole numbers.

    `measured` (N, P) and `validation_measured` come with the samples where a sensor gives the setting.
    """

    images: Tensor
    labels: Tensor
    validation_images: Tensor
    validation_labels: Tensor
    measured: Tensor | None = None
    validation_measured: Tensor | None = None


def split(images: Tensor, labels: Tensor, share: float, seed: int, measured: Tensor | None = None) -> Split:
    """Cut the validation data from the training data, by seed."""
    order = torch.randperm(len(images), generator=_generator(seed, "split"))
    held = round(share * len(images))
    train, held_back = order[held:], order[:held]
    readings = (None, None) if measured is None else (measured[train], measured[held_back])
    return Split(images[train], labels[train], images[held_back], labels[held_back], *readings)


def _generator(seed: int, purpose: str, number: int = 0) -> torch.Generator:
    """An independent generator for each seed, purpose and number."""
    return torch.Generator().manual_seed(_number(seed, purpose, number))


def _number(seed: int, purpose: str, number: int) -> int:
    """A hash spreads them over 32 bits, which is all that torch's generator takes of a seed."""
    digest = hashlib.sha256(f"{seed} {purpose} {number}".encode()).digest()
    return int.from_bytes(digest[:4], "little")


@dataclass(frozen=True)
class Training:
    """One training: what is learned, from what, how."""

    method: Method
    data: Split
    normalisation: Normalisation
    seed: int
    prefetch: bool = True

    def __post_init__(self) -> None:
        if len(self.data.images) < self.recipe.batch_size:
            raise ScnError(
                f"batch_size {self.recipe.batch_size} is more than the {len(self.data.images)} training "
                "samples: choose a smaller one"
            )

    @property
    def recipe(self) -> Recipe:
        return self.method.recipe

    @property
    def alphas_per_batch(self) -> int:
        """K; a setting that was measured is each sample's own."""
        return self.recipe.batch_size if self.method.transform.measured else self.recipe.alphas_per_batch

    @property
    def steps_per_epoch(self) -> int:
        return len(self.data.images) // self.recipe.batch_size

    @property
    def steps(self) -> int:
        return self.recipe.epochs * self.steps_per_epoch

    def start(self, backbone: Callable[[], nn.Module], device: torch.device) -> State:
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            net = self.method.build(backbone).to(device)
        return State(net, self._optimiser(net, device))

    def _optimiser(self, net: nn.Module, device: torch.device) -> torch.optim.Optimizer:
        rate, decay = self.recipe.learning_rate, self.recipe.weight_decay
        if self.recipe.optimiser == "muon":
            return Muon(net, rate, decay)
        return torch.optim.Adam(
            net.parameters(), rate, weight_decay=decay, fused=device.type in ("cpu", "cuda")
        )

    def run(self, state: State, after_step: Callable[[State], None]) -> Iterator[dict[str, Any]]:
        """Train to the end; yields the metrics of each epoch. `after_step` may stop it by raising.

        The network is then as after the last epoch, or after one that was clearly better (`State.settle`).
        """
        device = next(state.net.parameters()).device
        descend = (Compiled if self.recipe.compiled else Plain)(self.method, state.net)
        while state.step < self.steps:
            epoch, done = divmod(state.step, self.steps_per_epoch)
            state.net.train()
            began = time.perf_counter() - state.seconds
            for batch in self._batches(epoch, done):
                self._step(state, batch, descend)
                state.seconds = time.perf_counter() - began
                last = state.step % self.steps_per_epoch == 0
                if last or state.step % CHECKED_EVERY == 0:
                    self.check(state)
                if not last:
                    after_step(state)
            metrics = self._metrics(state, epoch, device)
            state.note(metrics["validation_accuracy"])
            yield metrics
            state.sums, state.seconds = {}, 0.0
            after_step(state)
        state.settle(len(self.data.validation_labels))

    def _step(self, state: State, batch: Batch, descend: Plain) -> None:
        for group in state.optimiser.param_groups:
            group["lr"] = self.recipe.rate(state.step, self.steps_per_epoch)
        device, number = descend.parameters[0].device, _number(self.seed, "step", state.step)
        torch.default_generator.manual_seed(number)
        if device.type == "cuda":
            torch.cuda.manual_seed(number)
        told = {name: rows.to(device) for name, rows in batch.told.items()}
        parts = descend(batch.x.to(device), batch.y.to(device), told)
        state.optimiser.step()
        for name, part in parts.items():
            state.sums[name] = state.sums[name] + part if name in state.sums else part
        state.step += 1

    def check(self, state: State) -> None:
        """Raise if the loss or the weights are no longer numbers."""
        total = sum(float(value) for value in state.sums.values())
        weights = sum(float(parameter.detach().abs().sum()) for parameter in state.net.parameters())
        if not math.isfinite(total) or not math.isfinite(weights):
            what = f"the loss became {total}" if not math.isfinite(total) else "the weights became infinite"
            epoch = (state.step - 1) // self.steps_per_epoch + 1
            raise Diverged(f"{what} in epoch {epoch} (step {state.step})")

    def _batches(self, epoch: int, skip: int) -> Iterator[Batch]:
        """The batches of one epoch from number `skip` on, each chunk prepared while the last is used."""
        generator = _generator(self.seed, "epoch", epoch)
        recipe, count, alphas = self.recipe, self.steps_per_epoch, self.alphas_per_batch
        order = torch.randperm(len(self.data.images), generator=generator)
        if self.data.measured is None:
            params = self.method.draw(count * alphas, generator)
        else:
            params = self.data.measured[order]
        told = self.method.told(params, generator)
        flips = torch.rand(len(order), generator=generator) < 0.5 if recipe.horizontal_flip else None
        chunk = max(1, CHUNK // (recipe.batch_size * self.data.images[0].numel()))
        starts = range(skip - skip % chunk, count, chunk)  # as in an epoch that is not entered in the middle

        def prepare(start: int) -> list[Batch]:
            stop = min(start + chunk, count)
            chosen = order[start * recipe.batch_size : stop * recipe.batch_size]
            rows = slice(start * alphas, stop * alphas)
            known = {name: values[rows] for name, values in told.items()}
            return self._prepared(chosen, params[rows], known, None if flips is None else flips[chosen])

        unwanted = skip % chunk
        if not self.prefetch:
            for start in starts:
                yield from prepare(start)[unwanted:]
                unwanted = 0
            return
        with ThreadPoolExecutor(1) as pool:
            coming: Future[list[Batch]] | None = None
            for start in starts:
                ready = coming.result() if coming else prepare(start)
                following = start + chunk
                coming = pool.submit(prepare, following) if following < count else None
                yield from ready[unwanted:]
                unwanted = 0

    def _prepared(
        self, chosen: Tensor, params: Tensor, told: dict[str, Tensor], flips: Tensor | None
    ) -> list[Batch]:
        images = to_float(self.data.images[chosen])
        if flips is not None:
            images = torch.where(flips.view(-1, 1, 1, 1), images.flip(-1), images)
        x = self._shown(images, params)
        size, alphas = self.recipe.batch_size, self.alphas_per_batch
        labels = self.data.labels[chosen]
        rows = [
            {name: values[i : i + alphas] for name, values in told.items()}
            for i in range(0, len(params), alphas)
        ]
        pieces = zip(x.split(size), labels.split(size), rows, strict=True)
        return [Batch(*piece) for piece in pieces]

    def _shown(self, images: Tensor, params: Tensor) -> Tensor:
        changed = self.method.transform.apply(images, params)
        return self.normalisation(self.method.see(changed, params))

    def _metrics(self, state: State, epoch: int, device: torch.device) -> dict[str, Any]:
        parts = {name: float(value) / self.steps_per_epoch for name, value in state.sums.items()}
        return {
            "epoch": epoch + 1,
            "loss": sum(parts.values()),
            **parts,
            "validation_accuracy": self.validate(state.net, device),
            "learning_rate": self.recipe.rate(state.step - 1, self.steps_per_epoch),
            **self.method.statistics(state.net),
            "seconds": round(state.seconds, 3),
        }

    @torch.no_grad()
    def validate(self, net: nn.Module, device: torch.device) -> float | None:
        """Accuracy on the validation data, dealt out over a few settings drawn once."""
        count = len(self.data.validation_labels)
        measured = self.data.validation_measured
        groups = min(VALIDATION_SETTINGS if measured is None else count, count)
        if not groups:
            return None
        used = count // groups * groups
        params = (
            self.method.draw(groups, _generator(self.seed, "validation")) if measured is None else measured
        )
        net.eval()
        images, labels = (part[:used] for part in (self.data.validation_images, self.data.validation_labels))
        size = used // groups
        at_once = max(1, CHUNK // (size * images[0].numel()))  # groups
        right = 0
        for rows, x, y in zip(
            params.split(at_once), images.split(at_once * size), labels.split(at_once * size), strict=True
        ):
            shown = self._shown(to_float(x), rows).to(device)
            right += int((self.method.logits(net, shown, rows).argmax(dim=1).cpu() == y).sum())
        return right / used
