"""From a torch module to a `Graph`: what forward does is recorded by torch.fx, then translated by tables.

A norm layer is folded into the layer before it. Its statistics are shared by all base models, so they fold
into every base alike; a learned factor that is mixed stays apart as the rows' gain (see graph.Affine).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, fx, nn
from torch.fx.passes.shape_prop import ShapeProp
from torch.nn.modules.batchnorm import _BatchNorm

from scn.core.network import SCN
from scn.export.graph import (
    Add,
    Affine,
    CannotExport,
    Graph,
    LessLeast,
    Op,
    Pad,
    Pool,
    Relu,
    Reshape,
    Shape,
    Window,
)


def trace(plain: nn.Module, network: nn.Module, shape: tuple[int, ...]) -> Graph:
    """The graph of `plain` (a configured network, or `network` itself) with the base models of `network`."""
    try:
        recorded = fx.symbolic_trace(plain)
        with torch.no_grad():
            ShapeProp(recorded).propagate(torch.zeros(2, *shape))
    except Exception as error:
        raise CannotExport(
            f"what the forward method of {type(plain).__name__} does cannot be recorded: {error}"
        ) from error
    translation = Translation(plain, Sets(network), shape)
    for node in recorded.graph.nodes:
        translation.node(node)
    return translation.graph


class Sets:
    """The parameters of a network by name, each (M, *shape): M base models, or 1 where it is shared."""

    def __init__(self, network: nn.Module) -> None:
        module = network
        self.dims, self._mixed = 1, {}
        if isinstance(network, SCN):
            module, self.dims = network.backbone, network.dims
            self._mixed = network.subspace.base_sets()
        self._shared = dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers())

    def get(self, name: str) -> Tensor | None:
        if name in self._mixed:
            return self._mixed[name].detach().double()
        found = self._shared.get(name)
        return None if found is None else found.detach().double().unsqueeze(0)


@dataclass(frozen=True)
class Call:
    """One use of a layer: its name, the layer, and the numbers of its inputs."""

    name: str
    layer: nn.Module
    sources: list[int]


class Translation:
    """Translates one node after the other; `values` says which value of the graph each node stands for."""

    def __init__(self, plain: nn.Module, sets: Sets, shape: tuple[int, ...]) -> None:
        self.modules = dict(plain.named_modules())
        self.sets = sets
        self.graph = Graph([_block("the input", shape)], dims=sets.dims)
        self.values: dict[fx.Node, int] = {}
        self.least: dict[fx.Node, int] = {}  # nodes that are the least of each channel of a value
        self.users: dict[int, int] = {}  # how many nodes read a value

    def node(self, node: fx.Node) -> None:
        if node.op == "placeholder":
            if self.values:
                raise CannotExport(f"the backbone takes a second input, {node.name}: only x is known")
            self.take(node, 0)
        elif node.op == "output":
            self._end(node)
        elif node.op == "call_module":
            self._module(node)
        elif node.op in ("call_function", "call_method"):
            self._function(node)
        else:
            raise CannotExport(f"forward uses {node.target} itself, outside of a layer: put it into a layer")

    def take(self, node: fx.Node, value: int) -> None:
        self.values[node] = value
        self.users[value] = self.users.get(value, 0) + len(node.users)

    def made(self, node: fx.Node, op: Op) -> None:
        self.graph.ops.append(op)
        self.take(node, op.target)

    def new(self, name: str, node: fx.Node) -> int:
        self.graph.shapes.append(_block(name, _sample(node)))
        return len(self.graph.shapes) - 1

    def _end(self, node: fx.Node) -> None:
        answer = node.args[0]
        if not isinstance(answer, fx.Node) or answer not in self.values or not self.graph.ops:
            raise CannotExport("the backbone must return one tensor of logits")
        if self.values[answer] != self.graph.output or self.graph.shapes[self.graph.output][1:] != (1, 1):
            raise CannotExport(f"the answer must be a vector of logits, but is {_sample(answer)}")

    def _module(self, node: fx.Node) -> None:
        layer = self.modules[str(node.target)]
        self._layer(node, str(node.target), layer)

    def _layer(self, node: fx.Node, name: str, layer: nn.Module) -> None:
        sources = [self.values[a] for a in node.args if isinstance(a, fx.Node)]
        for kind, translate in LAYERS.items():
            if isinstance(layer, kind):
                translate(self, node, Call(name, layer, sources))
                return
        known = ", ".join(sorted({kind.__name__.lstrip("_") for kind in LAYERS}))
        raise CannotExport(f'the layer "{name}" is a {type(layer).__name__}: only these export: {known}')

    def _function(self, node: fx.Node) -> None:
        translate = FUNCTIONS.get(node.target)
        if translate is None:
            called = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "?")
            known = sorted({f if isinstance(f, str) else f.__name__ for f in FUNCTIONS})
            raise CannotExport(
                f'forward calls "{called}" ({node.name}): only these export: {", ".join(known)}'
            )
        translate(self, node)

    def last(self, source: int) -> Op | None:
        """The operation that made a value which nothing else reads."""
        made = next((op for op in self.graph.ops if op.target == source), None)
        return made if self.users.get(source, 0) == 1 else None

    def stays(self, node: fx.Node, source: int) -> None:
        """The node is the same numbers as a value, perhaps in another shape."""
        if _block(node.name, _sample(node)) == self.graph.shapes[source]:
            self.users[source] -= 1
            self.take(node, source)
        else:
            self.made(node, Reshape(node.name, [source], self.new(node.name, node)))


def _sample(node: fx.Node) -> tuple[int, ...]:
    shape = tuple(node.meta["tensor_meta"].shape)
    if shape[0] != 2:
        raise CannotExport(f"{node.name} mixes the samples of a batch: its shape is {shape} for 2 of them")
    return shape[1:]


def _block(name: str, shape: tuple[int, ...]) -> Shape:
    if len(shape) > 3:
        raise CannotExport(f"{name} has shape {shape}: at most channels, height and width export")
    if len(shape) == 2:
        return (shape[0], 1, shape[1])
    return (*shape, *(1,) * (3 - len(shape)))  # type: ignore[return-value]


def _pair(value: Any) -> tuple[int, int]:
    """Sizes for height and width; of a layer with one axis, which runs along the width."""
    values = tuple(value) if isinstance(value, tuple | list) else (value, value)
    return (int(values[0]), int(values[-1]))


def _window(layer: Any, axes: int, stride: Any) -> Window:
    if isinstance(getattr(layer, "padding", 0), str):
        raise TypeError
    sizes = (layer.kernel_size, stride, layer.padding, getattr(layer, "dilation", 1))
    pairs = [_pair(size) for size in sizes]
    if axes == 1:
        pairs = [(fill, pair[1]) for pair, fill in zip(pairs, (1, 1, 0, 1), strict=True)]
    return Window(*pairs)


def _expanded(values: Tensor, count: int) -> Tensor:
    return values.expand(count, -1) if len(values) != count else values


def _linear(t: Translation, node: fx.Node, call: Call) -> None:
    weight, bias = t.sets.get(f"{call.name}.weight"), t.sets.get(f"{call.name}.bias")
    assert weight is not None
    if t.graph.size(call.sources[0]) != weight.shape[2]:
        raise CannotExport(
            f'the linear layer "{call.name}" takes {weight.shape[2]} values of a larger input '
            f"{t.graph.shapes[call.sources[0]]}: flatten it first"
        )
    bias = weight.new_zeros(1, weight.shape[1]) if bias is None else bias
    target = t.new(call.name, node)
    t.made(node, Affine(call.name, call.sources, target, weight, bias, Window((1, 1), (1, 1))))


def _convolution(t: Translation, node: fx.Node, call: Call) -> None:
    layer: Any = call.layer
    if layer.padding_mode != "zeros":
        raise CannotExport(f'the convolution "{call.name}" pads by {layer.padding_mode}: only zeros export')
    weight, bias = t.sets.get(f"{call.name}.weight"), t.sets.get(f"{call.name}.bias")
    assert weight is not None
    bias = weight.new_zeros(1, weight.shape[1]) if bias is None else bias
    try:
        window = _window(layer, weight.dim() - 3, layer.stride)
    except TypeError:
        raise CannotExport(
            f'the convolution "{call.name}" has padding {layer.padding!r}: say how many values'
        ) from None
    target = t.new(call.name, node)
    op = Affine(call.name, call.sources, target, weight.flatten(2), bias, window, layer.groups)
    t.made(node, op)


def _norm(t: Translation, node: fx.Node, call: Call) -> None:
    layer: Any = call.layer
    before = t.last(call.sources[0])
    if not isinstance(before, Affine) or before.relu or before.gain is not None:
        raise CannotExport(
            f'the norm layer "{call.name}" does not directly follow a linear layer or convolution of its '
            "own: it cannot be folded"
        )
    mean, variance = t.sets.get(f"{call.name}.running_mean"), t.sets.get(f"{call.name}.running_var")
    if mean is None or variance is None or before.rows != mean.shape[1]:
        raise CannotExport(f'the norm layer "{call.name}" has no statistics of its own: it cannot be folded')
    ones = torch.ones_like(mean)
    weight, bias = t.sets.get(f"{call.name}.weight"), t.sets.get(f"{call.name}.bias")
    gain = (ones if weight is None else weight) / (variance + layer.eps).sqrt()
    shift = ones - 1 if bias is None else bias
    if len(gain) == 1:  # the same factor for every base
        before.weight = before.weight * gain.unsqueeze(2)
        before.bias = gain * (before.bias - mean) + shift
    else:
        inner = before.bias - mean
        before.gain, before.inner, before.bias = (
            gain,
            _expanded(inner, len(gain)),
            _expanded(shift, len(gain)),
        )
    t.stays(node, call.sources[0])


def _relu(t: Translation, node: fx.Node, call: Call) -> None:
    before = t.last(call.sources[0])
    if isinstance(before, Affine | Pool | Add):
        before.relu = True
        t.stays(node, call.sources[0])
    else:
        t.made(node, Relu(call.name, call.sources, t.new(call.name, node)))


def _pool(t: Translation, node: fx.Node, call: Call, axes: int, largest: bool) -> None:
    layer: Any = call.layer
    window = _window(layer, axes, layer.stride if layer.stride is not None else layer.kernel_size)
    if layer.ceil_mode and window.out(*t.graph.shapes[call.sources[0]][1:]) != _block("", _sample(node))[1:]:
        raise CannotExport(f'the pooling "{call.name}" has windows over the edge: build it without ceil_mode')
    if getattr(layer, "divisor_override", None):
        raise CannotExport(f'the pooling "{call.name}" has a divisor_override: build it without')
    counts = bool(getattr(layer, "count_include_pad", True))
    t.made(node, Pool(call.name, call.sources, t.new(call.name, node), window, largest, counts))


def _adaptive(t: Translation, node: fx.Node, call: Call, largest: bool) -> None:
    target = t.new(call.name, node)
    (_, height, width), (_, rows, columns) = t.graph.shapes[call.sources[0]], t.graph.shapes[target]
    if height % rows or width % columns:
        raise CannotExport(
            f'the pooling "{call.name}" divides {height}x{width} into {rows}x{columns} unequal windows'
        )
    kernel = (height // rows, width // columns)
    t.made(node, Pool(call.name, call.sources, target, Window(kernel, kernel), largest))


def _pad(t: Translation, node: fx.Node, call: Call, nearest: bool) -> None:
    layer: Any = call.layer
    left, right, top, bottom = (*layer.padding, 0, 0)[:4]
    if min(left, right, top, bottom) < 0:
        raise CannotExport(f'the padding "{call.name}" cuts: its sizes are {layer.padding}')
    if not nearest and getattr(layer, "value", 0) != 0:
        raise CannotExport(f'the padding "{call.name}" fills with {layer.value}: only 0 exports')
    target = t.new(call.name, node)
    t.made(node, Pad(call.name, call.sources, target, (top, bottom, left, right), nearest))


def _same(t: Translation, node: fx.Node, call: Call) -> None:
    t.stays(node, call.sources[0])


Translate = Callable[[Translation, fx.Node, Call], None]
LAYERS: dict[type[nn.Module], Translate] = {
    nn.Linear: _linear,
    nn.Conv1d: _convolution,
    nn.Conv2d: _convolution,
    _BatchNorm: _norm,
    nn.ReLU: _relu,
    nn.MaxPool1d: lambda t, n, c: _pool(t, n, c, 1, largest=True),
    nn.MaxPool2d: lambda t, n, c: _pool(t, n, c, 2, largest=True),
    nn.AvgPool1d: lambda t, n, c: _pool(t, n, c, 1, largest=False),
    nn.AvgPool2d: lambda t, n, c: _pool(t, n, c, 2, largest=False),
    nn.AdaptiveAvgPool1d: lambda t, n, c: _adaptive(t, n, c, largest=False),
    nn.AdaptiveAvgPool2d: lambda t, n, c: _adaptive(t, n, c, largest=False),
    nn.AdaptiveMaxPool1d: lambda t, n, c: _adaptive(t, n, c, largest=True),
    nn.AdaptiveMaxPool2d: lambda t, n, c: _adaptive(t, n, c, largest=True),
    nn.ConstantPad1d: lambda t, n, c: _pad(t, n, c, nearest=False),
    nn.ConstantPad2d: lambda t, n, c: _pad(t, n, c, nearest=False),
    nn.ReplicationPad1d: lambda t, n, c: _pad(t, n, c, nearest=True),
    nn.ReplicationPad2d: lambda t, n, c: _pad(t, n, c, nearest=True),
    nn.Flatten: _same,
    nn.Identity: _same,
    nn.Dropout: _same,
    nn.Dropout1d: _same,
    nn.Dropout2d: _same,
}


def _as_layer(make: Callable[..., nn.Module]) -> Callable[[Translation, fx.Node], None]:
    """A function that does what a layer does: its further arguments are those of the layer."""

    def translate(t: Translation, node: fx.Node) -> None:
        further = {name: value for name, value in node.kwargs.items() if name not in ("inplace", "training")}
        t._layer(node, node.name, make(*node.args[1:], **further))

    return translate


def _reshaped(t: Translation, node: fx.Node) -> None:
    t._layer(node, node.name, nn.Identity())


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
    axes = len(_sample(source)) + 1
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


FUNCTIONS: dict[Any, Callable[[Translation, fx.Node], None]] = {
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
