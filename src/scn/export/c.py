"""The target "c": one header and one source file in C99 that need nothing but a compiler."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import nn

from scn.core.errors import ScnError
from scn.core.network import SCN
from scn.core.storage import write_atomically
from scn.export import rounding, sensors
from scn.export.base import Options, Report, targets
from scn.export.confignet import add_confignet
from scn.export.float_code import FloatCode
from scn.export.graph import Graph
from scn.export.header import header
from scn.export.int8_code import Int8Code
from scn.export.operations.affine import layers_of
from scn.export.parts import Parts
from scn.export.source import source
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
    if isinstance(network, SCN):
        add_confignet(parts, subject.transform, network.confignet)
    facts = {**_facts(subject, options, graph, parts), **accuracy}
    return Generated(header(subject, options, graph, parts, facts), source(subject, options, parts), facts)


def _parts(subject: Subject, options: Options, graph: Graph) -> tuple[Parts, dict[str, Any]]:
    """The parts of the network, and what rounded weights and values do to the accuracy."""
    if options.weights == "float32":
        return FloatCode(graph, options).build(), {}
    if options.inference == "float":
        return FloatCode(graph, options).build(), rounding.of_weights(subject, options, graph)
    quantisation = rounding.quantisation_of(subject, graph)
    code = Int8Code(graph, options, quantisation)
    return code.build(), rounding.of_all(subject, graph, quantisation, code.stored)


def _configured(subject: Subject, options: Options) -> tuple[nn.Module, Options]:
    """The network to export: as it is, or its configuration for one setting."""
    if not subject.is_scn:
        if subject.params is not None:
            raise ScnError("a network without base models is the same for every setting: leave out --alpha")
        return subject.network, replace(options, theta="fixed", double_buffer=False)
    if options.theta == "fixed":
        if subject.params is None:
            raise ScnError("theta=fixed is for one setting: say which by --alpha")
        return subject.plain(subject.params), options
    if subject.params is not None:
        raise ScnError(f"--alpha is for theta=fixed, but theta is {options.theta}")
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
        "weights_per_base": sum(op.rows * (op.columns + 1) for op in layers_of(graph)),
        "macs": graph.macs(),
        "flash": {**parts.flash, "total": sum(parts.flash.values())},
        "ram": {**parts.ram, "total": sum(parts.ram.values())},
    }
