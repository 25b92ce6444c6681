"""Pooling: the largest or the mean of each window, also over windows of equal size or all positions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, fx, nn

from scn.export.fixed_point import factors_of
from scn.export.graph import CannotExport, Window
from scn.export.operations.base import Operation
from scn.export.operations.reshape import take_same
from scn.export.operations.windows import window_of
from scn.export.snippets import from_files
from scn.export.translation import (
    FunctionTranslator,
    GraphTranslation,
    LayerCall,
    LayerTranslator,
    as_layer,
    block_shape,
    sample_shape,
)

if TYPE_CHECKING:
    from scn.export.float_code import FloatCode
    from scn.export.int8_code import Int8Code
    from scn.export.interpret import Float, Int8
    from scn.export.quantisation import Quantisation


def _pool(t: GraphTranslation, node: fx.Node, call: LayerCall, axes: int, largest: bool) -> None:
    layer: Any = call.layer
    stride = layer.stride if layer.stride is not None else layer.kernel_size
    window = window_of(call.name, layer, axes, stride)
    if (
        layer.ceil_mode
        and window.out(*t.graph.shapes[call.sources[0]][1:]) != block_shape("", sample_shape(node))[1:]
    ):
        raise CannotExport(f'the pooling "{call.name}" has windows over the edge: build it without ceil_mode')
    if getattr(layer, "divisor_override", None):
        raise CannotExport(f'the pooling "{call.name}" has a divisor_override: build it without')
    before = t.last(call.sources[0])
    if largest and before is not None and before.take_pool(t.graph, window):
        take_same(t, node, call.sources[0])
        return
    counts = bool(getattr(layer, "count_include_pad", True))
    t.add(node, Pool(call.name, call.sources, t.add_value(call.name, node), window, largest, counts))


def _adaptive(t: GraphTranslation, node: fx.Node, call: LayerCall, largest: bool) -> None:
    target = t.add_value(call.name, node)
    (_, height, width), (_, rows, columns) = t.graph.shapes[call.sources[0]], t.graph.shapes[target]
    if height % rows or width % columns:
        raise CannotExport(
            f'the pooling "{call.name}" divides {height}x{width} into {rows}x{columns} unequal windows'
        )
    kernel = (height // rows, width // columns)
    t.add(node, Pool(call.name, call.sources, target, Window(kernel, kernel), largest))


def _mean(t: GraphTranslation, node: fx.Node) -> None:
    """The mean over all positions."""
    source, dims = node.args[0], node.args[1] if len(node.args) > 1 else node.kwargs.get("dim")
    assert isinstance(source, fx.Node)
    axes = len(sample_shape(source)) + 1
    found = {d % axes for d in (dims if isinstance(dims, tuple | list) else (dims,))}
    if found != set(range(2, axes)):
        raise CannotExport(f"forward takes a mean over {dims} ({node.name}): only over all positions exports")
    _, height, width = t.graph.shapes[t.values[source]]
    target = t.add_value(node.name, node)
    window = Window((height, width), (height, width))
    t.add(node, Pool(node.name, [t.values[source]], target, window, largest=False))


@dataclass
class Pool(Operation):
    """The largest or the mean of each window. The mean is over `kernel` values where padding counts."""

    window: Window
    largest: bool
    count_padding: bool = True
    relu: bool = False

    takes_relu: ClassVar[bool] = True
    layers: ClassVar[Mapping[type[nn.Module], LayerTranslator]] = {
        nn.MaxPool1d: partial(_pool, axes=1, largest=True),
        nn.MaxPool2d: partial(_pool, axes=2, largest=True),
        nn.AvgPool1d: partial(_pool, axes=1, largest=False),
        nn.AvgPool2d: partial(_pool, axes=2, largest=False),
        nn.AdaptiveAvgPool1d: partial(_adaptive, largest=False),
        nn.AdaptiveAvgPool2d: partial(_adaptive, largest=False),
        nn.AdaptiveMaxPool1d: partial(_adaptive, largest=True),
        nn.AdaptiveMaxPool2d: partial(_adaptive, largest=True),
    }
    functions: ClassVar[Mapping[Any, FunctionTranslator]] = {
        F.max_pool1d: as_layer(nn.MaxPool1d),
        F.max_pool2d: as_layer(nn.MaxPool2d),
        F.avg_pool1d: as_layer(nn.AvgPool1d),
        F.avg_pool2d: as_layer(nn.AvgPool2d),
        F.adaptive_avg_pool1d: as_layer(nn.AdaptiveAvgPool1d),
        F.adaptive_avg_pool2d: as_layer(nn.AdaptiveAvgPool2d),
        F.adaptive_max_pool1d: as_layer(nn.AdaptiveMaxPool1d),
        F.adaptive_max_pool2d: as_layer(nn.AdaptiveMaxPool2d),
        "mean": _mean,
        torch.mean: _mean,
    }
    float_snippets: ClassVar[Mapping[str, str]] = from_files("seen", "max", "mean")
    int8_snippets: ClassVar[Mapping[str, str]] = from_files("int_max", "int_mean")

    @property
    def rescales(self) -> bool:
        return not self.largest

    def is_positive(self, source: Quantisation) -> bool:
        return self.relu or source.low == 0

    def run_float(self, arithmetic: Float, *sources: Tensor) -> Tensor:
        (x,), window = sources, self.window
        if self.largest:
            y = F.max_pool2d(x, window.kernel, window.stride, window.padding, window.dilation)
        else:
            y = F.avg_pool2d(
                x, window.kernel, window.stride, window.padding, count_include_pad=self.count_padding
            )
        return y.relu() if self.relu else y

    def run_int8(self, arithmetic: Int8, *sources: Tensor) -> Tensor:
        if self.largest:
            return self.run_float(arithmetic, *sources)
        (factor,) = factors_of(arithmetic.scale(self.sources[0]) / arithmetic.scale(self.target))
        sums, counts = self._sums(sources[0])
        return arithmetic.within(self.target, factor.times(sums, counts))

    def _sums(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The sum of each window, and how many values count."""
        window, full = self.window, math.prod(self.window.kernel)
        sums = F.avg_pool2d(x, window.kernel, window.stride, window.padding, divisor_override=1)
        if self.count_padding:
            return sums.round().long(), torch.tensor(full)
        seen = F.avg_pool2d(
            torch.ones_like(x[:1, :1]), window.kernel, window.stride, window.padding, divisor_override=1
        )
        return sums.round().long(), seen.round().long()

    def write_float(self, code: FloatCode) -> None:
        kind = "max" if self.largest else "mean"
        code.parts.need("seen", kind)
        window = code.add_window(f"pool_{self.target}", self.sources[0], self.target, self.window)
        rest: tuple[str | int, ...] = (int(self.count_padding), int(self.relu))
        if self.largest:
            rest = ("0.0f" if self.relu else "-FLT_MAX",)
        code.call(f"scn_{kind}", window, code.at(self.sources[0]), code.at(self.target), *rest)

    def write_int8(self, code: Int8Code) -> None:
        source = code.quantisation[self.sources[0]]
        window = code.add_window(f"window_{self.target}", self.sources[0], self.target, self.window)
        where = (window, code.at(self.sources[0]), code.at(self.target))
        before, behind = code.bits(self.sources[0]), code.bits(self.target)
        if self.largest:
            code.parts.need("seen", f"int_max:{before}")
            code.call(
                f"scn_max_int{before}",
                *where,
                code.steps(source.zero if self.relu else source.low + source.zero),
            )
            return
        code.parts.need("seen", f"int_mean:{before}:{behind}")
        (factor,) = factors_of(source.scale / code.quantisation[self.target].scale)
        numbers = (code.steps(source.zero), *code.factor(factor), int(self.count_padding))
        rest = (*numbers, code.add_limits(self.target))
        code.call(f"scn_mean_int{before}_int{behind}", *where, *rest)
