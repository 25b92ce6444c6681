"""Spaces of alpha: what each holds, how it is drawn from, and what a file says of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from scn import transforms
from scn.core import space as spaces
from scn.core.errors import ScnError
from scn.core.space import Categories, Circle, Line, Space, Turns, matrix_of
from scn.transforms import Parameter, Transform

PI = math.pi

SPACES: list[Space] = [
    (Line(),),
    (Line(-3, 900.5),),
    (Circle(),),
    (Turns(),),
    (Categories(3),),
    (Circle(), Line(0, 2)),
    (Turns(), Categories(2)),
]
each_space = pytest.mark.parametrize("space", SPACES, ids=lambda s: " x ".join(type(a).__name__ for a in s))

NAMES = list(transforms.registry)
PRESETS = [(name, preset) for name in NAMES for preset in transforms.registry.get(name).presets]


def outside(space: Space, alpha: torch.Tensor) -> list[bool]:
    """For each row, by numbers; the same must come out by tensors."""
    found = []
    for row in alpha:
        parts = [part.tolist() for part in spaces.parts_of(row, space)]
        found.append(any(bool(axis.outside(*part)) for axis, part in zip(space, parts, strict=True)))
    columns = spaces.parts_of(alpha, space)
    together = [axis.outside(*part.unbind(-1)) for axis, part in zip(space, columns, strict=True)]
    assert torch.stack(together).any(dim=0).tolist() == found
    return found


@each_space
def test_what_is_drawn_from_a_space_lies_in_it(space: Space) -> None:
    drawn = spaces.draw(space, 50, torch.Generator().manual_seed(0))
    assert drawn.shape == (50, spaces.size_of(space))
    assert not any(outside(space, drawn))
    assert torch.equal(drawn, spaces.draw(space, 50, torch.Generator().manual_seed(0)))
    assert spaces.draw(space, 0).shape == (0, spaces.size_of(space))


@pytest.mark.parametrize(
    ("space", "alpha"),
    [
        ((Line(),), [1.1]),
        ((Line(0, 100),), [-0.2]),
        ((Circle(),), [0.5, 0.5]),
        ((Circle(),), [0.0, 0.0]),
        ((Turns(),), [0.0] * 9),
        ((Turns(),), [1.0, 0, 0, 0, 1, 0, 0, 0, -1]),  # a mirror
        ((Turns(),), [1.1, 0, 0, 0, 1, 0, 0, 0, 1]),
        ((Turns(),), [1.0, 0, 0, 1, 0, 0, 0, 0, 1]),
        ((Categories(3),), [3.0]),
        ((Categories(3),), [-1.0]),
        ((Categories(3),), [0.5]),
        ((Circle(), Line()), [1.0, 0.0, 7.0]),
    ],
)
def test_what_no_setting_has_lies_outside(space: Space, alpha: list[float]) -> None:
    assert outside(space, torch.tensor([alpha])) == [True]


def test_the_last_digit_of_a_sensor_does_not_lie_outside() -> None:
    assert outside((Line(0, 1000),), torch.tensor([[1000.5], [-0.5], [1001.5]])) == [False, False, True]


@each_space
def test_a_space_is_what_a_file_says(space: Space) -> None:
    assert spaces.from_json(spaces.to_json(space)) == space


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        ({"kind": "sphere"}, "no kind of axis 'sphere': it may need a newer scn"),
        ({}, "no kind of axis None"),
        (
            {"kind": "line", "low": 0, "high": 1, "bent": 2},
            "a line is not known with low, high, bent: .* newer",
        ),
        ({"kind": "line", "low": 0}, "a line is not known with low"),
        ({"kind": "line", "low": 1, "high": 1}, "a line goes from low to high, but this is 1 to 1"),
        ({"kind": "categories", "count": 0}, "at least one category, but there are 0"),
    ],
)
def test_a_space_of_a_newer_version_or_a_damaged_one_is_explained(axis: dict[str, Any], message: str) -> None:
    with pytest.raises(ScnError, match=message):
        spaces.from_json([axis])


def test_two_values_are_an_angle_unless_something_else_is_said() -> None:
    assert spaces.usual(2) == (Circle(),)
    assert spaces.usual(1) == (Line(),)
    assert spaces.usual(3) == (Line(), Line(), Line())


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(lambda q: sum(v * v for v in q) > 1e-2))
def test_four_numbers_are_a_rotation_and_so_are_their_negatives(numbers: list[float]) -> None:
    quaternion = torch.tensor(numbers)
    matrix = matrix_of(quaternion)
    torch.testing.assert_close(matrix @ matrix.mT, torch.eye(3), atol=1e-5, rtol=0)
    assert matrix.det() > 0.99
    torch.testing.assert_close(matrix_of(-quaternion), matrix)
    assert not any(outside((Turns(),), matrix.reshape(1, 9)))


def settings_of(transform: Transform) -> torch.Tensor:
    """A grid, its corners, and some draws."""
    return torch.cat([transform.grid(5), transform.sample(20, torch.Generator().manual_seed(0))])


@pytest.mark.parametrize(("name", "preset"), PRESETS, ids=[f"{n}, {p}" for n, p in PRESETS])
def test_every_setting_of_a_transform_lies_in_the_space_that_it_names(name: str, preset: str) -> None:
    transform = transforms.get(name, preset)
    space = transform.space()
    assert space is not None
    assert spaces.size_of(space) == transform.alpha_dim
    alpha = transform.encode(settings_of(transform))
    assert not any(outside(space, alpha))


def test_a_composition_has_the_axes_of_its_parts() -> None:
    transform = transforms.get("rotation+scaling+translation", "default")
    parts = [transforms.get(name, "default").space() or () for name in ("rotation", "scaling", "translation")]
    assert transform.space() == tuple(axis for part in parts for axis in part)
    assert not any(outside(transform.space() or (), transform.encode(transform.grid(2))))


@pytest.mark.parametrize(
    ("way", "periodic", "expected"),
    [
        (lambda value: value * 3, False, (Line(0.0, 6.0),)),
        (lambda value: 1 / (1 + value), False, (Line(1 / 3, 1.0),)),
        (lambda value: (value - 1).square(), False, None),  # two settings have one alpha
        (lambda value: value.expand(-1, 2), False, None),
        (lambda value: torch.cat([(PI * value).cos(), (PI * value).sin()], dim=1), True, (Circle(),)),
        (lambda value: torch.cat([(PI * value).cos(), value], dim=1), True, None),
    ],
    ids=["rising", "falling", "folded", "two values", "circle", "no circle"],
)
def test_the_space_of_a_transform_of_ones_own_is_seen_from_its_encoding(
    way: Callable[[torch.Tensor], torch.Tensor], periodic: bool, expected: spaces.Space | None
) -> None:
    class Own(Transform):
        parameters = (Parameter("own", 0.0, 2.0, periodic=periodic),)
        alpha_dim = way(torch.zeros(1, 1)).shape[1]

        def encode(self, params: torch.Tensor) -> torch.Tensor:
            return way(params)

        def apply(self, x: torch.Tensor, params: torch.Tensor) -> torch.Tensor:
            return x

    found = Own().space()
    assert (found is None) == (expected is None)
    if expected is not None:
        assert [type(axis) for axis in found or ()] == [type(axis) for axis in expected]
        assert str(found[0]) == str(expected[0])  # type: ignore[index]


def test_of_several_parameters_of_ones_own_nothing_is_known() -> None:
    class Own(transforms.Translation):
        def encodings(self) -> Any:
            return None

    assert Own().space() is None
