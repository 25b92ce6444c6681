"""Rows of weights in whole numbers: 8-bit weights, sums of 32 bits.

A layer's sums are multiplied by one factor a row, which holds the scales of weights and activations and the
gain of a norm layer, so that only weights that are mixed need any work when alpha changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from scn.export.layers import Arrangement, Layer, Place, arrange
from scn.export.operations.affine.in_float import STRIP
from scn.export.pack import WORD, exact, packed_words, padded
from scn.export.parts import Table

if TYPE_CHECKING:
    from scn.export.base import Options
    from scn.export.int8_code import Int8Code, Scratch
    from scn.export.operations.affine import Affine


def arranged(ops: list[Affine], options: Options) -> Arrangement:
    """Where each layer is, by the table in `layers`."""
    layers = [Layer(op.target, op, _place(op, options), padded(op.rows * op.columns)) for op in ops]
    return arrange(layers, lambda op: 2 * op.rows if _mixes_factors(op) else 0)


def _place(op: Affine, options: Options) -> Place:
    if op.bases == 1:
        return Place.FLASH
    return Place.STRIPS if options.theta == "row" else Place.RAM


def _mixes_factors(op: Affine) -> bool:
    return op.mixed or len(op.bias) > 1


def add_weights(code: Int8Code) -> None:
    """The weights of all layers, as base models and as shared weights."""
    for name, in_bases in (("bases", True), ("shared", False)):
        sets = [_words(code, layer) for layer in code.arrangement.layers if layer.in_bases is in_bases]
        if sets:
            table = Table("int8_t", f"scn_{name}", torch.cat(sets, dim=1), name, words=True)
            code.parts.constants.append(table)


def _words(code: Int8Code, layer: Layer) -> torch.Tensor:
    weight, _ = code.stored[layer.op.target]
    words = packed_words(weight, layer.op.groups)
    return torch.cat([words, words.new_zeros(len(words), -words.shape[1] % WORD)], dim=1)


def write(code: Int8Code, layer: Layer) -> None:
    """The tables of one layer, what mixes it, and its calls."""
    rows = _add_rows(code, layer)
    factors = _add_factors(code, layer)
    if layer.op.is_linear(code.graph):
        _write_linear(code, layer, rows, factors)
    else:
        _write_convolution(code, layer, rows, factors)


def _add_rows(code: Int8Code, layer: Layer) -> str:
    """The rows of a layer as a C expression, or the address of what they are mixed from."""
    parts, base = code.parts, f"scn_{'bases' if layer.in_bases else 'shared'}.bytes + {layer.base}"
    if layer.vectors is not None:
        _add_layer(code, layer, base)
    if layer.place is Place.FLASH:
        return base
    parts.need("int8_mix", *(["inline", "int8_mix_few"] if parts.few else []))
    if layer.place is Place.STRIPS:
        if parts.in_place:
            parts.need("int8_alone")
        return f"&scn_layer_{layer.number}"
    parts.need("int8_rows_ram")
    there = f"theta->rows + {layer.theta}"
    parts.mix.append(f"scn_mix_rows_int8(&scn_layer_{layer.number}, beta, (int8_t *){there});")
    return f"(const int8_t *){there}"


def _add_layer(code: Int8Code, layer: Layer, base: str) -> None:
    number, op, parts = layer.number, layer.op, code.parts
    parts.need("int8_rows")
    pointers = [base, parts.add_floats(f"scn_scale_{number}", code.stored[op.target][1], "scales")]
    for name in ("gain", "inner", "bias"):
        values = getattr(op, name)
        if values is None:
            pointers.append("0")
        else:
            pointers.append(parts.add_floats(f"scn_{name}_{number}", values.expand(code.graph.dims, -1)))
    scales = [exact(scale) for scale in _scales(code, op)]
    stride = code.arrangement.base_size if layer.in_bases else 0
    sizes = map(str, (stride, op.bases, op.groups, op.rows // op.groups, op.columns))
    values = ", ".join([*pointers, *scales, *sizes])
    parts.constants.append(f"static const scn_rows scn_layer_{number} = {{{values}}};\n")


def _scales(code: Int8Code, op: Affine) -> tuple[float, float]:
    """Of the input and of the values that it makes; the network's outputs are not quantised."""
    target = 1.0 if op.target == code.graph.output else code.quantisation[op.target].scale
    return code.quantisation[op.sources[0]].scale, target


def _add_factors(code: Int8Code, layer: Layer) -> tuple[str, str]:
    """What sums are multiplied by, and what is added: constants, or mixed for each alpha."""
    op, number = layer.op, layer.number
    if layer.vectors is not None:
        here = (f"theta->steps + {layer.vectors}", f"theta->steps + {layer.vectors + op.rows}")
        code.parts.mix.append(f"scn_mix_steps(&scn_layer_{number}, beta, {here[0]}, {here[1]});")
        return here
    source, target = _scales(code, op)
    factor = code.stored[op.target][1] * source / target
    return (
        code.parts.add_floats(f"scn_factor_{number}", factor, "scales"),
        code.parts.add_floats(f"scn_offset_{number}", op.bias / target),
    )


def _write_linear(code: Int8Code, layer: Layer, rows: str, factors: tuple[str, str]) -> None:
    op = layer.op
    (source,), last, bits = op.sources, op.target == code.graph.output, code.bits(op.target)
    x = code.at(source)
    if code.bits(source) == 8:
        code.parts.need("int8_widen")
        count, zero = code.graph.size(source), code.quantisation[source].zero
        code.call("scn_widen", x, "(int16_t *)s->scratch", count, zero)
        x = "(const int16_t *)s->scratch"
    end = int(op.relu) if last else code.add_limits(op.target)
    y = code.output if last else code.at(op.target)
    if layer.place is Place.STRIPS:
        code.parts.need("int8_row", "int8_last_row" if last else f"int_linear_row:{bits}")
        function = "scn_last_row_int8" if last else f"scn_linear_row_int{bits}"
        code.call(function, rows, code.beta, *factors, x, y, code.buffer, end)
        return
    code.parts.need("int8_last" if last else f"int_affine:{bits}")
    sizes = (op.rows, op.columns) if last else (op.rows, op.columns, 1)
    code.call("scn_last_int8" if last else f"scn_affine_int{bits}", rows, *factors, x, y, *sizes, end)


def _write_convolution(code: Int8Code, layer: Layer, rows: str, factors: tuple[str, str]) -> None:
    op, groups = layer.op, layer.op.groups
    (source,), target, count = op.sources, op.target, op.rows // groups
    before, behind = code.bits(source), code.bits(target)
    window = code.add_window(f"window_{target}", source, target, op.window, groups)
    end = (code.add_limits(target), code.quantisation[source].zero)
    code.parts.need(f"int_affine:{behind}", f"int_gather:{before}")
    for group in range(groups):
        x = f"{code.at(source)} + {group * code.graph.size(source) // groups}"
        y = f"{code.at(target)} + {group * code.graph.size(target) // groups}"
        here = (*(f"{factor} + {group * count}" for factor in factors), x, y, "(int16_t *)s->scratch")
        types = f"int{before}_int{behind}"
        if layer.place is Place.STRIPS:
            code.parts.need(f"int_conv_row:{before}:{behind}")
            mixed = (window, rows, group, code.beta)
            code.call(f"scn_convolution_row_{types}", *mixed, *here, code.buffer, *end)
        else:
            code.parts.need(f"int_conv:{before}:{behind}")
            weights = f"{rows} + {group * count * op.columns}"
            code.call(f"scn_convolution_{types}", window, weights, *here, *end)


def scratch(code: Int8Code, layer: Layer) -> Scratch:
    """A patch of the input, widened, and a strip of rows."""
    op, linear, strips = layer.op, layer.op.is_linear(code.graph), layer.place is Place.STRIPS
    if not linear:
        return 2 * op.columns, 4 * op.columns if strips else 0
    widened = 2 * code.graph.size(op.sources[0]) if code.bits(op.sources[0]) == 8 else 0
    return widened, 4 * min(op.columns, STRIP) if strips else 0
