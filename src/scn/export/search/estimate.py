"""A second small network that reads alpha off the input: its layers, and the nearest setting."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torch import nn

from scn.backbones.estimator import Estimator
from scn.export.base import Options
from scn.export.graph import CannotExport, Graph
from scn.export.operations.affine.in_float import STRIP
from scn.export.pack import BLOCK, packed
from scn.export.parts import Field, Parts, Table
from scn.export.predictions import meaning_of
from scn.export.quantisation import quantised_rows
from scn.export.search.calls import add_calls, indented, template, words
from scn.export.search.shared import LABEL
from scn.export.search_plan import ByEstimator, Lookup
from scn.export.subject import Subject


def add(parts: Parts, subject: Subject, options: Options, graph: Graph) -> None:
    """A search that takes the mean of what the estimator says of each input."""
    plan = subject.search
    assert isinstance(plan, ByEstimator)
    layers = list(_layers(plan.estimator, math.prod(subject.shape)))
    size, widest = subject.transform.alpha_dim, max(layer.out_features for layer, _ in layers)
    statements = _calls(parts, options, layers)
    for name, count in {"hidden": 2 * widest, "outputs": size, "sums": size}.items():
        parts.enlarge(Field("float", f"search_{name}", count, LABEL))
    parts.enlarge(Field("uint32_t", "search_count", 1, LABEL))
    said = words(subject, options, parts, meaning_of(subject).size)
    lookups = ", ".join(_lookup(parts, number, one) for number, one in enumerate(plan.lookups))
    made = {**said, "@LOOKUPS@": lookups, "@ESTIMATE@": indented(statements, 1)}
    parts.search.defined.append(template("estimate", made))
    add_calls(subject, options, parts, {**said, "@SUMS@": str(size)})


def _layers(estimator: nn.Module, values: int) -> Iterator[tuple[nn.Linear, bool]]:
    """Linear layers, and whether a ReLU follows."""
    if not isinstance(estimator, Estimator):
        raise CannotExport(f"the estimator is a {type(estimator).__name__}: only those of scn export")
    if estimator.inputs != values:
        raise CannotExport(
            f"the estimator reads a summary of an input of {values:,} values, its spectrum among it, which C "
            "code does not make: use search=grid"
        )
    layers = list(estimator.layers)
    for layer, behind in zip(layers, [*layers[1:], None], strict=True):
        if isinstance(layer, nn.Linear):
            yield layer, isinstance(behind, nn.ReLU)


def _calls(parts: Parts, options: Options, layers: list[tuple[nn.Linear, bool]]) -> list[str]:
    """The calls of all layers, with weights stored like those of the network."""
    found, x, widest = [], "x", max(layer.out_features for layer, _ in layers)
    for number, (layer, relu) in enumerate(layers):
        last = number == len(layers) - 1
        y = "s->search_outputs" if last else f"s->search_hidden + {number % 2 * widest}"
        bias = parts.add_floats(f"scn_estimator_bias_{number}", layer.bias, LABEL)
        found.append(KINDS[options.weights](parts, number, layer, (bias, x, y), int(relu)))
        x = y
    return found


def _sizes(layer: nn.Linear) -> str:
    return f"{layer.out_features}, {layer.in_features}"


def _float32(parts: Parts, number: int, layer: nn.Linear, where: tuple[str, str, str], relu: int) -> str:
    parts.need("block", "store", "linear", "linear_ram")
    weights = parts.add_floats(f"scn_estimator_{number}", packed(layer.weight.unsqueeze(0)), LABEL)
    return f"scn_linear({weights}, {', '.join(where)}, {_sizes(layer)}, {relu});"


def _float16(parts: Parts, number: int, layer: nn.Linear, where: tuple[str, str, str], relu: int) -> str:
    """Unpacked a few columns at a time, like shared weights of the network."""
    parts.need("block", "store", "linear", "rows", "coefficients", "mix_float16", "linear_strips")
    parts.need(*(["only"] if parts.few else []))
    table = Table("uint16_t", f"scn_estimator_{number}", packed(layer.weight.unsqueeze(0)), LABEL, words=True)
    rows = f"{table.name}.bytes, 0, 0, 0, 0, 0, 1, 1, {_sizes(layer)}"
    parts.constants += [table, f"static const scn_rows scn_estimator_rows_{number} = {{{rows}}};\n"]
    parts.enlarge(Field("float", "search_strip", BLOCK * STRIP, LABEL))
    return f"scn_linear_strips(&scn_estimator_rows_{number}, 0, {', '.join(where)}, s->search_strip, {relu});"


def _int8(parts: Parts, number: int, layer: nn.Linear, where: tuple[str, str, str], relu: int) -> str:
    parts.need("search_linear_int8")
    stored, scale = quantised_rows(layer.weight.detach().double().unsqueeze(0))
    weights = Table("int8_t", f"scn_estimator_{number}", stored.flatten(), LABEL)
    parts.constants.append(weights)
    factor = parts.add_floats(f"scn_estimator_scale_{number}", scale, LABEL)
    return f"scn_linear_bytes({weights.name}, {factor}, {', '.join(where)}, {_sizes(layer)}, {relu});"


KINDS = {"float32": _float32, "float16": _float16, "int8": _int8}


def _lookup(parts: Parts, number: int, lookup: Lookup) -> str:
    tables = {"values": lookup.values, "alphas": lookup.alphas}
    names = [parts.add_floats(f"scn_lookup_{key}_{number}", values, LABEL) for key, values in tables.items()]
    return f"{{{', '.join(names)}, {len(lookup.values)}, {lookup.alphas.shape[1]}}}"
