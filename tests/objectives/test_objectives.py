"""An objective is its loss, its score with a direction, and what chance would reach."""

from __future__ import annotations

import pytest
import torch
from sklearn.metrics import mean_absolute_error, r2_score
from torch import Tensor

import scn
from scn import objectives
from scn.objectives import AbsoluteError, Classification, Regression, Score


def judged(objective: objectives.Objective, outputs: Tensor, labels: Tensor) -> list[float]:
    known = objective.labels(labels)
    return objective.values(outputs, known, objective.spread(known)).mean(dim=0).tolist()


def test_the_accuracy_is_the_share_of_right_classes() -> None:
    logits = torch.tensor([[2.0, 1.0], [0.0, 1.0], [3.0, 0.0], [0.0, 3.0]])
    assert judged(Classification(2), logits, torch.tensor([0, 1, 1, 1])) == [0.75]


@pytest.mark.parametrize("count", [1, 3])
def test_r2_and_absolute_error_are_those_of_scikit_learn(count: int) -> None:
    torch.manual_seed(1)
    labels = torch.randn(200, count) * torch.tensor([5.0, 1.0, 0.1])[:count] + 20
    objective = Regression(tuple(labels.mean(0).tolist()), tuple(labels.std(0).tolist()))
    predicted = labels + 0.3 * torch.randn_like(labels)
    outputs = (predicted - torch.tensor(objective.mean)) / torch.tensor(objective.deviation)
    r2, mae = judged(objective, outputs, labels)
    assert r2 == pytest.approx(r2_score(labels.numpy(), predicted.numpy()), abs=1e-4)
    assert mae == pytest.approx(mean_absolute_error(labels.numpy(), predicted.numpy()), rel=1e-3)
    assert judged(AbsoluteError(objective.mean, objective.deviation), outputs, labels) == [mae, r2]
    torch.testing.assert_close(objective.predictions(outputs), predicted, rtol=1e-4, atol=1e-4)


def test_the_score_of_parts_of_the_data_is_that_of_the_whole() -> None:
    labels = Regression().labels(torch.randn(90))
    outputs, spread = torch.randn(90, 1), Regression().spread(labels)
    whole = Regression().values(outputs, labels, spread)
    parts = [
        Regression().values(o, y, spread) for o, y in zip(outputs.split(40), labels.split(40), strict=True)
    ]
    assert torch.equal(torch.cat(parts), whole)


def test_chance_is_what_a_constant_reaches() -> None:
    assert Classification(3).chance(torch.tensor([0, 0, 0, 1, 2])) == 0.6
    labels = torch.tensor([[1.0], [2.0], [9.0]])
    assert Regression((3.0,), (2.0,)).chance(labels) == pytest.approx(0.0, abs=1e-6)
    assert AbsoluteError((3.0,), (2.0,)).chance(labels) == pytest.approx(8 / 3)


def test_a_lower_error_is_better_and_a_lower_accuracy_is_worse() -> None:
    error, accuracy = AbsoluteError().score, Classification().score
    assert error.better(1.0, than=2.0)
    assert not error.better(2.0, than=2.0)
    assert error.worst([1.0, 3.0, 2.0]) == 3.0 == accuracy.best([1.0, 3.0, 2.0])
    assert error.best([1.0, 3.0, 2.0]) == 1.0 == accuracy.worst([1.0, 3.0, 2.0])


def test_values_that_a_score_cannot_have_are_known() -> None:
    score = Score("share", "share", lowest=0.0, highest=1.0)
    assert score.possible(torch.tensor([0.0, 1.0]))
    for wrong in (-0.1, 1.1, float("nan")):
        assert not score.possible(torch.tensor([0.5, wrong]))
    assert Regression().score.possible(torch.tensor([-3.0]))


def test_hubers_loss_grows_linearly_for_large_errors() -> None:
    labels = torch.tensor([[0.0], [100.0]])
    squared, huber = (Regression(huber_delta=d).loss(torch.zeros(2, 1), labels) for d in (0.0, 1.0))
    assert squared == 5000
    assert huber == pytest.approx((100 - 0.5) / 2)


def test_targets_are_learned_with_mean_0_and_deviation_1() -> None:
    labels = torch.tensor([[10.0], [30.0]])
    assert Regression((20.0,), (10.0,)).loss(torch.tensor([[-1.0], [1.0]]), labels) == 0


def test_one_label_alone_has_no_spread_and_still_a_score() -> None:
    assert judged(Regression((0.0,), (2.0,)), torch.tensor([[0.5]]), torch.tensor([3.0])) == [0.0, 2.0]


def test_classes_must_be_whole_numbers() -> None:
    with pytest.raises(scn.ScnError, match=r"float32 of shape \(2,\): choose objective regression"):
        Classification().labels(torch.tensor([0.5, 1.5]))


def test_the_error_of_a_perfect_share_is_not_0() -> None:
    assert Classification().standard_error(torch.ones(100)) > 0.005
    assert Regression().standard_error(torch.tensor([0.0, 2.0])) == pytest.approx(2**-0.5)


def test_an_unknown_objective_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(scn.ScnError, match='Did you mean "regression"'):
        objectives.get("regresion")
