"""Loss terms of an SCN beside the classification loss. All are means, so that their weight in the
total does not depend on the batch size."""

from __future__ import annotations

from torch import Tensor


def separation(beta: Tensor, other: Tensor) -> Tensor:
    """Mean cos^2 of the angle between the betas of two independent draws of alpha, each (..., D).

    It is 1 where every alpha is given the same mixture, which is what One4All would be.
    """
    # By hand, because F.cosine_similarity and its gradient are 45 operations: a tenth of a small step.
    together = (beta * other).sum(dim=-1).square()
    return (together / (beta.square().sum(dim=-1) * other.square().sum(dim=-1))).mean()


def entropy(logits: Tensor) -> Tensor:
    """Mean entropy (nats) of the class probabilities. logits: (..., classes)."""
    log_probabilities = logits.log_softmax(dim=-1)
    return -(log_probabilities.exp() * log_probabilities).sum(dim=-1).mean()


def entropy_contrast(right: Tensor, wrong: Tensor) -> Tensor:
    """Low where a network configured for the right alpha is sure and one for a wrong alpha is not.

    right, wrong: (..., classes), the logits of the same inputs under a right and a wrong alpha.
    """
    return entropy(right) - entropy(wrong)
