"""Base models of 8 bits that are all mixed stand side by side, and are mixed as the reference mixes them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from test_export_int8 import Calibrated, expected
from torch import nn

from generated import OK, built, subject
from needs import emulated
from scn import SCN
from scn.backbones import MLP
from scn.device.build import build
from scn.device.emulate import Group, emulate
from scn.device.measure import export
from scn.export import Options, Subject, interpret, rounding
from scn.export.c import graph_of

RAM = Options(weights="int8")
WHOLE = Options(weights="int8", inference="int8")
ALPHA = torch.tensor([-0.6, 0.8])


def groups() -> nn.Module:
    """Two groups of five rows and 27 columns: the blocks of the second one begin within words."""
    return nn.Sequential(
        nn.Conv2d(6, 10, 3, groups=2), nn.BatchNorm2d(10), nn.ReLU(), nn.Flatten(), nn.Linear(90, 7)
    )


NETWORKS = {
    "MLP": (lambda: MLP((1, 6, 7), 7, 9), (1, 6, 7), "full"),
    "low rank": (lambda: MLP((1, 8, 8), 5, 9), (1, 8, 8), "low-rank:3"),
    "groups": (groups, (6, 5, 5), "full"),
}


def network(kind: str, dims: int) -> tuple[SCN, tuple[int, ...]]:
    make, shape, subspace = NETWORKS[kind]
    torch.manual_seed(0)
    net = SCN(make(), alpha_dim=2, dims=dims, subspace=subspace, seed=1).eval()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(1 + 0.3 * torch.randn_like(parameter))
    return net, shape


def in_floats(what: Subject, net: SCN, beta: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    graph = rounding.with_rounded_weights(graph_of(what, net), RAM)
    return interpret.run(interpret.Float(graph, beta), x.double())[graph.output].flatten(1).float()


@pytest.mark.parametrize(
    ("kind", "dims"), [("MLP", 2), ("MLP", 5), ("low rank", 3), ("groups", 4), ("groups", 3)]
)
def test_mixed_to_floats(kind: str, dims: int, tmp_path: Path) -> None:
    net, shape = network(kind, dims)
    what, x = subject(net, shape), torch.randn(10, *shape)
    program = built(what, RAM, tmp_path)
    assert program.configure(ALPHA) == OK
    right = in_floats(what, net, program.beta(ALPHA, dims), x)
    torch.testing.assert_close(program.answers(x), right, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(("kind", "dims"), [("MLP", 2), ("MLP", 5), ("groups", 4), ("groups", 3)])
def test_mixed_to_whole_numbers(kind: str, dims: int, tmp_path: Path) -> None:
    """To the last bit."""
    net, shape = network(kind, dims)
    what, x = Calibrated(**vars(subject(net, shape))), torch.randn(10, *shape)
    program = built(what, WHOLE, tmp_path)
    assert program.configure(ALPHA) == OK
    assert torch.equal(program.answers(x), expected(what, net, program.beta(ALPHA, dims), x, "ram"))


@pytest.mark.parametrize(("kind", "dims"), [("MLP", 3), ("MLP", 4), ("groups", 5)])
@pytest.mark.parametrize(
    "target", ["cortex-m4f", *(pytest.param(t, marks=pytest.mark.slow) for t in ("cortex-m3", "rv32"))]
)
def test_every_processor_mixes_alike(target: str, kind: str, dims: int, tmp_path: Path) -> None:
    processor = emulated(target)
    net, shape = network(kind, dims)
    what, x = Calibrated(**vars(subject(net, shape))), torch.randn(4, *shape)
    for options in (RAM, WHOLE):
        folder = tmp_path / options.inference
        code = export(what, options, folder / "c")
        program, _ = build(code, processor, folder / "build")
        found = emulate(program, code, processor, [Group(ALPHA.numpy(), x.numpy())])
        beta, outputs = torch.from_numpy(found.beta[0].copy()), torch.from_numpy(found.outputs.copy())
        if options.inference == "int8":
            assert torch.equal(outputs, expected(what, net, beta, x, "ram"))
        else:
            torch.testing.assert_close(outputs, in_floats(what, net, beta, x), rtol=2e-5, atol=2e-5)
