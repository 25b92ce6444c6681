"""The loss terms are means with the values the definitions give."""

from __future__ import annotations

import math

import torch
from hypothesis import given
from hypothesis import strategies as st

from scn import losses


def test_separation_is_one_for_equal_and_zero_for_orthogonal_mixtures() -> None:
    one, other = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
    assert losses.separation(one, one).item() == 1
    assert losses.separation(one, other).item() == 0
    torch.testing.assert_close(losses.separation(one, torch.tensor([0.5, 0.5])), torch.tensor(0.5))


def test_separation_is_the_mean_over_the_rows() -> None:
    beta = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    assert losses.separation(beta, torch.eye(2)).item() == 0.5


def test_entropy_is_log_n_for_equal_and_zero_for_certain_answers() -> None:
    torch.testing.assert_close(losses.entropy(torch.zeros(5, 10)), torch.tensor(math.log(10)))
    assert losses.entropy(torch.tensor([[1000.0, 0.0, 0.0]])).item() == 0


@given(st.integers(1, 6), st.integers(2, 12))
def test_entropy_does_not_depend_on_the_batch_size(copies: int, classes: int) -> None:
    logits = torch.randn(3, classes, generator=torch.Generator().manual_seed(classes))
    torch.testing.assert_close(losses.entropy(logits.repeat(copies, 1)), losses.entropy(logits))


def test_entropy_contrast_rewards_certainty_at_the_right_alpha_only() -> None:
    sure, unsure = torch.tensor([[9.0, 0.0]]), torch.zeros(1, 2)
    assert losses.entropy_contrast(sure, unsure) < losses.entropy_contrast(sure, sure)
    assert losses.entropy_contrast(sure, unsure) < losses.entropy_contrast(unsure, unsure)


def test_gradients_flow() -> None:
    logits = torch.randn(4, 3, requires_grad=True)
    beta = torch.rand(4, 3, requires_grad=True)
    (losses.entropy(logits) + losses.separation(beta, torch.rand(4, 3))).backward()
    assert logits.grad is not None
    assert beta.grad is not None
