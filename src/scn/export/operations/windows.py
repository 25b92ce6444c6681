"""Windows of convolutions and poolings: as torch's layers have them, and as constants in C."""

from __future__ import annotations

from typing import Any

from scn.export.graph import CannotExport, Graph, Pair, Window


def window_of(name: str, layer: Any, axes: int, stride: Any) -> Window:
    """The window of a layer with one axis, which runs along the width, or two."""
    padding = getattr(layer, "padding", 0)
    if isinstance(padding, str):
        raise CannotExport(f'the convolution "{name}" has padding {padding!r}: say how many values')
    sizes = (layer.kernel_size, stride, padding, getattr(layer, "dilation", 1))
    pairs = [_pair(size) for size in sizes]
    if axes == 1:
        pairs = [(fill, pair[1]) for pair, fill in zip(pairs, (1, 1, 0, 1), strict=True)]
    return Window(*pairs)


def _pair(value: Any) -> Pair:
    values = tuple(value) if isinstance(value, tuple | list) else (value, value)
    return (int(values[0]), int(values[-1]))


def numbers(
    graph: Graph, source: int, target: int, window: Window, groups: int = 1, strip: int | None = None
) -> str:
    """The scn_window of an operation on one of its groups. `strip`: the width of a part of its input."""
    channels, height, width = graph.shapes[source]
    width = strip or width
    rows, out_height, out_width = graph.shapes[target]
    sizes = [channels // groups, height, width, rows // groups, out_height, out_width]
    for pair in (window.kernel, window.stride, window.padding, window.dilation):
        sizes += pair
    return "{" + ", ".join(map(str, sizes)) + "}"
