"""Base models start from the distribution of the plain backbone, or near a pretrained one."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import Tensor, nn

import scn


def backbone() -> nn.Sequential:
    return nn.Sequential(nn.Linear(100, 200), nn.BatchNorm1d(200), nn.ReLU(), nn.Linear(200, 10))


def test_each_base_is_its_own_draw_from_the_distribution_of_the_backbone() -> None:
    plain = backbone()
    weights = scn.SCN(plain, 2, 4).subspace.base_sets()
    assert torch.equal(weights["0.weight"][0], plain.get_parameter("0.weight"))
    for base in weights["0.weight"]:
        assert base.abs().max() <= 0.1  # nn.Linear draws from +-1/sqrt(inputs)
        assert base.std().item() == pytest.approx(0.1 / 3**0.5, rel=0.02)
    rows = weights["0.weight"].flatten(1)
    assert torch.corrcoef(rows).fill_diagonal_(0).abs().max() < 0.05
    assert (weights["1.weight"] == 1).all()


def test_a_pretrained_backbone_with_small_noise() -> None:
    plain = backbone()
    net = scn.SCN(plain, 2, 4, init="pretrained", noise=0.05)
    weights = net.subspace.base_sets()
    pretrained = plain.get_parameter("0.weight")
    difference = weights["0.weight"] - pretrained
    assert difference.std().item() == pytest.approx(0.05 * pretrained.std().item(), rel=0.05)
    assert (weights["1.weight"] == 1).all()  # a constant has no spread to scale noise with
    x = torch.randn(8, 100)
    torch.testing.assert_close(net.eval()(x, torch.zeros(2)), plain.eval()(x), atol=0.1, rtol=0)


def test_a_function_makes_each_base() -> None:
    def custom() -> nn.Module:
        layer = nn.Linear(3, 3)
        nn.init.orthogonal_(layer.weight)
        return layer

    weights = scn.SCN(custom(), 2, 3, init=custom).subspace.base_sets()["weight"]
    for base in weights:
        torch.testing.assert_close(base @ base.T, torch.eye(3), atol=1e-5, rtol=0)
    assert not torch.equal(weights[0], weights[1])


def test_a_function_that_makes_another_shape_is_an_error() -> None:
    with pytest.raises(ValueError, match='"weight" has another shape'):
        scn.SCN(nn.Linear(3, 3), 2, 3, init=lambda: nn.Linear(3, 4))


def test_an_outer_reset_has_the_last_word() -> None:
    class Zeroed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 3)
            self.reset_parameters()

        def reset_parameters(self) -> None:
            nn.init.constant_(self.layer.weight, 5)

        def forward(self, x: Tensor) -> Tensor:
            return self.layer(x)

    assert (scn.SCN(Zeroed(), 2, 3).subspace.base_sets()["layer.weight"] == 5).all()


class Own(nn.Module):
    def __init__(self, start: Tensor) -> None:
        super().__init__()
        self.own = nn.Parameter(start)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.own


def test_a_random_parameter_that_cannot_be_drawn_again_is_worth_a_warning() -> None:
    with pytest.warns(UserWarning, match="no reset_parameters draws own"):
        scn.SCN(Own(torch.randn(4)), 2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scn.SCN(Own(torch.ones(4)), 2, 3)
        scn.SCN(Own(torch.randn(4)), 2, 3, init=lambda: Own(torch.randn(4)))


def test_a_seed_makes_the_start_repeatable_and_leaves_the_global_generator_alone() -> None:
    plain = backbone()
    state = torch.get_rng_state()
    first = scn.SCN(plain, 2, 3, seed=1)
    assert torch.equal(torch.get_rng_state(), state)
    torch.rand(5)
    second, third = scn.SCN(plain, 2, 3, seed=1), scn.SCN(plain, 2, 3, seed=2)
    for name, value in first.state_dict().items():
        assert torch.equal(value, second.state_dict()[name])
    assert not torch.equal(first.theta, third.theta)
    assert not torch.equal(first.map.get_parameter("hidden.weight"), third.map.get_parameter("hidden.weight"))
