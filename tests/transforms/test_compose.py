"""Several transforms at once behave as one after the other."""

from __future__ import annotations

import pytest
import torch

from scn import transforms
from scn.transforms.geometric import Geometric

X = torch.rand(8, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def test_the_parts_are_applied_in_their_order() -> None:
    both = transforms.get("rotation+scaling")
    params = torch.tensor([[30.0, 0.7], [200.0, 1.4]])
    rotation, scaling = transforms.get("rotation"), transforms.get("scaling")
    expected = scaling.apply(rotation.apply(X, params[:, :1]), params[:, 1:])
    torch.testing.assert_close(both.apply(X, params), expected)
    assert torch.equal(both.encode(params)[:, :2], rotation.encode(params[:, :1]))
    assert torch.equal(both.encode(params)[:, 2:], scaling.encode(params[:, 1:]))
    assert both.alpha_dim == 3


def test_they_are_undone_in_the_opposite_order() -> None:
    both, params = transforms.get("translation+rotation"), torch.tensor([3.0, -2.0, 90.0])
    changed = both.apply(X, params)
    torch.testing.assert_close(both.invert(changed, params)[:, :, 8:24, 8:24], X[:, :, 8:24, 8:24])
    assert both.invertible


def test_a_composition_can_be_undone_only_if_every_part_can() -> None:
    assert not transforms.get("rotation-3d").invertible
    assert not transforms.get("rotation-3d+scaling").invertible


def test_each_part_keeps_its_range_and_names_are_told_apart() -> None:
    three = transforms.get("scaling+rotation+scaling")
    assert [p.name for p in three.parameters] == ["scaling factor", "angle", "scaling factor"]
    draws = three.sample(500, torch.Generator().manual_seed(0))
    lows, highs = ([getattr(p, end) for p in three.parameters] for end in ("low", "high"))
    assert (draws >= torch.tensor(lows)).all()
    assert (draws <= torch.tensor(highs)).all()


def test_the_grid_has_a_few_hundred_settings_however_many_parts() -> None:
    for name in ("rotation+scaling", "rotation+scaling+translation"):
        assert 200 <= len(transforms.get(name).regular()) <= 500
    with pytest.raises(ValueError, match="no step in common"):
        transforms.get("rotation+scaling").regular(5.0)


def test_a_preset_reaches_the_parts_that_have_it() -> None:
    both = transforms.get("rotation+scaling", "paper")
    assert isinstance(both, transforms.Composed)
    assert [part.fill for part in both.parts if isinstance(part, Geometric)] == [0.5, 0.5]


def test_what_cannot_be_composed_is_said() -> None:
    with pytest.raises(ValueError, match="light is measured"):
        transforms.get("rotation+light")
    with pytest.raises(ValueError, match="rotation"):
        transforms.get("rotaton+scaling")


def test_a_composition_draws_evenly_what_its_parts_do() -> None:
    """Turns in space do not crowd about poles because they are one part of several."""
    both, alone = transforms.get("rotation-3d+brightness"), transforms.get("rotation-3d")
    drawn = both.evenly(50, torch.Generator().manual_seed(0))
    assert drawn.shape == (50, len(both.parameters))
    torch.testing.assert_close(drawn[:, :3], alone.evenly(50, torch.Generator().manual_seed(0)))
