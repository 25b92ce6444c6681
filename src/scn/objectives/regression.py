"""Regression: values are predicted, and errors are compared with how much the values differ anyway.

The network is trained on targets with mean 0 and deviation 1, so that learning rates mean what they mean for
classes; `predictions` gives its outputs in the units of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
import torch.nn.functional as F
from torch import Tensor

from scn.data import Dataset
from scn.objectives.base import Objective, Score, registry

R2 = Score("r2", "R²", highest=1.0)
MAE = Score("mae", "mean absolute error", higher_is_better=False, lowest=0.0)


@registry.register("regression")
@dataclass(frozen=True)
class Regression(Objective):
    """Targets (N, T); judged by R², the share of their variance that is predicted.

    The squared error is minimised or, where `huber_delta` is above 0, Huber's loss, which grows only
    linearly for errors of more than so many deviations of the target.
    """

    mean: tuple[float, ...] = (0.0,)
    deviation: tuple[float, ...] = (1.0,)
    huber_delta: float = 0.0

    scores: ClassVar[tuple[Score, ...]] = (R2, MAE)  # type: ignore[misc]
    part: ClassVar[str] = "regression"
    tuned_by: ClassVar[tuple[str, ...]] = ("huber_delta",)

    @property
    def outputs(self) -> int:
        return len(self.mean)

    @classmethod
    def learned_from(cls, dataset: Dataset) -> Self:
        targets = _columns(dataset.split("train")[1]).double()
        deviation = targets.std(dim=0, correction=0)
        return cls(tuple(targets.mean(dim=0).tolist()), tuple(deviation.where(deviation > 0, 1.0).tolist()))

    def stored(self) -> dict[str, Any]:
        return {"mean": list(self.mean), "deviation": list(self.deviation)}

    def labels(self, labels: Tensor) -> Tensor:
        return _columns(labels)

    def loss(self, outputs: Tensor, labels: Tensor) -> Tensor:
        mean, deviation = self._scale(outputs)
        standard = (labels - mean) / deviation
        if self.huber_delta:
            return F.huber_loss(outputs, standard, delta=self.huber_delta)
        return F.mse_loss(outputs, standard)

    def values(self, outputs: Tensor, labels: Tensor, spread: Tensor) -> Tensor:
        error = (self.predictions(outputs) - labels).double()
        each = {
            R2: 1 - (error.square() / spread).mean(dim=1),
            MAE: error.abs().mean(dim=1),
        }
        return torch.stack([each[score] for score in self.scores], dim=1)

    def spread(self, labels: Tensor) -> Tensor:
        """(T,): the variance of each target; that of the training data where these are all alike."""
        variance = labels.double().var(dim=0, correction=0)
        _, deviation = self._scale(labels)
        return variance.where(variance > 0, deviation.double().square())

    def predictions(self, outputs: Tensor) -> Tensor:
        mean, deviation = self._scale(outputs)
        return outputs * deviation + mean

    def chance(self, labels: Tensor) -> float:
        """Of the constant that is best for the score: R² is 0 at the mean, the error least at the median."""
        best = {R2: labels.mean(dim=0), MAE: labels.median(dim=0).values}[self.score]
        mean, deviation = self._scale(labels)
        constant = ((best - mean) / deviation).expand(len(labels), -1)
        return float(self.values(constant, labels, self.spread(labels))[:, 0].mean())

    def _scale(self, like: Tensor) -> tuple[Tensor, Tensor]:
        mean, deviation = torch.tensor([self.mean, self.deviation], device=like.device)
        return mean, deviation


@registry.register("regression-mae")
@dataclass(frozen=True)
class AbsoluteError(Regression):
    """The same, judged by the mean absolute error in the units of the targets: lower is better."""

    scores: ClassVar[tuple[Score, ...]] = (MAE, R2)  # type: ignore[misc]


def _columns(labels: Tensor) -> Tensor:
    """(N,) or (N, T) numbers -> (N, T) float32."""
    return labels.to(torch.float32).reshape(len(labels), -1)
