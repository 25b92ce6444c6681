"""Recipes check themselves, follow their schedules and can be changed by name."""

from __future__ import annotations

import pytest

from scn.experiment import tasks
from scn.training.recipe import Recipe


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epochs": 0}, "epochs must be a whole number of at least 1, but is 0"),
        ({"epochs": -3}, "but is -3"),
        ({"batch_size": 2.5}, "batch_size must be a whole number"),
        ({"learning_rate": -1.0}, "learning_rate must be a number of at least 0"),
        ({"weight_decay": float("nan")}, "weight_decay must be a number"),
        ({"label_smoothing": 1.0}, "label_smoothing must be at least 0 and below 1"),
        ({"schedule": "cosin"}, 'there is no schedule "cosin". Did you mean "cosine"?'),
        ({"batch_size": 64, "alphas_per_batch": 7}, "7 does not divide 64"),
    ],
)
def test_wrong_values(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        Recipe(**wrong)  # type: ignore[arg-type]


def test_the_cosine_falls_from_the_rate_to_zero() -> None:
    chosen = Recipe(epochs=10, learning_rate=1.0)
    rates = [chosen.rate(step, 100) for step in range(1000)]
    assert rates[0] == 1.0
    assert rates == sorted(rates, reverse=True)
    assert rates[500] == pytest.approx(0.5)
    assert rates[-1] < 1e-5


def test_warm_restarts_start_again() -> None:
    chosen = Recipe(epochs=50, schedule="warm-restarts", restart_epochs=25, learning_rate=1.0)
    assert chosen.rate(0, 10) == chosen.rate(250, 10) == 1.0
    assert chosen.rate(249, 10) < 0.01


def test_a_constant_rate() -> None:
    assert Recipe(schedule="constant", learning_rate=0.1).rate(12345, 10) == 0.1


def test_the_papers_recipe_is_the_published_table() -> None:
    chosen = tasks.recipe("paper", "mlp")
    assert (chosen.batch_size, chosen.epochs, chosen.learning_rate) == (64, 500, 1e-3)
    assert (chosen.alphas_per_batch, chosen.schedule, chosen.separation_weight) == (1, "cosine", 1.0)


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match=r'there is no recipe "papr"\. Did you mean "paper"'):
        tasks.recipe("papr", "mlp")
    with pytest.raises(ValueError, match='the paper has no recipe for "mine"'):
        tasks.recipe("paper", "mine")
    with pytest.raises(ValueError, match=r'a recipe has no "epoch"\. Did you mean "epochs"'):
        Recipe().changed(epoch=3)


def test_changing_leaves_out_what_is_none() -> None:
    assert Recipe().changed(epochs=3, batch_size=None) == Recipe(epochs=3)
