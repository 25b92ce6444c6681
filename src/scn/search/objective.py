"""How well a setting explains the input, judged by the answers of the network configured for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from scn.core import losses
from scn.core.errors import ScnError
from scn.core.registry import nearest
from scn.training.recipe import Recipe


@dataclass(frozen=True)
class Objective:
    """`doubt` turns logits (..., classes) into one number each (...), low where the setting fits.

    A doubt divided by `temperature` is about minus the log probability of the setting, up to a constant.
    """

    name: str
    doubt: Callable[[Tensor], Tensor]
    temperature: float
    weights: tuple[str, ...]  # of the recipe, which train a network for it


OBJECTIVES = {
    objective.name: objective
    for objective in (
        Objective("evidence", lambda logits: -losses.evidence(logits), 1.0, ("evidence_weight",)),
        Objective("entropy", losses.entropy, 0.3, ("entropy_weight", "wrong_entropy_weight")),
    )
}


def get(name: str) -> Objective:
    if name not in OBJECTIVES:
        raise ScnError(f"there is no objective {nearest(name, tuple(OBJECTIVES))}")
    return OBJECTIVES[name]


def trained_for(recipe: Recipe) -> Objective | None:
    """The objective that a recipe trains for, if any."""
    for objective in OBJECTIVES.values():
        if any(getattr(recipe, weight) for weight in objective.weights):
            return objective
    return None
