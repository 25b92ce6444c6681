"""Rows of weights in whole numbers: 8-bit weights, sums of 32 bits.

A layer's sums are multiplied by one number a row, which holds the scales of weights and activations and the
gain of a norm layer (see `rescale`), so that only weights that are mixed need any work when alpha changes. By
rows, a linear layer takes the sums of each base model by itself, and nothing is mixed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from scn.export.layers import Arrangement, Layer, Place, arrange
from scn.export.operations.affine.rescale import Rescaling
from scn.export.pack import WORD, packed_words, padded, side_by_side
from scn.export.parts import Struct, Table

if TYPE_CHECKING:
    from scn.export.base import Options
    from scn.export.graph import Graph
    from scn.export.int8_code import Int8Code, Scratch
    from scn.export.operations.affine import Affine


HALF = (0, 2**16)  # what is allowed of numbers that are loaded
ADDED = (-(2**29) - 2**17, 2**29 + 2**17)


def arranged(graph: Graph, ops: list[Affine], options: Options) -> Arrangement:
    """Where each layer is, by the table in `layers`."""
    layers = [Layer(op.target, op, _place(op, options), padded(op.rows * op.columns)) for op in ops]

    def vectors(op: Affine) -> int:
        by_rows = _place(op, options) is Place.STRIPS and op.is_linear(graph)
        return 2 * op.rows if _mixes_factors(op) and not by_rows else 0

    return arrange(layers, vectors)


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
            table = Table("int8_t", f"scn_{name}", torch.cat(sets, dim=-1), name, words=True)
            code.parts.constants.append(table)


def _side_by_side(code: Int8Code, layer: Layer) -> bool:
    """Whether base models stand side by side: where a map mixes all of them, and nothing else reads them."""
    return layer.in_bases and code.options.theta == "ram" and code.graph.entries is None


def _words(code: Int8Code, layer: Layer) -> torch.Tensor:
    op = layer.op
    weight, _ = code.stored[op.target]
    filling = weight.new_zeros(len(weight), -op.rows * op.columns % WORD)
    if not _side_by_side(code, layer):
        return torch.cat([packed_words(weight, op.groups), filling], dim=1)
    return torch.cat([side_by_side(weight, op.groups, words=True), filling.flatten()])


def write(code: Int8Code, layer: Layer) -> None:
    """The tables of one layer, what mixes it, and its calls."""
    rows = _add_rows(code, layer)
    factors = _add_factors(code, layer)
    if layer.op.is_linear(code.graph):
        _write_linear(code, layer, rows, factors)
    else:
        _write_convolution(code, layer, rows, factors)


def _weights(code: Int8Code, layer: Layer) -> str:
    return code.parts.weights(f"scn_{'bases' if layer.in_bases else 'shared'}", words=True)


def _add_rows(code: Int8Code, layer: Layer) -> str:
    """The rows of a layer as a C expression, or the address of what they are mixed from."""
    times = layer.op.bases if _side_by_side(code, layer) else 1
    parts, base = code.parts, f"{_weights(code, layer)} + {times * layer.base}"
    if _mixes_factors(layer.op):
        _add_layer(code, layer, base)
    if layer.place is Place.FLASH:
        return base
    if layer.place is Place.STRIPS and layer.op.is_linear(code.graph):
        return f"&scn_layer_{layer.number}"
    parts.need("int8_step", "int8_shares")
    if _side_by_side(code, layer):
        parts.need("inline", "int8_pairs", "int8_mix_pairs")
    else:
        parts.need("int8_mix", *(["inline", "int8_mix_few"] if parts.few else []))
    if layer.place is Place.STRIPS:
        if parts.in_place:
            parts.need("int8_alone")
        return f"&scn_layer_{layer.number}"
    if not _side_by_side(code, layer):
        parts.need("int8_rows_ram")
    there = f"theta->rows + {layer.theta}"
    parts.mix.append(f"scn_mix_rows_int8(&scn_layer_{layer.number}, beta, (int8_t *){there});")
    return f"(const int8_t *){there}"


def _rescaling(code: Int8Code, op: Affine) -> Rescaling:
    source, target = (code.quantisation[value].scale for value in (op.sources[0], op.target))
    return op.rescaling(code.graph, code.stored[op.target][1], source, target)


def _add_layer(code: Int8Code, layer: Layer, base: str) -> None:
    number, op, parts, how = layer.number, layer.op, code.parts, _rescaling(code, layer.op)
    parts.need("whole_number", "int8_rows")
    pointers = [base, parts.add_floats(f"scn_scale_{number}", how.scales, "scales")]
    tables = {"gain": how.gains, "inner": how.inners, "bias": how.biases}
    for name, values in tables.items():
        if values is None:
            pointers.append("0")
        else:
            pointers.append(parts.add_floats(f"scn_{name}_{number}", values.expand(code.graph.dims, -1)))
    pointers.append(parts.add_floats(f"scn_unit_{number}", how.unit, "scales"))
    pointers.append(
        "0" if how.joint is None else parts.add_floats(f"scn_joint_{number}", how.joint, "scales")
    )
    stride = code.arrangement.base_size if layer.in_bases else 0
    sizes = map(str, (stride, op.bases, op.groups, op.rows // op.groups, op.columns))
    half = parts.number(how.half, HALF)
    parts.constants.append(Struct("scn_rows", f"scn_layer_{number}", [*pointers, half, *sizes]))


def _add_factors(code: Int8Code, layer: Layer) -> tuple[str, ...]:
    """What sums are multiplied by, and what is added: constants, or mixed for each alpha; none by rows."""
    op, number = layer.op, layer.number
    if layer.vectors is not None:
        code.parts.need("int8_step", "int8_steps")
        here = (f"theta->steps + {layer.vectors}", f"theta->steps + {layer.vectors + op.rows}")
        code.parts.mix.append(f"scn_mix_steps(&scn_layer_{number}, beta, {here[0]}, {here[1]});")
        return here
    if _mixes_factors(op):
        return ()
    how, beta = _rescaling(code, op), torch.ones(1)
    return (
        code.parts.add_numbers(f"scn_multiplier_{number}", how.multiplier(beta), "scales"),
        code.parts.add_numbers(f"scn_offset_{number}", how.offset(beta), limits=ADDED),
    )


def _widened(code: Int8Code, source: int) -> str:
    """Where a value lies with 16 bits and without its zero point; one of 8 bits is copied to the scratch."""
    if code.bits(source) == 16:
        return code.at(source)
    code.parts.need("int8_widen")
    zero = code.steps(code.quantisation[source].zero)
    code.call("scn_widen", code.at(source), "s->scratch.halves", code.graph.size(source), zero)
    return "s->scratch.halves"


def _widening(code: Int8Code, source: int) -> int:
    """Bytes of the scratch that this takes."""
    return padded(2 * code.graph.size(source)) if code.bits(source) == 8 else 0


def _write_linear(code: Int8Code, layer: Layer, rows: str, factors: tuple[str, ...]) -> None:
    op = layer.op
    (source,), last, bits = op.sources, op.target == code.graph.output, code.bits(op.target)
    x = _widened(code, source)
    limits = code.add_limits(op.target, _rescaling(code, op).fraction)
    end = (code.parts.decimal(code.quantisation[op.target].scale), limits) if last else (limits,)
    y = code.output if last else code.at(op.target)
    if layer.place is Place.STRIPS:
        code.parts.need("int8_row", "int8_last_row" if last else f"int_linear_row:{bits}")
        code.call("scn_last_row_int8" if last else f"scn_linear_row_int{bits}", rows, code.beta, x, y, *end)
        return
    code.parts.need(*([] if last else _of_8_bits(bits)), "int8_last" if last else f"int_affine:{bits}")
    sizes = (op.rows, op.columns) if last else (op.rows, op.columns, 1)
    code.call("scn_last_int8" if last else f"scn_affine_int{bits}", rows, *factors, x, y, *sizes, *end)


def _write_convolution(code: Int8Code, layer: Layer, rows: str, factors: tuple[str, ...]) -> None:
    op, groups = layer.op, layer.op.groups
    (source,), target, count = op.sources, op.target, op.rows // groups
    bits, widened = code.bits(target), _widened(code, source)
    if op.pool is None:
        window = code.add_window(f"window_{target}", source, target, op.window, groups)
    else:
        window = code.add_pooled(f"window_{target}", source, target, op.window, op.pool, groups)
    limits = code.add_limits(target, _rescaling(code, op).fraction)
    patches = f"s->scratch.halves + {_widening(code, source) // 2}"
    code.parts.need("inline", *_of_8_bits(bits), "int_gather", "int8_patches")
    kind = "" if op.pool is None else "_pooled"
    if op.pool is None:
        code.parts.need("int_gather4", f"int_conv_block:{bits}")
    else:
        code.parts.need("int_gather_pooled", f"int_pooled_block:{bits}")
    for group in range(groups):
        x = f"{widened} + {group * code.graph.size(source) // groups}"
        y = f"{code.at(target)} + {group * code.graph.size(target) // groups}"
        here = (*(f"{factor} + {group * count}" for factor in factors), x, y, patches)
        if layer.place is Place.STRIPS:
            code.parts.need(f"int_conv{kind}_row:{bits}")
            mixed = (window, rows, group, code.beta)
            code.call(f"scn_convolution{kind}_row_int{bits}", *mixed, *here, code.buffer, limits)
        else:
            code.parts.need(f"int_conv{kind}:{bits}")
            weights = f"{rows} + {group * count * op.columns}"
            code.call(f"scn_convolution{kind}_int{bits}", window, weights, *here, limits)


def _of_8_bits(bits: int) -> list[str]:
    return ["eight_bits"] if bits == 8 else []


def scratch(code: Int8Code, layer: Layer) -> Scratch:
    """The input, widened, with four patches of it, and a strip of rows."""
    op, strips = layer.op, layer.place is Place.STRIPS
    widened = _widening(code, op.sources[0])
    if op.is_linear(code.graph):
        return widened, 0
    return widened + 16 * -(-op.columns // 2), 4 * op.columns if strips else 0
