"""Where each value of a graph lies: values that are never needed at the same time share memory.

The input stays where the caller has it and the output goes where the caller wants it; everything between
lies in one block, the largest values placed first, each at the lowest place that is free while it lives.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from scn.export.graph import Graph
from scn.export.pack import padded


@dataclass(frozen=True)
class Layout:
    """offsets[v] is where value v starts, in bytes; roots[v] is the value whose memory v uses."""

    offsets: dict[int, int]
    roots: dict[int, int]
    size: int


def lay_out(
    graph: Graph,
    widths: dict[int, int],
    caller: set[int],
    kept: set[int] | frozenset[int] = frozenset(),
    strips: Collection[int] = (),
) -> Layout:
    """widths[v]: bytes of one element of value v; `caller`: values whose memory belongs to the caller.

    `kept`: values that are still there when all operations are done. Those in `strips` have no memory of
    their own: what they are made of is needed as long as they are.
    """
    roots = _roots(graph, widths, kept)
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    made_of = {op.target: op.sources for op in graph.ops if op.target in strips}
    for step, op in enumerate(graph.ops):
        held = [value for source in op.sources for value in made_of.get(source, [source])]
        for value in (*held, *([] if op.target in strips else [op.target])):
            root = roots[value]
            first.setdefault(root, step)
            last[root] = step
    last |= {roots[value]: len(graph.ops) for value in kept}
    if 0 not in caller:
        first[0] = -1
    own = {roots[v] for v in caller}
    placed: dict[int, int] = {}
    sizes = {v: padded(graph.size(v) * widths[v]) for v in first}
    for value in sorted((v for v in first if v not in own), key=lambda v: (-sizes[v], v)):
        alive = [v for v in placed if first[v] <= last[value] and first[value] <= last[v]]
        placed[value] = _lowest(sizes[value], [(placed[v], sizes[v]) for v in alive])
    size = max((placed[v] + sizes[v] for v in placed), default=0)
    return Layout({v: placed[roots[v]] for v in roots if roots[v] in placed}, roots, size)


def _roots(graph: Graph, widths: dict[int, int], kept: set[int] | frozenset[int]) -> dict[int, int]:
    """A view uses its source's memory; so does what works in place, if nothing reads the source later."""
    roots = {0: 0}
    readers: dict[int, int] = {}
    for step, op in enumerate(graph.ops):
        for source in op.sources:
            readers[roots[source]] = step
        roots[op.target] = op.target
        if op.is_view:
            roots[op.target] = roots[op.sources[0]]
    readers |= {roots[value]: len(graph.ops) for value in kept}
    for step, op in enumerate(graph.ops):
        source = roots[op.sources[0]]
        own = source and op.target != graph.output and widths[source] == widths[op.target]
        if op.in_place and readers[source] == step and own:
            old = roots[op.target]
            roots = {v: source if r == old else r for v, r in roots.items()}
            readers[source] = max((readers.get(r, step) for r in (old, source)), default=step)
    return roots


def _lowest(size: int, taken: list[tuple[int, int]]) -> int:
    """The lowest place of this size beside what is taken (start, size)."""
    place = 0
    for start, length in sorted(taken):
        if place + size <= start:
            break
        place = max(place, start + length)
    return place
