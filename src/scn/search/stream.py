"""How well a tracker follows a setting that drifts, and sometimes jumps, over a stream of single inputs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from scn import data
from scn.data import to_float
from scn.objectives import Score
from scn.runs import Run
from scn.search.study import under_key
from scn.search.tracker import Tracker

START = 10  # inputs that a tracker may take to find its setting first
BETWEEN = 40  # inputs from one jump to the next
NEAR = 1 / 24  # of the range, 15 degrees of a circle: a setting that has been found
PATIENCE = 15  # inputs in which it should be found again after a jump


@dataclass(frozen=True)
class Stream:
    """What happened, input by input."""

    truth: Tensor  # (N, P)
    believed: Tensor  # (N, P)
    spread: Tensor  # (N, P)
    lost: Tensor  # (N,)
    reconfigured: Tensor  # (N,)
    values: Tensor  # (N,): what each prediction of the tracker's network counts
    known_values: Tensor  # (N,): the same of the network that is configured for the true setting
    near: Tensor  # (N,): whether the believed setting is close to the true one
    jumps: Tensor  # (J,): inputs before which the setting jumped

    def summary(self) -> Summary:
        waits = [self._wait(int(jump)) for jump in self.jumps]
        return Summary(
            inputs=len(self.values),
            reached=self.values[START:].mean().item(),
            known=self.known_values[START:].mean().item(),
            jumps=len(waits),
            recovered=sum(wait <= PATIENCE for wait in waits) / len(waits) if waits else None,
            reconfigured=self.reconfigured.double().mean().item(),
            lost=self.lost.double().mean().item(),
        )

    def _wait(self, jump: int) -> int:
        """How many inputs it took from a jump until the setting was found."""
        found = self.near[jump : jump + BETWEEN].nonzero()
        return int(found[0]) + 1 if len(found) else BETWEEN + 1


@dataclass(frozen=True)
class Summary:
    """Scores are those after the first few inputs, jumps included; the rest are shares."""

    inputs: int
    reached: float
    known: float  # with the setting known
    jumps: int
    recovered: float | None  # of the jumps, in time; None without any
    reconfigured: float  # of the inputs
    lost: float  # of the inputs

    def to_json(self, score: Score) -> dict[str, Any]:
        """For a file: scores under the key of the score."""
        return under_key(asdict(self), score)


def walk(tracker: Tracker, count: int, drift: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """(N, P) settings that drift (P,) and jump anywhere every so often, and the places of the jumps."""
    settings = tracker.transform.sample(count, generator)
    moves = drift * torch.randn(settings.shape, generator=generator)
    for i in range(1, count):
        if i % BETWEEN:
            settings[i] = tracker.search.bounded(settings[i - 1] + moves[i])
    return settings, torch.arange(BETWEEN, max(BETWEEN, count - BETWEEN + 1), BETWEEN)


@torch.no_grad()
def follow(run: Run, tracker: Tracker, count: int, drift: Tensor, seed: int = 0) -> Stream:
    """Show the tracker test samples of the run, one by one."""
    generator = torch.Generator().manual_seed(seed)
    images, labels = data.load(run.config.data).split("test")
    transform, method, normalise = tracker.transform, run.method(), run.normalisation()
    truth, jumps = walk(tracker, count, drift, generator)
    chosen = torch.randint(len(images), (count,), generator=generator)
    tracked, known = [], []
    for index, setting in zip(chosen.tolist(), truth, strict=True):
        x = method.inputs(to_float(images[index : index + 1]), setting, normalise)
        tracked.append(tracker(x))
        known.append(tracker.net(x, transform.encode(setting)))
    believed = torch.stack([t.params for t in tracked])
    logits = torch.stack([t.logits for t in tracked if t.logits is not None])
    labels = method.objective.labels(labels[chosen])
    spread = method.objective.spread(labels)
    return Stream(
        truth,
        believed,
        torch.stack([t.spread for t in tracked]),
        torch.tensor([t.lost for t in tracked]),
        torch.tensor([t.reconfigured for t in tracked]),
        method.objective.values(logits, labels, spread)[:, 0],
        method.objective.values(torch.cat(known), labels, spread)[:, 0],
        transform.distance(believed, truth) <= NEAR,
        jumps,
    )
