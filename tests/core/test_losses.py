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
    torch.testing.assert_close(losses.entropy(torch.zeros(5, 10)), torch.full((5,), math.log(10)))
    assert losses.entropy(torch.tensor([[1000.0, 0.0, 0.0]])).item() == 0


@given(st.floats(-20, 20), st.integers(2, 12))
def test_evidence_is_what_class_probabilities_do_not_depend_on(shift: float, classes: int) -> None:
    logits = torch.randn(3, classes, generator=torch.Generator().manual_seed(classes))
    moved = logits + shift
    torch.testing.assert_close(losses.evidence(moved), losses.evidence(logits) + shift)
    torch.testing.assert_close(losses.entropy(moved), losses.entropy(logits), atol=1e-5, rtol=1e-4)


def test_evidence_contrast_is_the_cross_entropy_of_telling_two_alpha_apart() -> None:
    right, wrong = torch.randn(6, 5), torch.randn(6, 5)
    both = torch.stack([losses.evidence(right), losses.evidence(wrong)], dim=1)
    expected = torch.nn.functional.cross_entropy(both, torch.zeros(6, dtype=torch.long))
    torch.testing.assert_close(losses.evidence_contrast(right, wrong), expected)
    assert losses.evidence_contrast(right + 5, wrong) < losses.evidence_contrast(right, wrong)


def test_gradients_flow() -> None:
    logits = torch.randn(4, 3, requires_grad=True)
    beta = torch.rand(4, 3, requires_grad=True)
    (losses.entropy(logits).mean() + losses.separation(beta, torch.rand(4, 3))).backward()
    assert logits.grad is not None
    assert beta.grad is not None
