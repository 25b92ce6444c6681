"""The space that alpha lives in: a line, a circle, the turns of space, a few categories, or several of them.

What a map from alpha to beta may do depends on it: a circle has no ends, and two rotations may be near each
other though their angles are not. A space is data, saved with the network.

`outside` takes the values of one axis as numbers, or as tensors with many of them, and says which of them no
setting has: checking one alpha by tensors would cost more than configuring a small network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import torch
from torch import Tensor

from scn.core.errors import ScnError

OFF_CIRCLE = 0.2  # how far from 1 the squared length of (cosine, sine) may be
SLACK = 1e-3  # of a range: what rounding and a sensor's last digit may be off


@dataclass(frozen=True)
class Line:
    """A value from `low` to `high`."""

    low: float = -1.0
    high: float = 1.0
    size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ScnError(f"a line goes from low to high, but this is {self.low} to {self.high}")

    def outside(self, value: Any) -> Any:
        slack = SLACK * (self.high - self.low)
        return (value < self.low - slack) | (value > self.high + slack)

    def draw(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        return self.low + (self.high - self.low) * torch.rand(count, 1, generator=generator)

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Circle:
    """Cosine and sine of an angle."""

    size: ClassVar[int] = 2

    def outside(self, cosine: Any, sine: Any) -> Any:
        return abs(cosine * cosine + sine * sine - 1) > OFF_CIRCLE

    def draw(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        angle = 2 * torch.pi * torch.rand(count, 1, generator=generator)
        return torch.cat([angle.cos(), angle.sin()], dim=1)

    def __str__(self) -> str:
        return "cosine and sine of one angle"


@dataclass(frozen=True)
class Turns:
    """The nine numbers of a rotation matrix, row by row."""

    size: ClassVar[int] = 9

    def outside(self, *values: Any) -> Any:
        """Rows must have length 1 and the third must be the cross product of the others."""
        (a, b, c), (d, e, f), third = values[:3], values[3:6], values[6:]
        cross = (b * f - c * e, c * d - a * f, a * e - b * d)
        off = abs(a * a + b * b + c * c - 1) + abs(d * d + e * e + f * f - 1) + abs(a * d + b * e + c * f)
        return off + sum(abs(x - y) for x, y in zip(cross, third, strict=True)) > 20 * SLACK

    def draw(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        return matrix_of(torch.randn(count, 4, generator=generator)).flatten(1)

    def __str__(self) -> str:
        return "a rotation matrix, row by row"


@dataclass(frozen=True)
class Categories:
    """A number that names one of `count` kinds, from 0 on."""

    count: int
    size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ScnError(f"there must be at least one category, but there are {self.count}")

    def outside(self, value: Any) -> Any:
        off = abs(value - (value + 0.5) // 1) > SLACK
        return off | (value < -0.5) | (value > self.count - 0.5)

    def draw(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        return torch.randint(self.count, (count, 1), generator=generator).float()

    def __str__(self) -> str:
        return f"one of the categories 0 to {self.count - 1}"


Axis = Line | Circle | Turns | Categories
Space = tuple[Axis, ...]
KINDS: dict[str, type[Axis]] = {
    "line": Line,
    "circle": Circle,
    "turns": Turns,
    "categories": Categories,
}


def usual(alpha_dim: int) -> Space:
    """Where only the number of values is known: two are an angle, others are values from -1 to 1."""
    return (Circle(),) if alpha_dim == 2 else tuple(Line() for _ in range(alpha_dim))


def size_of(space: Space) -> int:
    """S, how many values alpha has."""
    return sum(axis.size for axis in space)


def parts_of(alpha: Tensor, space: Space) -> tuple[Tensor, ...]:
    """alpha: (..., S) -> the values of each axis, (..., size)."""
    return alpha.split([axis.size for axis in space], dim=-1)


def draw(space: Space, count: int, generator: torch.Generator | None = None) -> Tensor:
    """alpha drawn evenly from the space: (count, S)."""
    return torch.cat([axis.draw(count, generator) for axis in space], dim=1)


def to_json(space: Space) -> list[dict[str, Any]]:
    names = {kind: name for name, kind in KINDS.items()}
    return [{"kind": names[type(axis)], **asdict(axis)} for axis in space]


def from_json(axes: Sequence[dict[str, Any]]) -> Space:
    """The inverse of `to_json`."""
    found = []
    for axis in axes:
        kind, values = axis.get("kind"), {name: value for name, value in axis.items() if name != "kind"}
        if kind not in KINDS:
            raise ScnError(f"there is no kind of axis {kind!r}: it may need a newer scn")
        if values.keys() != {field.name for field in fields(KINDS[kind])}:
            raise ScnError(f"a {kind} is not known with {', '.join(values)}: it may need a newer scn")
        found.append(KINDS[kind](**values))
    return tuple(found)


def matrix_of(quaternion: Tensor) -> Tensor:
    """(..., 4) numbers of any length but 0 -> (..., 3, 3), the rotation they stand for."""
    w, x, y, z = (quaternion / quaternion.norm(dim=-1, keepdim=True)).unbind(dim=-1)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return torch.stack([torch.stack(row, dim=-1) for row in rows], dim=-2)
