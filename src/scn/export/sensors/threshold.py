"""How far a setting may move before the network is worth configuring anew: chosen by the score that it costs.

A network is asked under a setting while it is configured for another one, a step up and a step down. The
threshold is the largest step whose mean cost, with one standard error added, is at most what may be lost. A
device is off by a whole threshold only at the last moment before it is configured again, so in use it loses
less. Test data have no part in the choice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from scn.core.network import SCN
from scn.export.subject import LabelledSamples, Subject

SAMPLES, SETTINGS = 20_000, 100  # fewer settings give other thresholds for other seeds
AT_ONCE = 64  # samples with a setting of their own
MATTERS = 0.05  # without data: the change of a mixing coefficient that is worth a configuration
GRID = 720  # settings that this is tried at

Moved = Callable[[Tensor, float], Tensor]  # settings, moved by a step: up, or down where it is negative


@dataclass(frozen=True)
class Threshold:
    """The step, what it costs of the score, and how that was found; cost is None where there were no data."""

    step: float
    unit: str
    lose: float
    score: str = ""
    cost: float | None = None
    split: str = ""
    samples: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def about(self) -> str:
        """For people: what it is, and how it was measured."""
        if self.cost is None:
            return (
                f"less changes no mixing coefficient by more than {MATTERS:g}. What that costs was not "
                "measured, because the data of the run are not here"
            )
        return (
            f"a setting off by as much costs {self.cost:.4f} of the {self.score} (at most {self.lose:g} was "
            f"allowed), measured on {self.samples:,} samples of the {self.split} data, up and down"
        )


@torch.no_grad()
def chosen(subject: Subject, moved: Moved, steps: tuple[float, ...], unit: str, lose: float) -> Threshold:
    """The largest of these rising steps that costs at most `lose`; 0 where even the first costs more."""
    if subject.has_no_data or not isinstance(subject.network, SCN):
        return Threshold(_by_coefficients(subject, moved, steps), unit, lose)
    split = "val" if subject.has_split("val") else "train"
    costs = Costs(subject, moved, subject.samples(split, SAMPLES, SETTINGS))
    low, high = 0, len(steps)  # of steps[:low] all are good, of steps[high:] none
    while low < high:
        middle = (low + high) // 2
        if costs.at_most(steps[middle], lose):
            low = middle + 1
        else:
            high = middle
    step = steps[low - 1] if low else 0.0
    score, count = subject.objective.score.key, len(costs.samples.y)
    said = {"train": "training", "val": "validation"}[split]
    return Threshold(step, unit, lose, score, costs.of(step)[0] if low else 0.0, said, count)


class Costs:
    """What it costs on these samples to be configured for a setting that is a step off."""

    def __init__(self, subject: Subject, moved: Moved, samples: LabelledSamples) -> None:
        self.subject, self.moved, self.samples = subject, moved, samples
        self.right = self._values(samples.params)

    def at_most(self, step: float, lose: float) -> bool:
        mean, error = self.of(step)
        return mean + error <= lose

    def of(self, step: float) -> tuple[float, float]:
        """The mean over both directions, and its standard error."""
        off = [self._values(self.moved(self.samples.params, way * step)) for way in (1, -1)]
        worse = self.right - torch.stack(off).mean(dim=0)
        if not self.subject.objective.score.higher_is_better:
            worse = -worse
        return worse.mean().item(), worse.std().item() / max(len(worse), 1) ** 0.5

    def _values(self, params: Tensor) -> Tensor:
        objective, labels = self.subject.objective, self.samples.y
        outputs = outputs_for(self.subject, self.samples.x, params)
        return objective.values(outputs, labels, objective.spread(labels))[:, 0].double()


@torch.no_grad()
def outputs_for(subject: Subject, x: Tensor, params: Tensor) -> Tensor:
    """The outputs for x (N, ...) of a network that is configured for params (N, P)."""
    net, transform = subject.network, subject.transform
    assert isinstance(net, SCN)
    if transform.measured:
        alphas = transform.encode(transform.clamped(params))
        pairs = zip(x.split(AT_ONCE), alphas.split(AT_ONCE), strict=True)
        return torch.cat([net(part, alpha) for part, alpha in pairs])
    different, which = params.unique(dim=0, return_inverse=True)
    found: Tensor | None = None
    for i, setting in enumerate(different):
        rows = which == i
        outputs = net.configure(transform.encode(setting)).eval()(x[rows])
        found = outputs.new_empty(len(x), outputs.shape[1]) if found is None else found
        found[rows] = outputs
    assert found is not None
    return found


def _by_coefficients(subject: Subject, moved: Moved, steps: tuple[float, ...]) -> float:
    """The largest step that changes no mixing coefficient by more than a trace, from any setting."""
    net, transform = subject.network, subject.transform
    if not isinstance(net, SCN):
        return steps[0]
    settings, found = transform.grid(GRID), steps[0]
    beta = net.beta(transform.encode(settings))
    for step in steps:
        there = net.beta(transform.encode(moved(settings, step)))
        if (there - beta).abs().max() > MATTERS:
            break
        found = step
    return found
