"""Turning a cloud of points and looking at it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation as Oracle

from scn import transforms
from scn.transforms import Rotation3D

ANGLES = st.lists(st.floats(-180, 180), min_size=3, max_size=3)


def clouds(n: int, points: int = 500) -> torch.Tensor:
    drawn = torch.randn(n, points, 3, generator=torch.Generator().manual_seed(0))
    return drawn / drawn.norm(dim=-1, keepdim=True) * torch.rand(n, points, 1).fill_(0.9)


@given(ANGLES)
def test_matrices_are_those_of_scipy(angles: list[float]) -> None:
    """Its axes are x, y, z; the turn in the XZ plane from x to z is one about -y."""
    mine = Rotation3D().matrices(torch.tensor([angles]))[0]
    one, two, three = angles
    oracle = Oracle.from_euler("xyz", [one, -two, three], degrees=True).as_matrix()
    torch.testing.assert_close(mine, torch.from_numpy(oracle).float(), atol=1e-5, rtol=0)


def test_one_point_lands_where_geometry_says() -> None:
    point = torch.tensor([[[0.5, 0.0, 0.0]]])
    transform = transforms.get("rotation-3d")
    for params, row, column in (
        ([0.0, 0.0, 0.0], 16, 24),
        ([0.0, 0.0, 90.0], 8, 16),
        ([0.0, 0.0, 180.0], 16, 8),
    ):
        image = transform.apply(point, torch.tensor(params))
        assert image.nonzero().tolist() == [[0, 0, row, column]]
        torch.testing.assert_close(image.max(), torch.tensor(2 / 3))
    front = transform.apply(point, torch.tensor([0.0, 90.0, 0.0]))  # from x towards the viewer
    torch.testing.assert_close(front.max(), torch.tensor(2.5 / 3))


def test_the_nearest_point_hides_the_others() -> None:
    line = torch.tensor([[[0.1, 0.1, -0.8], [0.1, 0.1, 0.4], [0.1, 0.1, 0.1]]])
    zero = torch.zeros(3)
    torch.testing.assert_close(Rotation3D().apply(line, zero).max(), torch.tensor(2.4 / 3))
    count = Rotation3D(image="count").apply(line, zero)
    torch.testing.assert_close(count.max(), 1 - torch.tensor(-3 / 8).exp())


def test_groups_and_samples_are_as_separate_calls() -> None:
    transform, x = Rotation3D(), clouds(6)
    params = transform.sample(6, torch.Generator().manual_seed(1))
    each = torch.cat([transform.apply(x[i : i + 1], params[i]) for i in range(6)])
    assert torch.equal(transform.apply(x, params), each)
    groups = torch.cat([transform.apply(x[:3], params[0]), transform.apply(x[3:], params[1])])
    assert torch.equal(transform.apply(x, params[:2]), groups)


@given(ANGLES)
def test_alpha_is_the_rotation_row_by_row(angles: list[float]) -> None:
    one, two, three = angles
    alpha = Rotation3D().encode(torch.tensor(angles))
    oracle = Oracle.from_euler("xyz", [one, -two, three], degrees=True).as_matrix()
    torch.testing.assert_close(alpha, torch.from_numpy(oracle).float().flatten(), atol=1e-5, rtol=0)
    same = torch.tensor([one + 180, 180 - two, three + 180])  # the same turn, said by other angles
    torch.testing.assert_close(Rotation3D().encode(same), alpha, atol=1e-5, rtol=0)


def test_alpha_has_a_row_for_each_setting_whatever_the_shape() -> None:
    for preset, values in (("default", 9), ("angles", 6), ("paper", 6)):
        transform = transforms.get("rotation-3d", preset)
        assert transform.alpha_dim == values
        params = transform.sample(6)
        alpha = transform.encode(params)
        assert alpha.shape == (6, values)
        assert torch.equal(transform.encode(params[2]), alpha[2])
        torch.testing.assert_close(transform.encode(params.view(2, 3, 3)), alpha.view(2, 3, values))
        assert transform.encode(params[:0]).shape == (0, values)


def test_only_alpha_differs_between_the_presets_default_and_angles() -> None:
    x, params = clouds(2), torch.tensor([[10.0, -20.0, 30.0], [100.0, 50.0, 0.0]])
    default, angles = (transforms.get("rotation-3d", preset) for preset in ("default", "angles"))
    assert torch.equal(default.apply(x, params), angles.apply(x, params))


@pytest.mark.parametrize("preset", ["angles", "paper"])
def test_published_alpha_are_cosine_and_sine_of_each_angle(preset: str) -> None:
    alpha = transforms.get("rotation-3d", preset).encode(torch.tensor([0.0, 90.0, 180.0]))
    torch.testing.assert_close(alpha, torch.tensor([1.0, 0.0, 0.0, 1.0, -1.0, 0.0]), atol=1e-6, rtol=0)


def test_a_full_turn_is_no_turn() -> None:
    x = clouds(2)
    turned = Rotation3D().apply(x, torch.tensor([360.0, -360.0, 0.0]))
    same = turned == Rotation3D().apply(x, torch.zeros(3))
    assert same.double().mean() > 0.99  # a point on the edge of a pixel may fall to either side


def test_bad_input_is_explained() -> None:
    with pytest.raises(ValueError, match=r"needs points \(B, N, 3\)"):
        Rotation3D().apply(torch.rand(2, 1, 32, 32), torch.zeros(3))
    with pytest.raises(TypeError, match="cannot be undone"):
        Rotation3D().invert(clouds(1), torch.zeros(3))
    with pytest.raises(ValueError, match="depth"):
        Rotation3D(image="dept")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='Did you mean "matrix"'):
        Rotation3D(alpha="matric")  # type: ignore[arg-type]
    assert not Rotation3D().invertible
    assert Rotation3D().apply(clouds(2)[:0], torch.zeros(3)).shape == (0, 1, 32, 32)


def test_evenly_drawn_turns_prefer_no_direction() -> None:
    """Where each point of a body comes to lie, and how far it turned: those of even turns (Haar measure)."""
    rotation = Rotation3D()
    turns = rotation.matrices(rotation.evenly(20_000, torch.Generator().manual_seed(0)))
    assert turns.mean(dim=0).abs().max() < 0.02
    assert (turns.square().mean(dim=0) - 1 / 3).abs().max() < 0.01
    assert (turns.pow(4).mean(dim=0) - 1 / 5).abs().max() < 0.01
    crowded = rotation.matrices(rotation.sample(20_000, torch.Generator().manual_seed(0)))
    assert (crowded.square().mean(dim=0) - 1 / 3).abs().max() > 0.1
    trace = turns.diagonal(dim1=1, dim2=2).sum(dim=1)
    assert trace.square().mean().item() == pytest.approx(1.0, abs=0.05)
