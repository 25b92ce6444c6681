"""The Fourier map in C: cosines and sines of multiples of alpha, then a table for each axis."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from scn.core.maps.fourier import Fourier
from scn.core.maps.places import at_equal_distances
from scn.core.space import Axis, Circle, Line
from scn.export.pack import exact, packed
from scn.export.parts import Parts

LABEL = "map"


def add(parts: Parts, fourier: Fourier, checks: list[str]) -> None:
    """beta of one axis, and for each further one the products with what it has."""
    if fourier.dims == 1:
        parts.beta = [*checks, "beta[0] = 1.0f;"]
        return
    parts.need("store", "linear", "linear_ram", "circle", "waves")
    most = max(fourier.sizes)
    found = [f"float waves[{most + 1}], part;", *checks]
    place, count = 0, 1
    for number, (axis, size) in enumerate(zip(fourier.space, fourier.sizes, strict=True)):
        found += _axis(parts, axis, number, size, place, "own" if number else "beta")
        if number:
            parts.need("outer")
            found.append(f"scn_outer(beta, {count}, own, {size});")
        place, count = place + axis.size, count * size
    parts.beta = [*([f"float own[{most}];"] if len(fourier.sizes) > 1 else []), *found]


def _axis(parts: Parts, axis: Axis, number: int, size: int, place: int, target: str) -> list[str]:
    if isinstance(axis, Circle):
        parts.need("angle")
        waves, step, part = size // 2, 2, [f"part = scn_part_of_turn(alpha + {place});"]
    else:
        assert isinstance(axis, Line)
        half = exact(0.5 / (axis.high - axis.low))
        waves, step = size - 1, 1
        part = [
            f"part = (alpha[{place}] - {exact(axis.low)}) * {half};",
            "part = part > 0.0f ? (part < 0.5f ? part : 0.5f) : 0.0f;",
        ]
    names = [
        parts.add_floats(f"scn_waves_{number}", packed(_table(axis, size).unsqueeze(0)), LABEL),
        parts.add_floats(f"scn_mean_{number}", torch.full((size,), 1 / size), LABEL),
    ]
    called = f"scn_linear({', '.join(names)}, waves, {target}, {size}, {waves * step}, 0);"
    return [*part, f"scn_waves(part, {waves}, {step}, waves);", called]


def _table(axis: Axis, size: int) -> Tensor:
    """(size, waves): the part of each wave in each coefficient."""
    nodes = at_equal_distances(axis, size, centred=True).double().unsqueeze(1)
    if isinstance(axis, Circle):
        order = torch.arange(1, size // 2 + 1)
        weight = torch.where(2 * order == size, 1.0, 2.0).double() / size
        angle = 2 * math.pi * nodes * order
        return torch.stack([weight * angle.cos(), weight * angle.sin()], dim=2).flatten(1)
    assert isinstance(axis, Line)
    share = (nodes - axis.low) / (axis.high - axis.low)
    return 2 / size * (math.pi * share * torch.arange(1, size)).cos()
