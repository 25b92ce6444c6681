"""Nodes and experts in C: the places on both sides of alpha, axis by axis, or the nearest turns.

Places at equal distances need arithmetic alone; those that were given, and turns, are tables.
"""

from __future__ import annotations

from scn.core.maps.nodes import FARTHEST, TINY, Nodes
from scn.core.space import Circle, Line
from scn.export.pack import exact
from scn.export.parts import Parts

LABEL = "map"
START = ["few->count = 1;", "few->which[0] = 0;", "few->share[0] = 1.0f;"]


def add(parts: Parts, nodes: Nodes, checks: list[str]) -> None:
    """The nodes around alpha, each with its share."""
    parts.need("few")
    if not nodes.turns:
        _add_axes(parts, nodes, checks, "cross")
        return
    near = min(nodes.entries + 1, nodes.dims)
    parts.need("agreement", f"near_turns:{exact(FARTHEST)}:{exact(TINY)}:{nodes.entries}:{near}")
    parts.pick = [*checks, f"scn_near_turns(alpha, {_turns(parts, nodes)}, few);"]


def add_experts(parts: Parts, experts: Nodes, checks: list[str]) -> None:
    """The nearest place alone."""
    parts.need("few")
    if not experts.turns:
        _add_axes(parts, experts, checks, "nearest")
        return
    parts.need("agreement", "nearest_turn")
    nearest = f"few->which[0] = (uint16_t)scn_nearest_turn(alpha, {_turns(parts, experts)});"
    parts.pick = [*checks, *START, nearest]


def _turns(parts: Parts, nodes: Nodes) -> str:
    return parts.add_floats("scn_places_0", nodes.places()[0], LABEL)


def _add_axes(parts: Parts, nodes: Nodes, checks: list[str], join: str) -> None:
    found, place = [*checks, *START], 0
    for number, axis in enumerate(nodes.space):
        if nodes.sizes[number] > 1:
            parts.need("around", join)
            around = _around(parts, nodes, number, place)
            found.append(f"scn_{join}(few, {around}, {nodes.sizes[number]});")
        place += axis.size
    parts.pick = found


def _around(parts: Parts, nodes: Nodes, number: int, place: int) -> str:
    """The places on both sides of alpha on one axis, as a C expression."""
    axis, table, size = nodes.space[number], nodes.places()[number], nodes.sizes[number]
    circle = isinstance(axis, Circle)
    value = f"alpha + {place}" if circle else f"alpha[{place}]"
    parts.need(*(["angle"] if circle else []))
    if nodes.given is not None:
        kind = "among_circle" if circle else "among_line"
        parts.need("last_before", kind)
        return f"scn_{kind}({value}, {parts.add_floats(f'scn_places_{number}', table, LABEL)}, {size})"
    if circle:
        parts.need("on_circle")
        return f"scn_on_circle({value}, {size})"
    assert isinstance(axis, Line)
    parts.need("on_line")
    first, last = float(table[0]), float(table[-1])
    return f"scn_on_line({value}, {exact(first)}, {exact((size - 1) / (last - first))}, {size})"
