"""What each layer of torch becomes in a `Graph`, by the type of the layer.

A norm layer is folded into the layer before it. Its statistics are shared by all base models, so they fold
into every base alike; a learned factor that is mixed stays apart as the rows' gain (see graph.Affine).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn.modules.batchnorm import _BatchNorm

from scn.export.graph import Add, Affine, CannotExport, Pad, Pool, Relu, Window
from scn.export.translation import Call, LayerTranslator, Translation, block_shape, sample_shape


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
    if (
        layer.ceil_mode
        and window.out(*t.graph.shapes[call.sources[0]][1:]) != block_shape("", sample_shape(node))[1:]
    ):
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


LAYERS: dict[type[nn.Module], LayerTranslator] = {
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
