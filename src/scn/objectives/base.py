"""What an objective offers: the loss that is minimised, and the score that a network is judged by.

Each prediction counts a value, and the score is the mean of these values: 1 for a right class and 0 for a
wrong one make the accuracy. So scores of parts of the data, of single settings and of whole tests fit
together, whatever is learned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from torch import Tensor

from scn.core.registry import Registry
from scn.data import Dataset


@dataclass(frozen=True)
class Score:
    """A number that networks are judged by, its direction and the limits it cannot leave."""

    key: str  # in files and JSON
    label: str  # in tables and figures
    higher_is_better: bool = True
    lowest: float | None = None
    highest: float | None = None
    unit: str = ""

    def better(self, value: float, than: float) -> bool:
        return value > than if self.higher_is_better else value < than

    def worst(self, values: Iterable[float]) -> float:
        return min(values) if self.higher_is_better else max(values)

    def best(self, values: Iterable[float]) -> float:
        return max(values) if self.higher_is_better else min(values)

    def possible(self, values: Tensor) -> bool:
        """Whether all are within the limits; a nan is not."""
        low = -float("inf") if self.lowest is None else self.lowest
        high = float("inf") if self.highest is None else self.highest
        return bool(((values >= low) & (values <= high)).all())

    def text(self, value: float) -> str:
        """For tables: "0.8412", or "3.21 C" where there is a unit."""
        return f"{value:.4g} {self.unit}" if self.unit else f"{value:.4f}"


class Objective(ABC):
    """What is learned from samples with labels.

    Outputs are what the network returns, (N, outputs); predictions are what they mean to a person.
    """

    scores: tuple[Score, ...]  # the first is what the network is judged by
    part: ClassVar[str] = "objective"  # how metrics call its part of the loss
    tuned_by: ClassVar[tuple[str, ...]] = ()  # values of the recipe that the loss takes

    @property
    def score(self) -> Score:
        return self.scores[0]

    @property
    @abstractmethod
    def outputs(self) -> int:
        """How many values the network returns for a sample."""

    @classmethod
    @abstractmethod
    def learned_from(cls, dataset: Dataset) -> Self:
        """The objective for these data, or an error that says what they lack."""

    def stored(self) -> dict[str, Any]:
        """What must be kept of the training data, as arguments that build the objective again."""
        return {}

    def labels(self, labels: Tensor) -> Tensor:
        """Labels as a data set has them -> as the functions below take them."""
        return labels

    @abstractmethod
    def loss(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """The mean loss of a batch."""

    @abstractmethod
    def values(self, outputs: Tensor, labels: Tensor, spread: Tensor) -> Tensor:
        """(N, scores): what each prediction counts for each of the scores."""

    @abstractmethod
    def spread(self, labels: Tensor) -> Tensor:
        """What `values` must know about all labels of a test."""

    @abstractmethod
    def predictions(self, outputs: Tensor) -> Tensor:
        """What the outputs say: classes (N,), or values in the units of the targets (N, T)."""

    @abstractmethod
    def chance(self, labels: Tensor) -> float:
        """The score of the best prediction that does not look at the sample."""

    def standard_error(self, values: Tensor) -> float:
        """Of a score that is the mean of these values (N,)."""
        return float(values.std(correction=0)) / max(len(values), 1) ** 0.5


registry: Registry[type[Objective]] = Registry("objective", Objective)
