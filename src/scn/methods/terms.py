"""The part of a recipe that a method and its objective take: what the loss weighs, and where bases start."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Terms:
    """Weights of the terms of the loss, and the start of the base models.

    `base_noise` is 0 where each base model starts from a draw of its own; otherwise all start from one, with
    noise of so many of its standard deviations. `together` is the part of a step that all base models take
    together, so that what they have in common is learned from every sample (by Muon). None leaves both to
    the map. The separation is for maps that are learned. The weights of entropy (low at the right alpha, high
    at a wrong one) and evidence train for search. `huber_delta` is 0 for the squared error of a regression.
    `branches` are the versions of an input that TI-Pooling and test-time augmentation look at, at most, and
    `adapted_batch` the inputs that Tent adapts to at a time.
    """

    separation_weight: float = 1.0
    entropy_weight: float = 0.0
    wrong_entropy_weight: float = 0.0
    evidence_weight: float = 0.0
    base_noise: float | None = None
    together: float | None = None
    label_smoothing: float = 0.0
    huber_delta: float = 0.0
    branches: int = 24
    adapted_batch: int = 200

    @property
    def for_search(self) -> bool:
        """Whether the setting is to be found from the input."""
        return any((self.entropy_weight, self.wrong_entropy_weight, self.evidence_weight))
