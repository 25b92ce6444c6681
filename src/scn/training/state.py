"""Everything that changes in training: what a checkpoint holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from scn.objectives import Score

NUMBERS = ("step", "seconds", "best_score", "last_score", "last_error")  # of a state, for its checkpoint
FORMER = {"best_score": "best_accuracy", "last_score": "last_accuracy"}  # in checkpoints of version 0.1


@dataclass
class State:
    """A network in training, with its optimiser and what has been seen of it so far."""

    net: nn.Module
    optimiser: torch.optim.Optimizer
    step: int = 0
    sums: dict[str, Tensor] = field(default_factory=dict)  # loss parts of this epoch so far
    seconds: float = 0.0  # of this epoch so far
    best: dict[str, Tensor] = field(default_factory=dict)  # the network at its best on the validation data
    best_score: float | None = None
    last_score: float | None = None
    last_error: float | None = None  # the standard error of the last score

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
            former = numbers.get(FORMER.get(name, name), getattr(self, name))
            setattr(self, name, numbers.get(name, former))

    def note(self, value: float | None, error: float, score: Score) -> None:
        """Remember the network if none did better on the validation data; of equal ones the later."""
        if value is None:
            return
        self.last_score, self.last_error = value, error
        if self.best_score is None or not score.better(self.best_score, value):
            self.best_score = value
            self.best = {name: tensor.clone() for name, tensor in self.net.state_dict().items()}

    def settle(self) -> None:
        """Go back to the best epoch if it was better than the last by more than chance.

        Chance is two standard errors of the last score. The best of hundreds of epochs by a smaller margin
        is mostly luck, and came before the rate had fallen.
        """
        if self.best_score is None or self.last_score is None or self.last_error is None:
            return
        if self.best and abs(self.best_score - self.last_score) > 2 * self.last_error:
            self.net.load_state_dict(self.best)
