"""Places in a space where base models stand: at equal distances, or where they are put."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.core.space import Axis, Circle, Line, Space, matrix_of

GOLDEN, SILVER = math.sqrt(2), 1.533751168755204288118041  # of the spiral through all turns (Alexa, 2022)
REPULSIONS, PUSH = 200, 0.02
NEAREST = 1e-4  # of a turn: nearer places would be one


def grid_sizes(space: Space, dims: int, named: str) -> tuple[int, ...]:
    """How many places each line or circle gets, so that their product is D and no side is twice another.

    Circles get the larger numbers, since what is far on a line may be left out.
    """
    if not all(isinstance(axis, Line | Circle) for axis in space):
        raise ScnError(f"the map {named} has no places in {' x '.join(map(str, space))}: use another map")
    if dims == 1 or len(space) == 1:
        return (dims,) * len(space)
    fitting = _grids(len(space), dims)
    if not fitting:
        below = next((d for d in range(dims - 1, 0, -1) if d == 1 or _grids(len(space), d)), 1)
        above = next(d for d in itertools.count(dims + 1) if _grids(len(space), d))
        raise ScnError(
            f"{dims} base models do not fit a grid over {len(space)} axes: choose dims={below} or {above}, "
            "or the map learned, which takes any number"
        )
    sizes = sorted(min(fitting, key=lambda grid: max(grid) / min(grid)), reverse=True)
    order = sorted(range(len(space)), key=lambda i: not isinstance(space[i], Circle))
    return tuple(sizes[order.index(i)] for i in range(len(space)))


def fits_grid(space: Space, dims: int) -> bool:
    """Whether D base models can stand at equal distances in the space."""
    return dims == 1 or len(space) == 1 or bool(_grids(len(space), dims))


def _grids(axes: int, dims: int) -> list[tuple[int, ...]]:
    sides = [n for n in range(2, dims + 1) if dims % n == 0]
    found = itertools.combinations_with_replacement(sides, axes)
    return [grid for grid in found if math.prod(grid) == dims and max(grid) <= 2 * min(grid)]


def at_equal_distances(axis: Axis, count: int, centred: bool) -> Tensor:
    """(count,): values of a line, or parts of a circle's turn.

    On a line from end to end, or, `centred`, in the middle of as many equal parts.
    """
    if isinstance(axis, Circle):
        return torch.arange(count) / count
    assert isinstance(axis, Line)
    shares = (torch.arange(count) + 0.5) / count if centred or count == 1 else torch.linspace(0, 1, count)
    found = axis.low + (axis.high - axis.low) * shares
    if not bool((found.diff() > 0).all()):
        raise ScnError(f"{count} places from {axis} are too near each other: subtract what all values share")
    return found


def checked_positions(axis: Axis, positions: Sequence[float], dims: int) -> Tensor:
    """Positions that a person gives, for the one axis of a space."""
    values = torch.tensor(list(positions), dtype=torch.float32)
    if len(values) != dims:
        raise ScnError(f"there are {len(values)} positions for {dims} base models")
    if not bool(values.isfinite().all()) or not bool((values.diff() > 0).all()):
        raise ScnError(
            f"positions must be numbers that rise from each to the next, but are {list(positions)}"
        )
    low, high = (0.0, 1.0) if isinstance(axis, Circle) else (axis.low, axis.high)  # type: ignore[union-attr]
    if len(values) and (values[0] < low - 1e-6 or values[-1] > high + 1e-6):
        raise ScnError(f"positions must lie from {low:g} to {high:g}, but are {list(positions)}")
    if isinstance(axis, Circle) and values[-1] - values[0] > 1 - NEAREST:
        raise ScnError(f"positions must differ on the circle, where 1 is 0 again, but are {list(positions)}")
    return values


def turn_of(values: Tensor) -> Tensor:
    """(..., 2) cosine and sine -> (...), the angle as a part of a whole turn, from 0 to 1."""
    return torch.atan2(values[..., 1], values[..., 0]).div(2 * math.pi).remainder(1.0)


def value_on(axis: Axis, values: Tensor) -> Tensor:
    """(..., size) -> (...), where it lies, in the measure of positions; a line's value at most its ends."""
    if isinstance(axis, Circle):
        return turn_of(values)
    assert isinstance(axis, Line)
    return values[..., 0].clamp(axis.low, axis.high)


def number_on(axis: Axis, values: Sequence[float]) -> float:
    """`value_on` for one alpha."""
    if isinstance(axis, Circle):
        return math.atan2(values[1], values[0]) / (2 * math.pi) % 1.0
    assert isinstance(axis, Line)
    return min(max(values[0], axis.low), axis.high)


def alpha_at(axis: Axis, positions: Tensor) -> Tensor:
    """(N,) positions -> (N, size): the values of alpha there."""
    if isinstance(axis, Circle):
        return torch.stack([(2 * math.pi * positions).cos(), (2 * math.pi * positions).sin()], dim=-1)
    return positions.unsqueeze(-1)


def spread_turns(count: int) -> Tensor:
    """(count, 3, 3): rotations that lie evenly in the space of all rotations, always the same."""
    number = torch.arange(count, dtype=torch.float64) + 0.5
    inner, outer = (number / count).sqrt(), (1 - number / count).sqrt()
    first, second = 2 * math.pi * number / GOLDEN, 2 * math.pi * number / SILVER
    points = torch.stack(
        [inner * first.sin(), inner * first.cos(), outer * second.sin(), outer * second.cos()], dim=1
    )
    for _ in range(REPULSIONS if count > 1 else 0):  # a few more or less even ones become as even as they can
        cosine = (points @ points.mT).fill_diagonal_(0)
        force = cosine / (1 - cosine.square()).clamp_min(1e-9) ** 2
        away = points * (force * cosine).sum(dim=1, keepdim=True) - force @ points
        points = points + PUSH * away / away.norm(dim=1, keepdim=True).clamp_min(1.0)
        points = points / points.norm(dim=1, keepdim=True)
    return matrix_of(points).float()
