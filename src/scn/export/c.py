"""The target "c": one header and one source file in C99 that need nothing but a compiler."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import nn

from scn.core.errors import ScnError
from scn.core.network import SCN
from scn.export import guard, inputs, maps, requests, rounding, search, sensors
from scn.export.base import Options, Report, target
from scn.export.blob.code import members
from scn.export.blob.format import read
from scn.export.blob.layout import BlobLayout, laid_out
from scn.export.cmake import cmake
from scn.export.float_code import FloatCode
from scn.export.graph import Graph
from scn.export.header import header
from scn.export.identity import model_hash
from scn.export.int8_code import Int8Code
from scn.export.interpret import Float, Int8
from scn.export.names import HEADERS, refuse_taken
from scn.export.operations.affine import layers_of
from scn.export.parts import Parts
from scn.export.predictions import Meaning, meaning_of
from scn.export.selftest import Arithmetic, Golden, golden
from scn.export.source import source
from scn.export.staging import write_staged
from scn.export.state import parameter
from scn.export.subject import Subject
from scn.export.trace import trace


@dataclass(frozen=True)
class Generated:
    """The texts of NAME.h and NAME.c, and facts about them; where weights are not in the code, NAME.blob."""

    header: str
    source: str
    facts: dict[str, Any]
    blob: bytes | None = None


def check(subject: Subject, options: Options) -> None:
    """Refuse a setting where none is used, none where one is, a taken name, and another's sensor."""
    refuse_taken(subject.name, HEADERS, "a header")
    if subject.params is None:
        if subject.is_scn and options.theta == "fixed":
            raise ScnError("theta=fixed is for one setting: say which by `params`")
    elif not subject.is_scn:
        raise ScnError("a network without base models is the same for every setting: leave out `params`")
    elif options.theta != "fixed":
        raise ScnError(f"`params` is for theta=fixed, but theta is {options.theta}")
    if options.sensor is not None:
        sensors.get(options.sensor, subject.transform)
    inputs.check(subject, options)
    guard.check(subject, options)
    search.check(subject, options)
    if options.weights_in == "storage" and not subject.is_scn:
        raise ScnError(
            "a network without base models reads its weights in each inference, which takes memory that is "
            "mapped: use `weights_in=blob`"
        )


@target("c", check, has_blobs=True, searches=True)
def write(subject: Subject, options: Options, folder: Path) -> Report:
    """Write NAME.h and NAME.c, a file that CMake includes, and the blob where weights are in one."""
    made = generate(subject, options)
    texts = {".h": made.header.encode(), ".c": made.source.encode(), ".cmake": cmake(subject.name).encode()}
    if made.blob is not None:
        texts[".blob"] = made.blob
    files = [folder / f"{subject.name}{ending}" for ending in texts]
    for path, content in zip(files, texts.values(), strict=True):
        write_staged(path, content)
    if options.sensor is not None:
        files += sensors.get(options.sensor, subject.transform).copy(folder)
    return Report(files, made.facts)


def generate(subject: Subject, options: Options) -> Generated:
    """The C code of a subject. A network without base models is one configuration, whatever theta says."""
    made = _prepare(subject, options)
    found = made.layout or golden(subject, made.options, made.graph, made.arithmetic)
    return Generated(
        header(subject, made.options, made.graph, made.parts, made.meaning, made.facts),
        source(subject.name, made.options, made.parts, made.meaning, found),
        made.facts,
        made.layout.content() if made.layout else None,
    )


def facts_of(subject: Subject, options: Options) -> dict[str, Any]:
    """The facts about the C code of a subject, without the code."""
    return _prepare(subject, options).facts


@dataclass(frozen=True)
class _Prepared:
    """All that the code is written from."""

    options: Options
    graph: Graph
    parts: Parts
    meaning: Meaning
    facts: dict[str, Any]
    arithmetic: Arithmetic
    layout: BlobLayout | None  # of the blob, where weights are not in the code


def _prepare(subject: Subject, options: Options) -> _Prepared:
    check(subject, options)
    network, options = _configured(subject, options)
    graph = graph_of(subject, network)
    graph.searched = subject.search is not None
    takes = (
        parameter(subject.name, options, "const float *outputs, float *values") if options.in_blob else None
    )
    meaning = meaning_of(subject, takes)
    parts, rounded, arithmetic = _parts(subject, options, graph, meaning.outputs)
    if isinstance(network, SCN):
        maps.add(parts, subject.transform, network.map)
        parts.alphas = network.alpha_dim
        parts.guard = guard.policy_of(subject, options)
        parts.guarded = guard.state_bytes(options, parts.guard)
        parts.wishes = requests.wishes_bytes(parts)
        search.add(parts, subject, options, graph)
    parts.constants += meaning.tables
    inputs.add(parts, subject, options)
    identity = model_hash(parts)
    layout = None
    if options.in_blob:
        expected = golden(subject, options, graph, arithmetic)
        layout = _laid_out(subject, options, graph, parts, identity, expected)
    facts = {**_facts(subject, options, graph, parts), **meaning.facts, **rounded}
    if options.sensor is not None and parts.configurable:
        sensor = sensors.get(options.sensor, subject.transform)
        facts["threshold"] = sensor.threshold(subject, options.lose).to_json()
    if subject.search is not None:
        facts["search"] = subject.search.facts()
    facts["model_hash"] = identity
    if layout is not None:
        rest = layout.size - sum(parts.flash.values())
        flash = {**parts.flash, "head and checksum": rest, "total": layout.size}
        facts |= {"structure": layout.structure, "blob": layout.size, "flash": flash}
    return _Prepared(options, graph, parts, meaning, facts, arithmetic, layout)


def _laid_out(
    subject: Subject, options: Options, graph: Graph, parts: Parts, identity: str, expected: Golden
) -> BlobLayout:
    """Where the weights lie in the blob; refuses what a program could not read in pieces."""
    if options.weights_in == "storage" and "shared" in parts.flash:
        raise ScnError(
            f"each inference reads the {parts.flash['shared']:,} bytes of weights that all settings share, "
            "which takes memory that is mapped: use `weights_in=blob`"
        )
    layout = laid_out(subject, parts, identity, expected, graph.dims)
    parts.state += members(layout, options)
    return layout


def _parts(
    subject: Subject, options: Options, graph: Graph, output: str
) -> tuple[Parts, dict[str, Any], Arithmetic]:
    """The parts of the network, what rounding does to its score, and the arithmetic of the code in Python."""
    if options.weights == "float32":
        return FloatCode(graph, options, output).build(), {}, lambda beta: Float(graph, beta)
    if options.inference == "float":
        rounded = rounding.with_rounded_weights(graph, options)
        cost = rounding.of_weights(subject, options, graph)
        return FloatCode(graph, options, output).build(), cost, lambda beta: Float(rounded, beta)
    chosen = None if options.follows is None else read(Path(options.follows)).wide
    quantisation = rounding.quantisation_of(subject, graph, chosen)
    code = Int8Code(graph, options, output, quantisation)
    by_rows = options.theta == "row"
    cost = rounding.of_all(subject, graph, quantisation, code.stored, by_rows)
    return code.build(), cost, lambda beta: Int8(graph, beta, quantisation, code.stored, by_rows)


def _configured(subject: Subject, options: Options) -> tuple[nn.Module, Options]:
    """The network to export: as it is, or its configuration for one setting."""
    if not subject.is_scn:
        return subject.network, replace(options, theta="fixed", double_buffer=False)
    if options.theta != "fixed":
        return subject.network, options
    assert subject.params is not None
    return subject.plain(subject.params), options


def graph_of(subject: Subject, network: nn.Module) -> Graph:
    """The graph of a network; that of an SCN is recorded from a configured one, whose layers it has."""
    plain = network
    if isinstance(network, SCN):
        plain = network.configure(subject.transform.encode(subject.some_params())).eval()
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
