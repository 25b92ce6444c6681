"""Rows of weights in floating point: their tables, how they are mixed, and the calls that use them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from scn.export.layers import Arrangement, Layer, Place, arrange
from scn.export.operations.affine import strips
from scn.export.pack import WORD, packed, side_by_side
from scn.export.parts import Struct, Table
from scn.export.quantisation import quantised_rows

if TYPE_CHECKING:
    from scn.export.base import Options
    from scn.export.float_code import FloatCode
    from scn.export.graph import Graph, Window
    from scn.export.operations.affine import Affine

STRIP = 64  # columns mixed at a time in a linear layer
PATCH = 128  # values of a patch gathered at a time in a convolution, at least one channel of it
BASE_TYPES = {"float32": "float", "float16": "uint16_t", "int8": "int8_t"}


def arranged(ops: list[Affine], options: Options) -> Arrangement:
    """Where each layer is, by the table in `layers`."""
    whole = 1 if options.weights == "float32" else WORD  # a layer starts where a word does
    layers = [
        Layer(i, op, _place(op, options), -(-op.rows * op.columns // whole) * whole)
        for i, op in enumerate(ops)
    ]
    return arrange(layers, lambda op: op.rows if len(op.bias) > 1 else 0)


def _place(op: Affine, options: Options) -> Place:
    if op.mixed:
        return Place.RAM if options.theta == "ram" else Place.STRIPS
    return Place.FLASH if options.weights == "float32" else Place.STRIPS


def add_tables(code: FloatCode) -> None:
    """The weights of all layers as base models (D, L) and as shared weights, and the vectors of each."""
    layers, kind = code.arrangement.layers, code.options.weights
    weights = [layer.op.weight for layer in layers]
    if kind == "int8":
        for i, layer in enumerate(layers):
            weights[i], scale = quantised_rows(layer.op.weight)
            code.parts.add_floats(f"scn_scale_{layer.number}", scale, "scales")
    sets: dict[str, list[Tensor]] = {"bases": [], "shared": []}
    for layer, weight in zip(layers, weights, strict=True):
        rows = _rows_of_bases(code, layer, weight)
        sets["bases" if layer.in_bases else "shared"].append(rows)
    for name, parts in sets.items():
        if parts:
            words = kind != "float32"
            table = Table(BASE_TYPES[kind], f"scn_{name}", torch.cat(parts, dim=-1), name, words)
            code.parts.constants.append(table)
    for layer in layers:
        for name in ("bias", "gain", "inner"):
            values = getattr(layer.op, name)
            if values is not None:
                code.parts.add_floats(f"scn_{name}_{layer.number}", values)


def _rows_of_bases(code: FloatCode, layer: Layer, weight: Tensor) -> Tensor:
    """The weights of a layer as they are stored, with what fills its last word."""
    op = layer.op
    filling = weight.new_zeros(len(weight), layer.size - op.rows * op.columns)
    if _side_by_side(code, layer):
        return torch.cat([side_by_side(weight, op.groups, words=False), filling.flatten()])
    return torch.cat([packed(weight, op.groups), filling], dim=1)


def _side_by_side(code: FloatCode, layer: Layer) -> bool:
    """Whether base models of 8 bits stand side by side: where a map mixes all of them to RAM."""
    return layer.in_bases and layer.place is Place.RAM and mixes_by_shares(code.graph, code.options)


def mixes_by_shares(graph: Graph, options: Options) -> bool:
    """Whether base models of 8 bits are all mixed, and all at hand: storage is read one after the other."""
    at_hand = options.theta == "ram" and options.weights_in != "storage" and not graph.searched
    return at_hand and options.weights == "int8" and graph.entries is None


def add_mix(code: FloatCode, layer: Layer) -> None:
    """What mixes the rows and biases of a layer, or unpacks its rows."""
    if layer.place is Place.FLASH and layer.vectors is None:
        return
    parts, rows = code.parts, f"&scn_layer_{layer.number}"
    streams = code.options.weights_in == "storage"  # which has its own loop over the rows
    parts.need("rows")
    if layer.place is not Place.FLASH:
        parts.need("coefficients")
        if not _by_rows(code, layer) and not _side_by_side(code, layer):
            words = ["word"] if code.options.weights == "int8" else []
            parts.need(
                *words, f"mix_{code.options.weights}", *(["only"] if parts.few and not streams else [])
            )
    parts.constants.append(_rows_constant(code, layer))
    if _side_by_side(code, layer):
        parts.need("inline", "word", "int8_pairs", "mix_int8_pairs")
        parts.mix.append(f"scn_mix_rows_pairs({rows}, beta, theta->rows + {layer.theta});")
    elif layer.place is Place.RAM:
        parts.need(*([] if streams else ["rows_ram"]))
        parts.mix.append(f"scn_mix_rows({rows}, beta, theta->rows + {layer.theta});")
    if layer.vectors is not None:
        parts.need("rows_bias")
        parts.mix.append(f"scn_mix_bias({rows}, beta, theta->bias + {layer.vectors});")


def _rows_constant(code: FloatCode, layer: Layer) -> Struct:
    op = layer.op
    stride = code.arrangement.base_size if layer.in_bases else 0
    words = code.options.weights != "float32"
    first = code.parts.weights(f"scn_{'bases' if layer.in_bases else 'shared'}", words)
    pointers = [f"{first} + {layer.base * (op.bases if _side_by_side(code, layer) else 1)}"]
    for name, there in (
        ("scale", code.options.weights == "int8"),
        ("gain", op.gain is not None),
        ("inner", op.inner is not None),
        ("bias", layer.vectors is not None),
    ):
        pointers.append(f"scn_{name}_{layer.number}" if there else "0")
    sizes = [stride, op.bases, op.groups, op.rows // op.groups, op.columns]
    return Struct("scn_rows", f"scn_layer_{layer.number}", [*pointers, *map(str, sizes)])


def write(code: FloatCode, layer: Layer) -> None:
    """The calls of one layer."""
    op = layer.op
    bias = _bias(code, layer)
    if op.target in code.strips:
        return  # it is written with what reads it
    if not op.is_linear(code.graph):
        _write_convolution(code, layer, bias)
        return
    where = (bias, code.at(op.sources[0]), code.at(op.target))
    mixed = (f"&scn_layer_{layer.number}", code.beta if op.mixed else "0")
    if _by_rows(code, layer):
        code.parts.need("linear", "linear_row")
        code.call("scn_linear_row", *mixed, *where, int(op.relu))
    elif layer.place is Place.STRIPS:
        code.parts.need("linear", "linear_strips")
        code.call("scn_linear_strips", *mixed, *where, "s->scratch", int(op.relu))
    else:
        code.parts.need("linear", "linear_ram")
        code.call("scn_linear", _rows(layer), *where, op.rows, op.columns, int(op.relu))


def _bias(code: FloatCode, layer: Layer) -> str:
    return f"scn_bias_{layer.number}" if layer.vectors is None else f"{code.vectors} + {layer.vectors}"


def _by_rows(code: FloatCode, layer: Layer) -> bool:
    """Whether it multiplies each base model's own rows where they are: y = sum of beta times (W x)."""
    usable = code.options.weights == "float32" and layer.op.is_linear(code.graph)
    return layer.place is Place.STRIPS and usable


def _rows(layer: Layer) -> str:
    return f"theta->rows + {layer.theta}" if layer.place is Place.RAM else f"scn_shared + {layer.base}"


def _strips(code: FloatCode, layer: Layer) -> tuple[str, str]:
    if code.parts.in_place:
        code.parts.need("alone")
    return f"&scn_layer_{layer.number}", code.beta if layer.op.mixed else "0"


def _write_convolution(code: FloatCode, layer: Layer, bias: str) -> None:
    op, groups = layer.op, layer.op.groups
    (source,), target, rows = op.sources, op.target, op.rows // groups
    if source in code.strips:
        _write_two(code, layer)
        return
    if op.pool is not None:
        _write_pooled(code, layer, bias, op.pool)
        return
    window = code.add_window(f"window_{layer.number}", source, target, op.window, groups)
    steps = (rows, code.graph.size(source) // groups, code.graph.size(target) // groups)
    for group in range(groups):
        starts = zip((bias, code.at(source), code.at(target)), steps, strict=True)
        here = [f"{start} + {group * step}" for start, step in starts]
        if layer.place is Place.STRIPS:
            code.parts.need("gather", "gather4", "conv_row")
            number, beta = _strips(code, layer)
            code.call("scn_convolution_row", window, number, group, beta, *here, "s->scratch", int(op.relu))
        else:
            code.parts.need("gather", "gather4", "conv_ram")
            weights = f"{_rows(layer)} + {group * rows * op.columns}"
            code.call("scn_convolution", window, weights, *here, "s->scratch", int(op.relu))


def _write_pooled(code: FloatCode, layer: Layer, bias: str, pool: Window) -> None:
    """A convolution whose pooling is part of it."""
    op, groups = layer.op, layer.op.groups
    (source,), target, rows = op.sources, op.target, op.rows // groups
    window = code.add_pooled(f"window_{layer.number}", source, target, op.window, pool, groups)
    count, least = math.prod(code.graph.shapes[target][1:]), _least(op)
    steps = (rows, code.graph.size(source) // groups, rows * count)
    for group in range(groups):
        starts = zip((bias, code.at(source), code.at(target)), steps, strict=True)
        here = [f"{start} + {group * step}" for start, step in starts]
        if layer.place is Place.STRIPS:
            code.parts.need("gather", "gather_pooled", "conv_pooled_row")
            number, beta = _strips(code, layer)
            code.call("scn_convolution_pooled_row", window, number, group, beta, *here, "s->scratch", least)
        else:
            code.parts.need("gather", "gather_pooled", "conv_pooled_ram")
            weights = f"{_rows(layer)} + {group * rows * op.columns}"
            code.call("scn_convolution_pooled", window, weights, *here, "s->scratch", count, count, least)


def _least(op: Affine) -> str:
    return "0.0f" if op.relu else "-FLT_MAX"


def _write_two(code: FloatCode, layer: Layer) -> None:
    """A pooled convolution with the one before it, whose values exist in strips only."""
    first, (between,), target = (
        code.arrangement.of(code.strips[layer.op.sources[0]]),
        layer.op.sources,
        layer.op.target,
    )
    (source,), width = first.op.sources, strips.positions(layer.op)
    code.parts.need("gather", "gather_pooled", "conv_pooled_ram", "conv_pooled_two")
    both: list[str] = []
    for one, read, made, sees in ((first, source, between, None), (layer, between, target, width)):
        assert one.op.pool is not None
        name = f"window_{one.number}"
        window = code.add_pooled(name, read, made, one.op.window, one.op.pool, 1, sees)
        there = code.at(read) if one is first else code.at(made)
        both += [window, _rows(one), _bias(code, one), there, _least(one.op)]
    strip = f"s->scratch + {max(_patch_and_sums(code, one) for one in (first, layer))}"
    code.call("scn_two_pooled", *both, strip, "s->scratch")


def scratch(code: FloatCode, layer: Layer) -> int:
    """Floats for a patch of the input and a strip of rows; and for values that exist in strips only."""
    op = layer.op
    if op.sources[0] in code.strips:
        before = code.arrangement.of(code.strips[op.sources[0]])
        needed = max(_patch_and_sums(code, one) for one in (before, layer))
        return needed + strips.size(code.graph, op)
    return _patch_and_sums(code, layer)


def _patch_and_sums(code: FloatCode, layer: Layer) -> int:
    op = layer.op
    if op.is_linear(code.graph):
        return 4 * min(op.columns, STRIP) if layer.place is Place.STRIPS and not _by_rows(code, layer) else 0
    channels, area = code.graph.shapes[op.sources[0]][0] // op.groups, math.prod(op.window.kernel)
    patch = 4 * min(channels, max(1, PATCH // area)) * area
    return patch + 4 * (op.columns if layer.place is Place.STRIPS else op.rows // op.groups)
