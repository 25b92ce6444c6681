"""Colour transforms: agreement with Pillow and kornia, their inverses, and their two presets."""

from __future__ import annotations

import kornia.enhance as oracle
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageEnhance
from torch import Tensor

from scn import transforms

NAMES = ["brightness", "contrast", "saturation", "sharpness"]
each = pytest.mark.parametrize("name", NAMES)
presets = pytest.mark.parametrize("preset", ["default", "paper"])
factors = st.floats(0.2, 2.0)
PILLOW = {
    "brightness": ImageEnhance.Brightness,
    "contrast": ImageEnhance.Contrast,
    "saturation": ImageEnhance.Color,
    "sharpness": ImageEnhance.Sharpness,
}
KORNIA = {
    "brightness": oracle.adjust_brightness_accumulative,
    "contrast": oracle.adjust_contrast_with_mean_subtraction,
    "saturation": oracle.adjust_saturation_with_gray_subtraction,
    "sharpness": oracle.sharpness,
}


def images(n: int = 4, channels: int = 3) -> Tensor:
    return torch.rand(n, channels, 12, 10, generator=torch.Generator().manual_seed(0))


def changed(name: str, x: Tensor, *factor: float, preset: str = "default") -> Tensor:
    return transforms.get(name, preset).apply(x, torch.tensor(factor).view(-1, 1))


@each
@pytest.mark.parametrize("channels", [1, 3])
def test_factor_one_changes_nothing(name: str, channels: int) -> None:
    x = images(channels=channels)
    assert torch.equal(changed(name, x, 1.0), x)
    assert torch.equal(changed(name, x, 0.5, 1.0)[2:], x[2:])


@each
@given(factor=factors, channels=st.sampled_from([1, 3]))
@settings(deadline=None, max_examples=30)
def test_it_agrees_with_pillow_to_two_grey_levels(name: str, factor: float, channels: int) -> None:
    pixels = (images(1, channels)[0].permute(1, 2, 0) * 255).to(torch.uint8)
    expected = PILLOW[name](Image.fromarray(pixels.squeeze(-1).numpy())).enhance(factor)
    ours = changed(name, pixels.permute(2, 0, 1).unsqueeze(0) / 255, factor)[0].permute(1, 2, 0).squeeze(-1)
    assert np.abs(np.asarray(expected, dtype=float) - ours.numpy() * 255).max() < 2


@each
@given(factor=factors)
@settings(deadline=None, max_examples=30)
def test_it_agrees_with_kornia(name: str, factor: float) -> None:
    x = images()
    ours = changed(name, x, factor)
    torch.testing.assert_close(ours, KORNIA[name](x, factor).clamp(0, 1), atol=1e-5, rtol=0)


@each
@given(factor=factors)
@settings(deadline=None, max_examples=30)
def test_inverting_restores_what_was_not_clipped(name: str, factor: float) -> None:
    transform, params = transforms.get(name), torch.tensor([factor])
    x = 0.3 + 0.2 * images()
    torch.testing.assert_close(transform.invert(transform.apply(x, params), params), x, atol=1e-5, rtol=0)


@each
@given(factor=factors)
@settings(deadline=None, max_examples=30)
def test_the_result_stays_between_black_and_white(name: str, factor: float) -> None:
    for preset in ("default", "paper"):
        y = changed(name, images(), factor, preset=preset)
        assert 0 <= y.min() <= y.max() <= 1


def dull_by_hand(name: str, x: Tensor) -> Tensor:
    grey = (x * torch.tensor([0.299, 0.587, 0.114]).view(3, 1, 1)).sum(1, keepdim=True)
    kernel = torch.tensor([[1.0, 1, 1], [1, 5, 1], [1, 1, 1]]).div(13).expand(3, 1, 3, 3)
    smooth = x.clone()
    smooth[..., 1:-1, 1:-1] = torch.nn.functional.conv2d(x, kernel, groups=3)
    black, mean = torch.zeros_like(x), grey.mean((1, 2, 3), keepdim=True).expand_as(x)
    return {"brightness": black, "contrast": mean, "saturation": grey, "sharpness": smooth}[name]


@each
@given(factor=factors)
@settings(deadline=None, max_examples=30)
def test_the_paper_preset_clips_the_normalised_image(name: str, factor: float) -> None:
    x = 2 * images() - 1
    dull = dull_by_hand(name, x)  # kornia clips negative values on the way, the published code does not
    expected = (factor * x + (1 - factor) * dull).clamp(0, 1)
    ours = changed(name, images(), factor, preset="paper") * 2 - 1
    torch.testing.assert_close(ours, expected, atol=1e-5, rtol=0)


@each
def test_in_the_paper_preset_factor_one_cuts_off_the_dark_half(name: str) -> None:
    x = images()
    torch.testing.assert_close(changed(name, x, 1.0, preset="paper"), x.clamp(min=0.5))


def test_a_normalisation_for_each_channel() -> None:
    x, mean, deviation = images(), (0.5, 0.4, 0.3), (0.2, 0.3, 0.4)
    y = transforms.Brightness(mean, deviation).apply(x, torch.tensor([0.7]))
    m, d = (torch.tensor(v).view(3, 1, 1) for v in (mean, deviation))
    torch.testing.assert_close(y, ((x - m) / d * 0.7).clamp(0, 1) * d + m)


@each
@presets
def test_one_factor_groups_and_samples_agree(name: str, preset: str) -> None:
    transform, x = transforms.get(name, preset), images(12)
    params = transform.sample(4, torch.Generator().manual_seed(1))
    for change in (transform.apply, transform.invert):
        apart = torch.cat([change(x[3 * i : 3 * i + 3], params[i]) for i in range(4)])
        assert torch.equal(change(x, params), apart)
        torch.testing.assert_close(change(x, params.repeat_interleave(3, 0)), apart)


@each
def test_the_memory_order_of_the_images_does_not_matter(name: str) -> None:
    x = images()
    arranged = transforms.get("rotation").arranged(x)
    torch.testing.assert_close(changed(name, arranged, 0.4), changed(name, x, 0.4))


@each
@presets
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_type_and_the_shape_stay(name: str, preset: str, dtype: torch.dtype) -> None:
    y = changed(name, images().to(dtype), 0.5, preset=preset)
    assert (y.dtype, y.shape) == (dtype, (4, 3, 12, 10))
    exact = changed(name, images().to(dtype).double(), 0.5, preset=preset).to(dtype)
    torch.testing.assert_close(y, exact)
    assert changed(name, images(0), 0.5, preset=preset).shape == (0, 3, 12, 10)


@each
def test_the_input_is_left_alone(name: str) -> None:
    x = images()
    changed(name, x, 1.5)
    transforms.get(name).invert(x, torch.tensor([1.5]))
    assert torch.equal(x, images())


@each
def test_params_and_alpha(name: str) -> None:
    transform = transforms.get(name)
    assert transform.regular().shape == (37, 1)
    assert torch.equal(transform.encode(transform.grid(5)), transform.grid(5))
    drawn = transform.sample(2000, torch.Generator().manual_seed(0))
    assert 0.2 <= drawn.min() < 0.21
    assert 1.99 < drawn.max() <= 2


def test_contrast_keeps_the_mean_grey_and_brightness_scales_it() -> None:
    x = 0.4 + 0.2 * images(channels=1)
    torch.testing.assert_close(changed("contrast", x, 0.3).mean((1, 2, 3)), x.mean((1, 2, 3)))
    torch.testing.assert_close(changed("brightness", x, 0.3), 0.3 * x)


def test_saturation_does_not_change_images_of_one_channel() -> None:
    x = images(channels=1)
    assert torch.equal(changed("saturation", x, 0.2), x)


@pytest.mark.parametrize("shape", [(1, 1), (2, 9), (9, 2), (3, 3)])
def test_sharpness_leaves_the_border_alone_and_can_be_undone_at_any_size(shape: tuple[int, int]) -> None:
    x, params, transform = (
        0.4 + 0.2 * torch.rand(2, 1, *shape),
        torch.tensor([0.2]),
        transforms.get("sharpness"),
    )
    y = transform.apply(x, params)
    inside = torch.zeros(shape, dtype=torch.bool)
    inside[1:-1, 1:-1] = True
    assert torch.equal(y[..., ~inside], x[..., ~inside])
    assert inside.any() != torch.equal(x, y)
    torch.testing.assert_close(transform.invert(y, params), x, atol=1e-5, rtol=0)


def test_sharpness_above_one_strengthens_a_spot_and_below_one_blurs_it() -> None:
    x = torch.full((1, 1, 7, 7), 0.4)
    x[..., 3, 3] = 0.6
    assert changed("sharpness", x, 2.0)[..., 3, 3] > 0.7
    assert changed("sharpness", x, 0.2)[..., 3, 3] < 0.55


@each
@pytest.mark.parametrize(
    ("params", "message"),
    [
        (torch.tensor([0.0]), "the factor of {} must be positive, but is 0"),
        (torch.tensor([-1.0]), "the factor of {} must be positive, but is -1"),
        (torch.tensor([float("nan")]), "finite"),
        (torch.ones(3, 1), "3 params cannot be shared out over a batch of 4"),
        (torch.ones(2), r"1 value\(s\) in a row \(factor\)"),
    ],
)
def test_wrong_params(name: str, params: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message.format(name)):
        transforms.get(name).apply(images(), params)


@each
@pytest.mark.parametrize("x", [torch.zeros(4, 3, 8, 8, dtype=torch.uint8), torch.zeros(4, 1, 800)])
def test_images_of_the_wrong_kind(name: str, x: Tensor) -> None:
    with pytest.raises(ValueError, match="images must be floating-point"):
        changed(name, x, 0.5)


@pytest.mark.parametrize("name", ["contrast", "saturation"])
def test_two_channels_have_no_grey_version(name: str) -> None:
    with pytest.raises(
        ValueError, match="only images of 1 or 3 channels have a grey version, but these have 2"
    ):
        changed(name, images(channels=2), 0.5)


def test_a_deviation_of_zero() -> None:
    with pytest.raises(ValueError, match="the deviation must be positive"):
        transforms.Contrast(mean=(0.5,), deviation=(0.0,))
