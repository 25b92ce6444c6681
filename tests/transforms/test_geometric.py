"""Scaling and translation: geometry, inverses, and agreement with an independent implementation."""

from __future__ import annotations

import kornia.geometry.transform as oracle
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from scn import transforms

SCALING, TRANSLATION = transforms.get("scaling"), transforms.get("translation")
NAMES = ["rotation", "scaling", "translation"]
PRESETS = [transforms.get(name, preset) for name in NAMES for preset in ("default", "paper")]
each = pytest.mark.parametrize("transform", PRESETS)
factors = st.floats(0.2, 2.0)
shifts = st.tuples(st.floats(-8, 8), st.floats(-8, 8))


def images(n: int = 4, channels: int = 1) -> Tensor:
    return torch.rand(n, channels, 32, 32, generator=torch.Generator().manual_seed(0))


def smooth() -> Tensor:
    grid = torch.linspace(-1, 1, 32)
    return (0.5 + 0.4 * torch.cos(2 * grid.view(-1, 1) + grid)).view(1, 1, 32, 32)


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_neutral_params_change_nothing(preset: str) -> None:
    x = images(20, 3)
    for name, neutral in (("scaling", [1.0]), ("translation", [0.0, 0.0])):
        transform = transforms.get(name, preset)
        for batch in (x, transform.arranged(x)):
            assert torch.equal(transform.apply(batch, torch.tensor(neutral)), x)


@given(factors)
@settings(deadline=None, max_examples=30)
def test_scaling_agrees_with_kornia(factor: float) -> None:
    x = images(channels=3)
    expected = oracle.scale(x, torch.full((4, 2), factor), padding_mode="zeros", align_corners=True)
    ours = SCALING.apply(x, torch.tensor([factor]))
    torch.testing.assert_close(ours, expected, atol=2e-3, rtol=0)


@given(shifts)
@settings(deadline=None, max_examples=30)
def test_translation_agrees_with_kornia(shift: tuple[float, float]) -> None:
    x = images(channels=3)
    expected = oracle.translate(x, torch.tensor(shift).expand(4, 2), padding_mode="zeros", align_corners=True)
    ours = TRANSLATION.apply(x, torch.tensor(shift))
    torch.testing.assert_close(ours, expected, atol=2e-3, rtol=0)


def test_translation_moves_right_and_down() -> None:
    x = torch.zeros(1, 1, 32, 32)
    x[0, 0, 10, 10] = 1
    moved = TRANSLATION.apply(x, torch.tensor([3.0, -2.0]))
    assert moved[0, 0, 8, 13] == 1
    assert moved.sum() == 1


def test_scaling_below_one_makes_smaller() -> None:
    half = SCALING.apply(torch.ones(1, 1, 32, 32), torch.tensor([0.5]))
    assert half.sum().item() == pytest.approx(16 * 16, rel=0.05)


@given(st.floats(0.7, 1.0))
@settings(deadline=None, max_examples=20)
def test_scaling_down_and_up_again_restores_a_smooth_image_inside(factor: float) -> None:
    x, params = smooth(), torch.tensor([factor])
    restored = SCALING.invert(SCALING.apply(x, params), params)
    assert (restored - x)[..., 3:-3, 3:-3].abs().max() < 0.03


@given(shifts)
@settings(deadline=None, max_examples=20)
def test_shifting_back_restores_what_stayed_inside(shift: tuple[float, float]) -> None:
    x, params = smooth(), torch.tensor(shift)
    restored = TRANSLATION.invert(TRANSLATION.apply(x, params), params)
    assert (restored - x)[..., 9:-9, 9:-9].abs().max() < 0.03


@pytest.mark.parametrize("name", NAMES)
def test_an_image_of_background_alone_stays_so_there_and_back(name: str) -> None:
    transform, x = transforms.get(name, "grey"), torch.full((8, 1, 32, 32), 0.5)
    params = transform.sample(8, torch.Generator().manual_seed(0))
    changed = transform.apply(x, params)
    torch.testing.assert_close(changed, x)
    torch.testing.assert_close(transform.invert(changed, params), x)


@each
def test_one_setting_groups_and_samples_agree(transform: transforms.Transform) -> None:
    x, params = images(12, 3), transform.sample(4, torch.Generator().manual_seed(1))
    each_sample = params.repeat_interleave(3, 0)
    expected = torch.cat([transform.apply(x[i : i + 1], each_sample[i]) for i in range(12)])
    torch.testing.assert_close(transform.apply(x, params), expected, atol=1e-5, rtol=0)


@each
def test_every_transform_keeps_its_promises(transform: transforms.Transform) -> None:
    drawn = transform.sample(50, torch.Generator().manual_seed(0))
    assert drawn.shape == (50, len(transform.parameters))
    grid = transform.grid(5)
    assert grid.shape == (5 ** len(transform.parameters), len(transform.parameters))
    alpha = transform.encode(grid)
    assert alpha.shape == (len(grid), transform.alpha_dim)
    assert alpha.abs().max() <= 2
    for parameter in transform.parameters:
        assert parameter.steps(transform.default_step) > 1
    assert transform.apply(images(), drawn[0]).shape == (4, 1, 32, 32)
    assert transform.apply(images(0), drawn[0]).shape == (0, 1, 32, 32)


@pytest.mark.parametrize("factor", [0.0, -1.0])
def test_a_factor_that_is_not_positive(factor: float) -> None:
    with pytest.raises(ValueError, match="the factor of scaling must be positive"):
        SCALING.apply(images(), torch.tensor([factor]))
