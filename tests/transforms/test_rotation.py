"""Rotation: its geometry, its two presets, and agreement with an independent implementation."""

from __future__ import annotations

import kornia.geometry.transform as oracle
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from scn import transforms
from scn.core.space import Line
from scn.data import to_float

DEFAULT, PAPER = transforms.get("rotation"), transforms.get("rotation", "paper")
both = pytest.mark.parametrize("transform", [DEFAULT, PAPER], ids=["default", "paper"])
angles = st.floats(-720, 720)


def images(n: int = 4, channels: int = 1, size: int = 32) -> torch.Tensor:
    return torch.rand(n, channels, size, size, generator=torch.Generator().manual_seed(0))


def degrees(*values: float) -> torch.Tensor:
    return torch.tensor(values).view(-1, 1)


@both
def test_zero_degrees_change_nothing(transform: transforms.Transform) -> None:
    x = images()
    assert torch.equal(transform.apply(x, degrees(0)), x)


@both
def test_ninety_degrees_are_counter_clockwise_and_exact(transform: transforms.Transform) -> None:
    x = images(channels=3)
    torch.testing.assert_close(transform.apply(x, degrees(90)), torch.rot90(x, 1, (2, 3)), atol=1e-5, rtol=0)


@both
def test_four_quarter_turns_are_the_identity(transform: transforms.Transform) -> None:
    x = turned = images()
    for _ in range(4):
        turned = transform.apply(turned, degrees(90))
    torch.testing.assert_close(turned, x, atol=1e-4, rtol=0)


@both
@pytest.mark.parametrize(("batch", "rows"), [(12, 1), (12, 3), (12, 12), (240, 4)])
@pytest.mark.parametrize("channels", [1, 3])
def test_one_angle_groups_and_single_samples_agree(
    transform: transforms.Transform, batch: int, rows: int, channels: int
) -> None:
    x, params = images(batch, channels, 8), transform.sample(rows, torch.Generator().manual_seed(1))
    each = params.repeat_interleave(batch // rows, 0)
    expected = torch.cat([transform.apply(x[i : i + 1], each[i]) for i in range(batch)])
    torch.testing.assert_close(transform.apply(x, params), expected, atol=1e-5, rtol=0)


@given(angles)
@settings(deadline=None, max_examples=40)
def test_the_default_agrees_with_kornia(angle: float) -> None:
    x = images(channels=3)
    expected = oracle.rotate(x, torch.tensor([angle]).expand(4), padding_mode="zeros", align_corners=True)
    torch.testing.assert_close(DEFAULT.apply(x, degrees(angle)), expected, atol=2e-3, rtol=0)


@given(angles)
@settings(deadline=None, max_examples=40)
def test_the_paper_preset_agrees_with_kornia_but_for_ties(angle: float) -> None:
    x = images() * 2 - 1  # normalised, where the background of the published code is 0
    expected = oracle.rotate(
        x, torch.tensor([angle]).expand(4), mode="nearest", padding_mode="zeros", align_corners=True
    )
    ours = PAPER.apply((x + 1) / 2, degrees(angle)) * 2 - 1
    assert ((ours - expected).abs() > 1e-5).float().mean() < 0.01


@given(angles)
@settings(deadline=None, max_examples=30)
def test_inverting_restores_a_smooth_image_inside_the_circle(angle: float) -> None:
    grid = torch.linspace(-1, 1, 32)
    radius = (grid.view(-1, 1).square() + grid.square()).sqrt()
    x = (0.5 + 0.5 * torch.cos(3 * grid.view(-1, 1) + 2 * grid)).view(1, 1, 32, 32)
    restored = DEFAULT.invert(DEFAULT.apply(x, degrees(angle)), degrees(angle))
    assert ((restored - x).abs().view(32, 32)[radius < 0.85]).max() < 0.03


@both
def test_corners_have_the_background_value(transform: transforms.Transform) -> None:
    corner = transform.apply(torch.ones(1, 1, 32, 32), degrees(45))[0, 0, 0, 0]
    assert corner.item() == {id(DEFAULT): 0.0, id(PAPER): 0.5}[id(transform)]


@given(angles)
def test_encoding_is_the_unit_circle_and_has_no_seam(angle: float) -> None:
    alpha = DEFAULT.encode(degrees(angle))
    torch.testing.assert_close(alpha.norm(dim=-1), torch.ones(1))
    torch.testing.assert_close(alpha, DEFAULT.encode(degrees(angle + 360)), atol=2e-5, rtol=0)


def test_encoding_is_continuous() -> None:
    alpha = DEFAULT.encode(DEFAULT.grid(3600))
    assert (alpha - alpha.roll(1, 0)).norm(dim=1).max() < 0.0018


def test_the_grid_covers_the_circle_once() -> None:
    grid = DEFAULT.grid(360)
    assert grid.shape == (360, 1)
    assert torch.equal(grid[:, 0], torch.arange(360.0))


def test_samples_cover_the_range_and_repeat_by_seed() -> None:
    draw = DEFAULT.sample(5000, torch.Generator().manual_seed(3))
    assert draw.shape == (5000, 1)
    assert 0 <= draw.min() < 1
    assert 359 < draw.max() < 360
    assert torch.equal(draw, DEFAULT.sample(5000, torch.Generator().manual_seed(3)))


@both
def test_an_arranged_batch_gives_the_same_result(transform: transforms.Transform) -> None:
    x = images(20, 3)
    arranged = transform.arranged(x)
    assert torch.equal(arranged, x)
    turned = transform.apply(x, degrees(33))
    torch.testing.assert_close(transform.apply(arranged, degrees(33)), turned, atol=1e-5, rtol=0)


def test_an_empty_batch_stays_empty() -> None:
    assert DEFAULT.apply(images(0), degrees(10)).shape == (0, 1, 32, 32)


def test_uint8_images_become_fractions() -> None:
    assert torch.equal(to_float(torch.tensor([0, 255], dtype=torch.uint8)), torch.tensor([0.0, 1.0]))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (torch.zeros(2), r"1 value\(s\) in a row \(angle\), but their shape is \(2,\)"),
        (torch.zeros(1, 1, 1), "1 or 2 dimensions"),
        (torch.tensor([float("nan")]), "finite"),
        (torch.zeros(3, 1), "3 params cannot be shared out over a batch of 4"),
        (torch.zeros(0, 1), "0 params cannot"),
    ],
)
def test_wrong_params(params: torch.Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DEFAULT.apply(images(), params)


@pytest.mark.parametrize("x", [torch.zeros(2, 1, 4, 4, dtype=torch.uint8), torch.zeros(1, 4, 4)])
def test_images_of_the_wrong_kind(x: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="images must be floating-point"):
        PAPER.apply(x, degrees(0))


@both
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_coarse_types_are_rotated_in_full_precision(
    transform: transforms.Transform, dtype: torch.dtype
) -> None:
    x = images().to(dtype)
    expected = transform.apply(x.float(), degrees(33)).to(dtype)
    assert torch.equal(transform.apply(x, degrees(33)), expected)


@both
def test_images_of_a_single_row(transform: transforms.Transform) -> None:
    x = torch.rand(3, 1, 1, 8)
    torch.testing.assert_close(transform.apply(x, degrees(180)), x.flip(3), atol=1e-5, rtol=0)


@pytest.mark.parametrize("params", [torch.tensor(30.0), torch.zeros(3)])
def test_encoding_checks_its_params(params: torch.Tensor) -> None:
    with pytest.raises(ValueError, match=r"1 value\(s\) in a row"):
        DEFAULT.encode(params)


def test_an_unknown_interpolation() -> None:
    with pytest.raises(ValueError, match='there is no interpolation "bicubic"'):
        transforms.Rotation(interpolation="bicubic")  # type: ignore[arg-type]


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match='Did you mean "rotation"'):
        transforms.get("rotatoin")
    with pytest.raises(ValueError, match=r'no preset "exact"\. Known: default, paper'):
        transforms.get("rotation", "exact")


@pytest.mark.parametrize("step", [0.0, -1.0, 7.0, 720.0, 1e-9, float("nan")])
def test_a_step_that_does_not_divide_the_range(step: float) -> None:
    with pytest.raises(ValueError, match="step"):
        DEFAULT.parameters[0].steps(step)


def test_a_transform_without_an_inverse_says_so() -> None:
    class OneWay(transforms.Rotation):
        invert = transforms.Transform.invert

    with pytest.raises(TypeError, match="OneWay cannot be undone"):
        OneWay().invert(images(), degrees(1))


def test_half_a_turn_is_a_line_of_angles() -> None:
    half = transforms.get("rotation", "half-turn")
    (angle,) = half.parameters
    assert (angle.low, angle.high, angle.periodic) == (0.0, 180.0, False)
    assert half.encode(degrees(0, 90, 180)).tolist() == [[-1.0], [0.0], [1.0]]
    space = half.space()
    assert space is not None
    assert [(axis.low, axis.high) for axis in space if isinstance(axis, Line)] == [(-1.0, 1.0)]
    x = images()
    for value in (0.0, 30.0, 180.0):
        assert torch.equal(half.apply(x, degrees(value)), DEFAULT.apply(x, degrees(value)))
        assert torch.equal(half.invert(x, degrees(value)), DEFAULT.invert(x, degrees(value)))
    assert half.outside(degrees(181.0))
