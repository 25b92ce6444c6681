"""How well a setting explains the input, judged by the logits of the network configured for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from scn.core import losses
from scn.core.errors import ScnError
from scn.core.registry import nearest
from scn.training.recipe import Recipe


@dataclass(frozen=True)
class Doubt:
    """`of` turns logits (..., classes) into one number each (...), low where the setting fits.

    A doubt divided by `temperature` is about minus the log probability of the setting, up to a constant.
    """

    name: str
    of: Callable[[Tensor], Tensor]
    temperature: float
    weights: tuple[str, ...]  # of the recipe, which train a network for it


DOUBTS = {
    doubt.name: doubt
    for doubt in (
        Doubt("evidence", lambda logits: -losses.evidence(logits), 1.0, ("evidence_weight",)),
        Doubt("entropy", losses.entropy, 0.3, ("entropy_weight", "wrong_entropy_weight")),
    )
}


def get_doubt(name: str) -> Doubt:
    if name not in DOUBTS:
        raise ScnError(f"there is no measure of doubt {nearest(name, tuple(DOUBTS))}")
    return DOUBTS[name]


def trained_for(recipe: Recipe) -> Doubt | None:
    """What a recipe makes a measure of doubt of, if anything."""
    for doubt in DOUBTS.values():
        if any(getattr(recipe, weight) for weight in doubt.weights):
            return doubt
    return None
