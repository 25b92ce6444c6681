"""The batches of an epoch: samples under drawn settings, as the method shows them to its network.

The order of the samples and the settings of the transform are drawn at the start of an epoch from (seed,
epoch) alone, so that a training can be entered anywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import torch
from torch import Tensor

from scn.data import Normalisation, to_float
from scn.methods import Method
from scn.training.processes import ALONE, Processes
from scn.training.recipe import Recipe

CHUNK = 2**21  # values prepared in one go: enough to make the cost of a call small


@dataclass(frozen=True)
class Batch:
    x: Tensor  # (B, ...), ready for the network
    labels: Tensor
    alphas: dict[str, Tensor]  # what the method's loss is given, K rows each


@dataclass(frozen=True)
class TrainingData:
    """Samples to train on and to validate by, in memory as whole numbers.

    `measured` (N, P) and `validation_measured` come with the samples where a sensor gives the setting.
    """

    samples: Tensor
    labels: Tensor
    validation_samples: Tensor
    validation_labels: Tensor
    measured: Tensor | None = None
    validation_measured: Tensor | None = None


def hold_back(
    samples: Tensor, labels: Tensor, share: float, seed: int, measured: Tensor | None = None
) -> TrainingData:
    """Cut the validation data from the training data, by seed."""
    order = torch.randperm(len(samples), generator=generator_for(seed, "split"))
    held = round(share * len(samples))
    train, held_back = order[held:], order[:held]
    readings = (None, None) if measured is None else (measured[train], measured[held_back])
    return TrainingData(samples[train], labels[train], samples[held_back], labels[held_back], *readings)


def generator_for(seed: int, purpose: str, number: int = 0) -> torch.Generator:
    """An independent generator for each seed, purpose and number."""
    return torch.Generator().manual_seed(seed_for(seed, purpose, number))


def seed_for(seed: int, purpose: str, number: int) -> int:
    """A hash spreads them over 32 bits, which is all that torch's generator takes of a seed."""
    digest = hashlib.sha256(f"{seed} {purpose} {number}".encode()).digest()
    return int.from_bytes(digest[:4], "little")


@dataclass(frozen=True)
class Batches:
    """Makes the batches of any epoch; of several processes each makes its share of every batch."""

    method: Method
    recipe: Recipe
    data: TrainingData
    normalisation: Normalisation
    seed: int
    prefetch: bool = True
    processes: Processes = ALONE

    @property
    def alphas_per_batch(self) -> int:
        return self.recipe.settings_per_batch(self.method.transform.measured)

    @property
    def per_epoch(self) -> int:
        return len(self.data.samples) // self.recipe.batch_size

    def of_epoch(self, epoch: int, skip: int = 0) -> Iterator[Batch]:
        """From number `skip` on, each chunk prepared while the one before is used."""
        generator = generator_for(self.seed, "epoch", epoch)
        recipe, count, alphas = self.recipe, self.per_epoch, self.alphas_per_batch
        order = torch.randperm(len(self.data.samples), generator=generator)
        if self.data.measured is None:
            params = self.method.draw(count * alphas, generator)
        else:
            params = self.data.measured[order]
        drawn = self.method.alphas(params, generator)
        flips = torch.rand(len(order), generator=generator) < 0.5 if recipe.horizontal_flip else None
        size, share = recipe.batch_size, self.processes.share
        chunk = max(1, CHUNK // (size // self.processes.count * self.data.samples[0].numel()))
        starts = range(skip - skip % chunk, count, chunk)  # as in an epoch that is not entered in the middle

        def prepare(start: int) -> list[Batch]:
            stop = min(start + chunk, count)
            chosen = share(order[start * size : stop * size], size)
            rows = slice(start * alphas, stop * alphas)
            known = {name: share(values[rows], alphas) for name, values in drawn.items()}
            flipped = None if flips is None else flips[chosen]
            return self._prepared(stop - start, chosen, share(params[rows], alphas), known, flipped)

        unwanted = skip % chunk
        for ready in _ahead(prepare, starts) if self.prefetch else map(prepare, starts):
            yield from ready[unwanted:]
            unwanted = 0

    def _prepared(
        self, count: int, chosen: Tensor, params: Tensor, alphas: dict[str, Tensor], flips: Tensor | None
    ) -> list[Batch]:
        samples = to_float(self.data.samples[chosen])
        if flips is not None:
            samples = torch.where(flips.view(-1, 1, 1, 1), samples.flip(-1), samples)
        x = self.method.training_inputs(samples, params, self.normalisation)
        size, each = len(chosen) // count, len(params) // count
        rows = [
            {name: values[i : i + each] for name, values in alphas.items()}
            for i in range(0, len(params), each)
        ]
        pieces = zip(x.split(size), self.data.labels[chosen].split(size), rows, strict=True)
        return [Batch(*piece) for piece in pieces]


def _ahead(prepare: Callable[[int], list[Batch]], starts: range) -> Iterator[list[Batch]]:
    """What `prepare` makes of each start, the next one in a thread while one is used."""
    with ThreadPoolExecutor(1) as pool:
        coming: Future[list[Batch]] | None = None
        for start in starts:
            ready = coming.result() if coming else prepare(start)
            following = start + starts.step
            coming = pool.submit(prepare, following) if following < starts.stop else None
            yield ready
