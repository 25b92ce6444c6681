"""Maps from alpha to beta in C: a row for each.

A map that mixes all base models fills beta. One that picks few of them fills `few`, a list of the base models
and their coefficients, and nothing else of Theta is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scn.core.maps import (
    CategoryTable,
    Experts,
    Fourier,
    GeneratedMap,
    Learned,
    LearnedFromNodes,
    LinearMap,
    Map,
    Nodes,
)
from scn.export import encode
from scn.export.graph import CannotExport
from scn.export.maps import categories, fourier, generated, learned, nodes
from scn.export.parts import Parts
from scn.transforms import Transform

# Adds tables and statements; the last argument are the statements that refuse an alpha.
Writer = Callable[[Parts, Any, list[str]], None]

WRITERS: dict[type[Map], Writer] = {
    Learned: learned.add,
    LearnedFromNodes: learned.add,
    Nodes: nodes.add,
    Experts: nodes.add_experts,
    Fourier: fourier.add,
    CategoryTable: categories.add,
    LinearMap: generated.add_linear,
    GeneratedMap: generated.add,
}


def add(parts: Parts, transform: Transform, mapped: Map) -> None:
    """Add what comes before the mixing: params to alpha, alpha to the mixing coefficients."""
    write = WRITERS.get(type(mapped))
    if write is None:
        known = ", ".join(kind.__name__ for kind in WRITERS)
        raise CannotExport(f"the map is a {type(mapped).__name__}: only these export: {known}")
    parts.need(*encode.snippets(transform))
    parts.encode = encode.encode_statements(transform)
    parts.map_label = "map"
    if mapped.bounded:
        checks = encode.space_statements(mapped.space, clamped=mapped.outside == "clamp")
    else:
        checks = encode.check_statements(transform)
    if any("scn_is_turn" in statement for statement in checks):
        parts.need("is_turn")
    write(parts, mapped, checks)
