"""Classification: cross-entropy is minimised, the share of right classes is what counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import torch
import torch.nn.functional as F
from torch import Tensor

from scn.core.errors import ScnError
from scn.data import Dataset
from scn.objectives.base import Objective, Score, registry

ACCURACY = Score("accuracy", "accuracy", lowest=0.0, highest=1.0)


@registry.register("classification")
@dataclass(frozen=True)
class Classification(Objective):
    """One of `classes`; the outputs are logits."""

    classes: int = 0
    label_smoothing: float = 0.0

    scores: ClassVar[tuple[Score, ...]] = (ACCURACY,)  # type: ignore[misc]
    part: ClassVar[str] = "classification"
    tuned_by: ClassVar[tuple[str, ...]] = ("label_smoothing",)

    @property
    def outputs(self) -> int:
        return self.classes

    @classmethod
    def learned_from(cls, dataset: Dataset) -> Self:
        dataset.refuse_unlearnable()
        return cls(len(dataset.classes))

    def labels(self, labels: Tensor) -> Tensor:
        if labels.is_floating_point() or labels.dim() != 1:
            raise ScnError(
                "classification needs one whole number as label of each sample, but the labels are "
                f"{labels.dtype} of shape {tuple(labels.shape)}: choose objective regression"
            )
        return labels

    def loss(self, outputs: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(outputs, labels, label_smoothing=self.label_smoothing)

    def values(self, outputs: Tensor, labels: Tensor, spread: Tensor) -> Tensor:
        return (outputs.argmax(dim=1) == labels).double().unsqueeze(1)

    def spread(self, labels: Tensor) -> Tensor:
        return torch.ones(())

    def predictions(self, outputs: Tensor) -> Tensor:
        return outputs.argmax(dim=1)

    def chance(self, labels: Tensor) -> float:
        """The share of the most frequent class."""
        return float(torch.bincount(labels).max()) / len(labels)

    def standard_error(self, values: Tensor) -> float:
        """Never 0: a share of right answers that is taken for 1 would leave nothing to chance."""
        count = len(values)
        share = (float(values.mean()) * count + 1) / (count + 2)
        return math.sqrt(share * (1 - share) / max(count, 1))
