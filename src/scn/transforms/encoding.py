"""How one parameter becomes values of alpha, said so that other languages than Python can do it too.

`Transform.encode` is the encoding itself; a transform that also lists its kinds here can be exported with
an encoder, and with a check that refuses an alpha which no setting has.
"""

from __future__ import annotations

from dataclasses import dataclass

from scn.core import space


@dataclass(frozen=True)
class Angle:
    """A value that returns after `period`, by default an angle in degrees -> cosine and sine of its angle."""

    period: float = 360.0
    size: int = 2
    takes: int = 1  # parameters

    def axis(self) -> space.Axis:
        return space.Circle()


@dataclass(frozen=True)
class Linear:
    """A value from `low` to `high` -> how many times `unit` it lies above `origin`."""

    low: float
    high: float
    unit: float = 1.0
    origin: float = 0.0
    size: int = 1
    takes: int = 1

    def axis(self) -> space.Axis:
        return space.Line((self.low - self.origin) / self.unit, (self.high - self.origin) / self.unit)


@dataclass(frozen=True)
class Logarithm:
    """A value from `low` to `high` -> 0 to 1 on a logarithmic scale; below `least` it counts as `least`."""

    low: float
    high: float
    least: float
    size: int = 1
    takes: int = 1

    def axis(self) -> space.Axis:
        return space.Line(0.0, 1.0)


@dataclass(frozen=True)
class Turn:
    """Three angles in degrees, in the YZ, XZ and XY planes -> the rotation's nine numbers, row by row."""

    size: int = 9
    takes: int = 3

    def axis(self) -> space.Axis:
        return space.Turns()


Encoding = Angle | Linear | Logarithm | Turn
