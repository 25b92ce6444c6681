"""Networks that share their wide part: it stays in flash, and only what is configured is in RAM."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
import torch
from torch import nn

from generated import OK, built
from mapped import MAPPED, Mapped
from needs import lacking
from scn.backbones import MLP
from scn.export import Options, interpret, rounding, targets
from scn.export.c import generate, graph_of
from scn.export.operations.affine import layers_of
from scn.export.quantisation import quantised_rows

SHAPE = (1, 8, 8)
# Between them they have every operation of ONNX that a map is made of; a case takes two seconds.
OPERATIONS = (
    "nodes on a plane",
    "nodes among turns",
    "experts on a line",
    "fourier on a circle",
    "categories",
)
NODES = Mapped("nodes", "rotation", 5)
KINDS = ("factored:4", "low-rank:3", "gains", "shared:layers.1.weight")
WAYS = {
    f"{theta}, {weights}": Options(theta=theta, weights=weights)
    for theta in ("ram", "row", "fixed")
    for weights in ("float32", "float16", "int8")
}


SLOW = ("ram, float16", "row, float32", "row, int8", "fixed, float16", "fixed, int8")
ANSWERS = [  # between them those with gains have every kind of weights and every place
    pytest.param(kind, way, marks=pytest.mark.slow) if "gains" in kind and way in SLOW else (kind, way)
    for kind in (*KINDS, "convolutions factored:2", "convolutions low-rank:2", "convolutions gains")
    for way in WAYS
]


def convolutions() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 5, 3), nn.ReLU(),
        nn.Flatten(), nn.Linear(20, 7), nn.ReLU(), nn.Linear(7, 4),
    )  # fmt: skip


@pytest.mark.parametrize(("kind", "way"), ANSWERS)
def test_compact_networks_answer_as_torch_does(kind: str, way: str, tmp_path: Path) -> None:
    options, (*convolves, subspace) = WAYS[way], kind.split()
    torch.manual_seed(0)
    net = NODES.network(convolutions() if convolves else MLP(SHAPE, 5, 9), subspace=subspace)
    angle = torch.tensor([50.0])
    what = NODES.subject(net, SHAPE, params=angle if options.theta == "fixed" else None)
    program = built(what, options, tmp_path)
    alpha, x = what.transform.encode(angle), torch.randn(8, *SHAPE)
    if options.theta != "fixed":
        assert program.configure(alpha) == OK
    graph = graph_of(what, what.plain(angle) if options.theta == "fixed" else net)
    if options.weights != "float32":
        graph = rounding.with_rounded_weights(graph, options)
    beta = torch.ones(1) if options.theta == "fixed" else net.beta(alpha).detach()
    expected = interpret.run(interpret.Float(graph, beta), x.double())[graph.output].flatten(1).float()
    if options.weights == "float32":
        with torch.no_grad():
            torch.testing.assert_close(expected, net.configure(alpha)(x), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(program.answers(x), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("theta", ["ram", "row"])
@pytest.mark.parametrize(
    "kind", [*KINDS, "convolutions factored:2", "convolutions low-rank:2", "convolutions gains"]
)
def test_compact_networks_in_whole_numbers(kind: str, theta: str, tmp_path: Path) -> None:
    *convolves, subspace = kind.split()
    torch.manual_seed(0)
    net = NODES.network(convolutions() if convolves else MLP(SHAPE, 5, 9), subspace=subspace)
    what = NODES.subject(net, SHAPE)
    program = built(what, Options(theta=theta, weights="int8", inference="int8"), tmp_path)  # type: ignore[arg-type]
    alpha, x = what.transform.encode(torch.tensor([50.0])), torch.randn(8, *SHAPE)
    assert program.configure(alpha) == OK
    graph = graph_of(what, net)
    quantisation = rounding.quantisation_of(what, graph)
    stored = {op.target: quantised_rows(op.weight) for op in layers_of(graph)}
    whole = interpret.Int8(graph, net.beta(alpha).detach(), quantisation, stored, theta == "row")
    expected = interpret.run(whole, x.double())[graph.output].flatten(1)
    assert (program.answers(x).double() - expected).abs().max() <= 0.02 * expected.abs().max()


def test_only_what_is_configured_takes_ram_and_flash_for_each_base_model() -> None:
    """Of 1024-32-10 factored by 32: A (32 x 32) and the output layer, with their biases."""
    net = NODES.network(MLP((1, 32, 32), 10, 32), subspace="factored:32")
    facts = generate(NODES.subject(net, (1, 32, 32)), Options()).facts
    assert facts["ram"]["theta"] == 4 * (32 * 32 + 32 + 32 * 10 + 10)
    assert facts["flash"]["bases"] == 4 * 5 * (32 * 32 + 32 * 10)
    assert facts["flash"]["shared"] == 4 * 32 * 1024


@pytest.mark.parametrize("inference", ["float", "int8"])
@pytest.mark.parametrize("convolves", [False, True], ids=["linear", "convolutions"])
def test_an_expert_is_used_where_it_is_stored(inference: str, convolves: bool, tmp_path: Path) -> None:
    """With theta in strips: the outputs are those of the same expert in RAM, bit for bit or nearly so."""
    case = MAPPED["experts on a circle"]
    torch.manual_seed(0)
    net = case.network(convolutions() if convolves else MLP(SHAPE, 5, 9))
    what, weights = case.subject(net, SHAPE), "float32" if inference == "float" else "int8"
    programs = [
        built(what, Options(theta=theta, weights=weights, inference=inference), tmp_path / theta)  # type: ignore[arg-type]
        for theta in ("row", "ram")
    ]
    source = programs[0].source.read_text()
    assert ("scn_alone(m, beta, base)" in source) is convolves
    assert convolves or not re.search(r"scn_mix(_rows|_int8)?\(", source)  # linear layers mix nothing at all
    x = torch.randn(8, *SHAPE)
    for alpha in what.transform.encode(torch.tensor([[10.0], [100.0], [-100.0]])):
        assert [program.configure(alpha) for program in programs] == [OK, OK]
        ours, same = (program.answers(x) for program in programs)
        torch.testing.assert_close(ours, same, rtol=1e-5, atol=1e-5)
        if inference == "float":
            with torch.no_grad():
                torch.testing.assert_close(ours, net.configure(alpha)(x), rtol=1e-5, atol=1e-5)
    half = torch.zeros(net.dims)
    half[2], half[5] = 0.5, -0.25
    for beta in (half, 2 * half.clamp_min(0), half.clamp_max(0)):
        assert [program.call("mix", beta.numpy()) for program in programs] == [OK, OK]
        ours, same = (program.answers(x) for program in programs)
        if inference == "float":
            torch.testing.assert_close(ours, same, rtol=1e-5, atol=1e-5)
            continue
        graph = graph_of(what, net)  # whole numbers round what is mixed in RAM, and by rows they do not
        quantisation = rounding.quantisation_of(what, graph)
        stored = {op.target: quantised_rows(op.weight) for op in layers_of(graph)}
        for found, by_rows in ((ours, True), (same, False)):
            whole = interpret.Int8(graph, beta, quantisation, stored, by_rows)
            expected = interpret.run(whole, x.double())[graph.output].flatten(1).float()
            torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "subspace"),
    [
        pytest.param(kind, "full", marks=[] if kind in OPERATIONS else pytest.mark.slow)
        for kind in MAPPED
        if "many" not in kind and "much" not in kind
    ]
    + [("nodes on a circle", kind) for kind in KINDS],
)
def test_onnx_has_every_map_and_subspace(kind: str, subspace: str, tmp_path: Path) -> None:
    if any(importlib.util.find_spec(name) is None for name in ("onnx", "onnxscript", "onnxruntime")):
        lacking("onnxruntime", "`pip install 'scn[export]'`")
    case = MAPPED[kind]
    net = case.network(MLP(SHAPE, 5, 9), subspace=subspace)
    chosen = case.made().sample(1, torch.Generator().manual_seed(0))[0]
    report = targets.get("onnx")(case.subject(net, SHAPE, params=chosen), Options(theta="fixed"), tmp_path)
    assert report.facts["max_difference"] < 1e-5
