"""What each function that a forward method may call becomes in a `Graph`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn

from scn.export.graph import Add, CannotExport, LessLeast, Pool, Window
from scn.export.translation import FunctionTranslator, Translation, sample_shape


def _as_layer(make: Callable[..., nn.Module]) -> FunctionTranslator:
    """A function that does what a layer does: its further arguments are those of the layer."""

    def translate(t: Translation, node: fx.Node) -> None:
        further = {name: value for name, value in node.kwargs.items() if name not in ("inplace", "training")}
        t.layer(node, node.name, make(*node.args[1:], **further))

    return translate


def _reshaped(t: Translation, node: fx.Node) -> None:
    t.layer(node, node.name, nn.Identity())


def _added(t: Translation, node: fx.Node) -> None:
    first, second = node.args[:2]
    if not (isinstance(first, fx.Node) and isinstance(second, fx.Node)) or node.kwargs:
        raise CannotExport(f"forward adds a number ({node.name}): only two values of the network add")
    sources = [t.values[first], t.values[second]]
    if t.graph.shapes[sources[0]] != t.graph.shapes[sources[1]]:
        shapes = " and ".join(str(t.graph.shapes[s]) for s in sources)
        raise CannotExport(f"forward adds values of different shapes ({node.name}): {shapes}")
    t.made(node, Add(node.name, sources, t.new(node.name, node)))


def _mean(t: Translation, node: fx.Node) -> None:
    """The mean over all positions."""
    source, dims = node.args[0], node.args[1] if len(node.args) > 1 else node.kwargs.get("dim")
    assert isinstance(source, fx.Node)
    axes = len(sample_shape(source)) + 1
    found = {d % axes for d in (dims if isinstance(dims, tuple | list) else (dims,))}
    if found != set(range(2, axes)):
        raise CannotExport(f"forward takes a mean over {dims} ({node.name}): only over all positions exports")
    _, height, width = t.graph.shapes[t.values[source]]
    target = t.new(node.name, node)
    window = Window((height, width), (height, width))
    t.made(node, Pool(node.name, [t.values[source]], target, window, largest=False))


def _least(t: Translation, node: fx.Node) -> None:
    source = node.args[0]
    assert isinstance(source, fx.Node)
    dims = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim")
    if {int(d) % 4 for d in dims} != {2, 3} or not node.kwargs.get("keepdim"):  # type: ignore[union-attr,arg-type]
        raise CannotExport(f"forward takes the least over {dims} ({node.name}): only over an image exports")
    t.least[node] = t.values[source]


def _subtracted(t: Translation, node: fx.Node) -> None:
    first, second = node.args[:2]
    value = t.values.get(first) if isinstance(first, fx.Node) else None
    if value is None or not isinstance(second, fx.Node) or t.least.get(second) != value:
        raise CannotExport(f"forward subtracts ({node.name}): only x - x.amin over the image exports")
    t.made(node, LessLeast(node.name, [value], t.new(node.name, node)))


FUNCTIONS: dict[Any, FunctionTranslator] = {
    F.relu: _as_layer(nn.ReLU),
    torch.relu: _as_layer(nn.ReLU),
    "relu": _as_layer(nn.ReLU),
    "relu_": _as_layer(nn.ReLU),
    F.max_pool1d: _as_layer(nn.MaxPool1d),
    F.max_pool2d: _as_layer(nn.MaxPool2d),
    F.avg_pool1d: _as_layer(nn.AvgPool1d),
    F.avg_pool2d: _as_layer(nn.AvgPool2d),
    F.adaptive_avg_pool1d: _as_layer(nn.AdaptiveAvgPool1d),
    F.adaptive_avg_pool2d: _as_layer(nn.AdaptiveAvgPool2d),
    F.adaptive_max_pool1d: _as_layer(nn.AdaptiveMaxPool1d),
    F.adaptive_max_pool2d: _as_layer(nn.AdaptiveMaxPool2d),
    F.dropout: _reshaped,
    torch.flatten: _reshaped,
    "flatten": _reshaped,
    "view": _reshaped,
    "reshape": _reshaped,
    "squeeze": _reshaped,
    "contiguous": _reshaped,
    "mean": _mean,
    torch.mean: _mean,
    "amin": _least,
    operator.sub: _subtracted,
    operator.add: _added,
    operator.iadd: _added,
    torch.add: _added,
    "add": _added,
}
