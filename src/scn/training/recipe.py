"""How a network is trained: the hyper-parameters, as one record that checks and writes itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from scn.core.errors import ScnError
from scn.core.registry import nearest
from scn.methods.terms import Terms

OPTIMISERS = ("muon", "adam")
SCHEDULES = ("cosine", "warm-restarts", "constant")
NUMBERS = (
    "learning_rate",
    "final_rate",
    "weight_decay",
    "separation_weight",
    "entropy_weight",
    "wrong_entropy_weight",
    "evidence_weight",
    "base_noise",
    "together",
    "huber_delta",
)
WHOLE_NUMBERS = {  # and the least that each may be
    "epochs": 1,
    "batch_size": 1,
    "alphas_per_batch": 1,
    "restart_epochs": 1,
    "restart_growth": 1,
    "train_samples": 0,
    "branches": 1,
    "adapted_batch": 1,
}


@dataclass(frozen=True)
class Recipe(Terms):
    """The settings of one training; `Terms` says what the loss weighs and where base models start.

    `alphas_per_batch` is K, how many parameter draws share a batch. A schedule falls from `learning_rate`
    to `final_rate`; "warm-restarts" does so again and again, each time `restart_growth` times as long.
    `train_samples` is how many samples are used, 0 for all.
    `clamp` moves measured parameters outside their range to its nearest end; else they are refused.
    `compiled` makes a step one piece of machine code (see scn.training.step), for long trainings.
    """

    epochs: int = 100
    batch_size: int = 256
    alphas_per_batch: int = 8
    learning_rate: float = 3e-3
    weight_decay: float = 0.0
    optimiser: str = "muon"
    schedule: str = "cosine"
    restart_epochs: int = 25
    restart_growth: int = 1
    final_rate: float = 0.0
    horizontal_flip: bool = False
    validation_share: float = 0.05
    train_samples: int = 0
    clamp: bool = False
    mixed_precision: bool = False
    compiled: bool = False

    def __post_init__(self) -> None:
        for name, least in WHOLE_NUMBERS.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ScnError(f"{name} must be a whole number of at least {least}, but is {value!r}")
        for name in NUMBERS:
            value = getattr(self, name)
            if value is not None and (not math.isfinite(value) or value < 0):
                raise ScnError(f"{name} must be a number of at least 0, but is {value!r}")
        for name in ("label_smoothing", "validation_share"):
            if not 0 <= getattr(self, name) < 1:
                raise ScnError(f"{name} must be at least 0 and below 1, but is {getattr(self, name)!r}")
        for name, known in (("optimiser", OPTIMISERS), ("schedule", SCHEDULES)):
            if getattr(self, name) not in known:
                raise ScnError(f"there is no {name} {nearest(getattr(self, name), known)}")
        if self.batch_size % self.alphas_per_batch:
            raise ScnError(
                f"alphas_per_batch must divide batch_size, but {self.alphas_per_batch} does not divide "
                f"{self.batch_size}"
            )

    def settings_per_batch(self, measured: bool) -> int:
        """K; a setting that was measured is each sample's own."""
        return self.batch_size if measured else self.alphas_per_batch

    def rate(self, step: int, steps_per_epoch: int) -> float:
        """The learning rate of one step, counted from 0 over the whole training."""
        if self.schedule == "constant":
            return self.learning_rate
        epoch = step / steps_per_epoch
        period = self.epochs
        if self.schedule == "warm-restarts":
            period = self.restart_epochs
            while epoch >= period:
                epoch, period = epoch - period, period * self.restart_growth
        fall = self.learning_rate - self.final_rate
        return self.final_rate + fall * 0.5 * (1 + math.cos(math.pi * epoch / period))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def changed(self, **changes: Any) -> Recipe:
        """The same recipe with some values changed; None leaves a value as it is."""
        known = {field.name for field in fields(self)}
        unknown = set(changes) - known
        if unknown:
            raise ScnError(f"a recipe has no {nearest(unknown.pop(), sorted(known))}")
        return replace(self, **{name: value for name, value in changes.items() if value is not None})


def kinds() -> dict[str, type]:
    """What type each value of a recipe has."""
    return {name: float if value is None else type(value) for name, value in asdict(Recipe()).items()}


def settings(texts: Sequence[str]) -> dict[str, Any]:
    """What a person wrote as NAME=VALUE, as values for `Recipe.changed`."""
    known = kinds()
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ScnError(f"a value of the recipe is written NAME=VALUE, but got {text!r}")
        if name not in known:
            raise ScnError(f"a recipe has no {nearest(name, sorted(known))}")
        try:
            found[name] = {"true": True, "false": False}[value] if known[name] is bool else known[name](value)
        except (KeyError, ValueError):
            wanted = {bool: "true or false", int: "a whole number", float: "a number"}[known[name]]
            raise ScnError(f"{name} takes {wanted}, but got {value!r}") from None
    return found
