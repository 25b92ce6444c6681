"""C code for what comes before the configuration network: params to alpha, and which alpha is possible."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scn.core import space
from scn.export.pack import exact
from scn.transforms import Transform
from scn.transforms.encoding import Angle, Encoding, Linear, Logarithm, Turn

MOST_TURNS = 10
OFF_CIRCLE = 0.1  # how far from 1 the length of (cos, sin) may be
BEYOND = 1e-3  # of the range: what rounding may add
FAR = 1e6  # a number of a rotation matrix that no sensor gives
SNIPPETS = {Angle: ("circle",), Logarithm: ("log",), Turn: ("circle", "turn")}


def snippets(transform: Transform) -> list[str]:
    found = [name for kind in transform.encodings() or () for name in SNIPPETS.get(type(kind), ())]
    return sorted(set(found))


def check_statements(transform: Transform) -> list[str]:
    """Return SCN_BAD_ALPHA for an alpha that no setting has."""
    kinds = transform.encodings()
    if kinds is None:
        limits = _limits(transform)
        ranges = [s for i, ends in enumerate(limits) for s in _within(f"alpha[{i}]", *ends)]
        return [*_finite("alpha", len(limits)), *ranges]
    return space_statements([kind.axis() for kind in kinds])


def space_statements(axes: Sequence[space.Axis], clamped: bool = False) -> list[str]:
    """Return SCN_BAD_ALPHA for an alpha that a space does not hold; where it is clamped, for no number."""
    found, place = [], 0
    for axis in axes:
        found += _moderate(axis, place) if clamped else _possible(axis, place)
        place += axis.size
    return [*_finite("alpha", place), *found]


def encode_statements(transform: Transform) -> list[str] | None:
    """Fill alpha from params, or return SCN_BAD_PARAMS; None where the transform does not say how."""
    kinds = transform.encodings()
    if kinds is None:
        return None
    checks, found, param, place = [], [], 0, 0
    for kind in kinds:
        for i in range(param, param + kind.takes):
            checks += _within(f"params[{i}]", *_range(kind), "SCN_BAD_PARAMS")
        found.append(_encoded(kind, param, place))
        param += kind.takes
        place += kind.size
    return [*_finite("params", param, "SCN_BAD_PARAMS"), *checks, *found]


def _range(kind: Encoding) -> tuple[float, float]:
    """Of each of its parameters."""
    if isinstance(kind, Linear | Logarithm):
        return kind.low, kind.high
    most = MOST_TURNS * (kind.period if isinstance(kind, Angle) else 360.0)
    return -most, most


def _encoded(kind: Encoding, param: int, place: int) -> str:
    value = f"params[{param}]"
    if isinstance(kind, Turn):
        return f"scn_turn(params + {param}, alpha + {place});"
    if isinstance(kind, Angle):
        degrees = value if kind.period == 360 else f"{value} * {exact(360 / kind.period)}"
        return f"scn_circle({degrees}, alpha + {place});"
    if isinstance(kind, Linear):
        above = f"({value} - {exact(kind.origin)})" if kind.origin else value
        return f"alpha[{place}] = {above} / {exact(kind.unit)};"
    least, scale = exact(kind.least), math.log(kind.high / kind.low)
    bounded = f"({value} < {least} ? {least} : {value})"
    return f"alpha[{place}] = scn_log({bounded} / {exact(kind.low)}) / {exact(scale)};"


def _possible(axis: space.Axis, place: int) -> list[str]:
    if isinstance(axis, space.Line):
        return _within(f"alpha[{place}]", axis.low, axis.high)
    if isinstance(axis, space.Turns):
        return _refused(f"!scn_is_turn(alpha + {place})")
    if isinstance(axis, space.Categories):
        nearest, off = f"(float)(int)(alpha[{place}] + 0.5f)", exact(space.SLACK)
        return [
            *_within(f"alpha[{place}]", 0.0, axis.count - 1.0, beyond=space.SLACK),
            *_refused(f"alpha[{place}] - {nearest} > {off} || {nearest} - alpha[{place}] > {off}"),
        ]
    length = f"alpha[{place}] * alpha[{place}] + alpha[{place + 1}] * alpha[{place + 1}]"
    least, most = exact((1 - OFF_CIRCLE) ** 2), exact((1 + OFF_CIRCLE) ** 2)
    return _refused(f"!({length} >= {least} && {length} <= {most})")


def _finite(values: str, count: int, status: str = "SCN_BAD_ALPHA") -> list[str]:
    """Refuse what is no number, or infinite."""
    return _refused(f"!scn_finite({values}, {count})", status)


def _moderate(axis: space.Axis, place: int) -> list[str]:
    """Refuse what is so large that the arithmetic might leave the numbers."""
    if not isinstance(axis, space.Turns):
        return []
    values, most = [f"alpha[{i}]" for i in range(place, place + axis.size)], exact(FAR)
    return [s for value in values for s in _refused(f"!({value} >= -{most} && {value} <= {most})")]


def _within(
    value: str, low: float, high: float, status: str = "SCN_BAD_ALPHA", beyond: float | None = None
) -> list[str]:
    beyond = BEYOND * (high - low) if beyond is None else beyond
    low, high = low - beyond, high + beyond
    return _refused(f"!({value} >= {exact(low)} && {value} <= {exact(high)})", status)


def _refused(wrong: str, status: str = "SCN_BAD_ALPHA") -> list[str]:
    return [f"if ({wrong}) {{", f"    return {status};", "}"]


def _limits(transform: Transform) -> list[tuple[float, float]]:
    """The least and largest alpha over a grid of settings, for an encoding that is not known here."""
    alpha = transform.encode(transform.grid(max(2, round(4096 ** (1 / len(transform.parameters))))))
    lows, highs = alpha.amin(dim=0).tolist(), alpha.amax(dim=0).tolist()
    return list(zip(lows, highs, strict=True))
