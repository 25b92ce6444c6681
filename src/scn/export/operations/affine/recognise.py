"""Linear layers and convolutions become rows; a norm layer is folded into the rows before it.

Its statistics are shared by all base models, so they fold into every base alike; a learned factor that is
mixed stays apart as the rows' gain (see Affine).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, fx

from scn.export.graph import CannotExport, Window
from scn.export.operations.reshape import take_same
from scn.export.operations.windows import window_of
from scn.export.translation import GraphTranslation, LayerCall

if TYPE_CHECKING:
    from scn.export.operations.affine import Affine


def add_linear(t: GraphTranslation, node: fx.Node, call: LayerCall, kind: type[Affine]) -> None:
    weight, bias = _parameters(t, call)
    if t.graph.size(call.sources[0]) != weight.shape[2]:
        raise CannotExport(
            f'the linear layer "{call.name}" takes {weight.shape[2]} values of a larger input '
            f"{t.graph.shapes[call.sources[0]]}: flatten it first"
        )
    target = t.add_value(call.name, node)
    t.add(node, kind(call.name, call.sources, target, weight, bias, Window((1, 1), (1, 1))))


def add_convolution(t: GraphTranslation, node: fx.Node, call: LayerCall, kind: type[Affine]) -> None:
    layer: Any = call.layer
    if layer.padding_mode != "zeros":
        raise CannotExport(f'the convolution "{call.name}" pads by {layer.padding_mode}: only zeros export')
    weight, bias = _parameters(t, call)
    window = window_of(call.name, layer, weight.dim() - 3, layer.stride)
    target = t.add_value(call.name, node)
    t.add(node, kind(call.name, call.sources, target, weight.flatten(2), bias, window, layer.groups))


def _parameters(t: GraphTranslation, call: LayerCall) -> tuple[Tensor, Tensor]:
    weight, bias = t.sets.get(f"{call.name}.weight"), t.sets.get(f"{call.name}.bias")
    assert weight is not None
    return weight, weight.new_zeros(1, weight.shape[1]) if bias is None else bias


def fold_norm(t: GraphTranslation, node: fx.Node, call: LayerCall, kind: type[Affine]) -> None:
    layer: Any = call.layer
    before = t.last(call.sources[0])
    if not isinstance(before, kind) or before.relu or before.pool or before.gain is not None:
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
        before.gain = gain
        before.inner, before.bias = (_expanded(values, len(gain)) for values in (before.bias - mean, shift))
    take_same(t, node, call.sources[0])


def _expanded(values: Tensor, count: int) -> Tensor:
    return values.expand(count, -1) if len(values) != count else values
