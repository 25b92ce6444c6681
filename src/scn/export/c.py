"""The target "c": one header and one source file in C99 that need nothing but a compiler."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import nn

from scn.core.errors import ScnError
from scn.core.network import SCN
from scn.core.storage import write_atomically
from scn.export import rounding, sensors, source
from scn.export.base import Options, Report, targets
from scn.export.code import FloatCode, Parts
from scn.export.code_int8 import Int8Code
from scn.export.graph import Graph
from scn.export.header import header
from scn.export.subject import Subject
from scn.export.trace import trace


@dataclass(frozen=True)
class Generated:
    """The texts of NAME.h and NAME.c, and facts about them."""

    header: str
    source: str
    facts: dict[str, Any]


@targets.register("c")
def write(subject: Subject, options: Options, folder: Path) -> Report:
    """Write NAME.h and NAME.c."""
    made = generate(subject, options)
    files = [folder / f"{subject.name}.h", folder / f"{subject.name}.c"]
    for path, text in zip(files, (made.header, made.source), strict=True):
        write_atomically(path, text.encode())
    if options.sensor is not None:
        files += sensors.get(options.sensor, subject.transform).copy(folder)
    return Report(files, made.facts)


def generate(subject: Subject, options: Options) -> Generated:
    """The C code of a subject. A network without base models is one configuration, whatever theta says."""
    network, options = _configured(subject, options)
    graph = graph_of(subject, network)
    parts, accuracy = _parts(subject, options, graph)
    confignet = network.confignet if isinstance(network, SCN) else None
    text = source.source(subject, options, graph, parts, confignet)
    facts = {**_facts(subject, options, graph, parts), **accuracy}
    return Generated(header(subject, options, graph, parts, facts), text, facts)


def _parts(subject: Subject, options: Options, graph: Graph) -> tuple[Parts, dict[str, Any]]:
    """The pieces of the source, and what rounded weights and values do to the accuracy."""
    if options.weights == "float32":
        return FloatCode(graph, options).build(), {}
    if options.inference == "float":
        return FloatCode(graph, options).build(), rounding.of_weights(subject, options, graph)
    steps = rounding.steps_of(subject, graph)
    code = Int8Code(graph, options, steps)
    return code.finish(), rounding.of_all(subject, graph, steps, code.stored)


def _configured(subject: Subject, options: Options) -> tuple[nn.Module, Options]:
    """The network to export: as it is, or its configuration for one setting."""
    if not subject.is_scn:
        if subject.params is not None:
            raise ScnError("a network without base models is the same for every setting: leave out `params`")
        return subject.network, replace(options, theta="fixed", double_buffer=False)
    if options.theta == "fixed":
        if subject.params is None:
            raise ScnError("theta=fixed is for one setting: say which by `params`")
        return subject.plain(subject.params), options
    if subject.params is not None:
        raise ScnError(f"`params` is for theta=fixed, but theta is {options.theta}")
    return subject.network, options


def graph_of(subject: Subject, network: nn.Module) -> Graph:
    plain = subject.plain(subject.some_params()) if network is subject.network else network
    return trace(plain, network, subject.shape)


def _facts(subject: Subject, options: Options, graph: Graph, parts: Parts) -> dict[str, Any]:
    return {
        "name": subject.name,
        "method": subject.method_name,
        **options.to_json(),
        "dims": graph.dims,
        "alpha_dim": subject.transform.alpha_dim,
        "inputs": graph.size(0),
        "outputs": graph.size(graph.output),
        "weights_per_base": sum(op.rows * (op.columns + 1) for op in graph.affine),
        "macs": graph.macs(),
        "flash": {**_summed(parts.flash), "total": sum(size for _, size in parts.flash)},
        "ram": {**_summed(parts.ram), "total": sum(size for _, size in parts.ram)},
    }


def _summed(sizes: list[tuple[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, size in sizes:
        found[name] = found.get(name, 0) + size
    return found
