"""Loss terms of an SCN beside the classification loss. All are means, so that their weight in the
total does not depend on the batch size."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def separation(beta: Tensor, other: Tensor) -> Tensor:
    """Mean cos^2 of the angle between the betas of two independent draws of alpha, each (..., D).

    It is 1 where every alpha is given the same mixture, which is what One4All would be.
    """
    # By hand, because F.cosine_similarity and its gradient are 45 operations: a tenth of a small step.
    together = (beta * other).sum(dim=-1).square()
    return (together / (beta.square().sum(dim=-1) * other.square().sum(dim=-1))).mean()


def entropy(logits: Tensor) -> Tensor:
    """The entropy (nats) of the class probabilities of each answer: (..., classes) -> (...)."""
    log_probabilities = logits.log_softmax(dim=-1)
    return -(log_probabilities.exp() * log_probabilities).sum(dim=-1)


def evidence(logits: Tensor) -> Tensor:
    """How much speaks for any class at all: log of the sum of exp(logits), (..., classes) -> (...).

    Class probabilities do not depend on it, so that it is free to say how well alpha fits the input.
    """
    return logits.logsumexp(dim=-1)


def evidence_contrast(right: Tensor, wrong: Tensor) -> Tensor:
    """Low where there is more evidence under the right alpha than under a wrong one.

    right, wrong: (..., classes), the logits of the same inputs. It is the cross-entropy of the question
    which of the two alpha is the right one, so that evidences are log probabilities of alpha.
    """
    return F.softplus(evidence(wrong) - evidence(right)).mean()
