"""C code for what comes before the configuration network: params to alpha, and which alpha is possible."""

from __future__ import annotations

import math

from scn.export.pack import exact
from scn.transforms import Transform
from scn.transforms.encoding import Circle, Encoding, Linear, Logarithm

MOST_TURNS = 10
OFF_CIRCLE = 0.1  # how far from 1 the length of (cos, sin) may be
BEYOND = 1e-3  # of the range: what rounding may add
SNIPPETS = {Circle: "circle", Logarithm: "log"}


def snippets(transform: Transform) -> list[str]:
    found = [SNIPPETS[type(kind)] for kind in transform.encodings() or () if type(kind) in SNIPPETS]
    return sorted(set(found))


def check_statements(transform: Transform) -> list[str]:
    """Return SCN_BAD_ALPHA for an alpha that no setting has."""
    kinds = transform.encodings()
    if kinds is None:
        return [s for i, limits in enumerate(_limits(transform)) for s in _within(f"alpha[{i}]", *limits)]
    found, place = [], 0
    for kind in kinds:
        found += _possible(kind, place)
        place += kind.size
    return found


def encode_statements(transform: Transform) -> list[str] | None:
    """Fill alpha from params, or return SCN_BAD_PARAMS; None where the transform does not say how."""
    kinds = transform.encodings()
    if kinds is None:
        return None
    found, place = [], 0
    for i, kind in enumerate(kinds):
        most = MOST_TURNS * kind.period if isinstance(kind, Circle) else 0.0
        low, high = (-most, most) if isinstance(kind, Circle) else (kind.low, kind.high)
        found += _within(f"params[{i}]", low, high, "SCN_BAD_PARAMS")
    for i, kind in enumerate(kinds):
        found.append(_encoded(kind, f"params[{i}]", place))
        place += kind.size
    return found


def _encoded(kind: Encoding, value: str, place: int) -> str:
    if isinstance(kind, Circle):
        degrees = value if kind.period == 360 else f"{value} * {exact(360 / kind.period)}"
        return f"scn_circle({degrees}, alpha + {place});"
    if isinstance(kind, Linear):
        above = f"({value} - {exact(kind.origin)})" if kind.origin else value
        return f"alpha[{place}] = {above} / {exact(kind.unit)};"
    least, scale = exact(kind.least), math.log(kind.high / kind.low)
    bounded = f"({value} < {least} ? {least} : {value})"
    return f"alpha[{place}] = scn_log({bounded} / {exact(kind.low)}) / {exact(scale)};"


def _possible(kind: Encoding, place: int) -> list[str]:
    if isinstance(kind, Linear):
        low, high = ((end - kind.origin) / kind.unit for end in (kind.low, kind.high))
        return _within(f"alpha[{place}]", low, high)
    if isinstance(kind, Logarithm):
        return _within(f"alpha[{place}]", 0.0, 1.0)
    length = f"alpha[{place}] * alpha[{place}] + alpha[{place + 1}] * alpha[{place + 1}]"
    least, most = exact((1 - OFF_CIRCLE) ** 2), exact((1 + OFF_CIRCLE) ** 2)
    return [f"if (!({length} >= {least} && {length} <= {most})) {{", "    return SCN_BAD_ALPHA;", "}"]


def _within(value: str, low: float, high: float, status: str = "SCN_BAD_ALPHA") -> list[str]:
    """A comparison that a NaN fails too."""
    beyond = BEYOND * (high - low)
    low, high = low - beyond, high + beyond
    return [f"if (!({value} >= {exact(low)} && {value} <= {exact(high)})) {{", f"    return {status};", "}"]


def _limits(transform: Transform) -> list[tuple[float, float]]:
    """The least and largest alpha over a grid of settings, for an encoding that is not known here."""
    alpha = transform.encode(transform.grid(max(2, round(4096 ** (1 / len(transform.parameters))))))
    lows, highs = alpha.amin(dim=0).tolist(), alpha.amax(dim=0).tolist()
    return list(zip(lows, highs, strict=True))
