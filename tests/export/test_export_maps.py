"""Every map from alpha to beta in C: its coefficients, its configurations and what it refuses."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from generated import BAD_ALPHA, OK, STRICT, Program, built, compiled
from mapped import MAPPED, Mapped
from needs import tool
from scn import SCN
from scn.backbones import MLP
from scn.core.maps import Map, Nodes
from scn.core.space import draw
from scn.export import Options, c, interpret, rounding
from scn.export.c import graph_of
from scn.export.operations.affine import layers_of
from scn.export.quantisation import quantised_rows

SHAPE = (1, 6, 6)
WAYS = {
    "float32": Options(),
    "float32, row": Options(theta="row"),
    "float16": Options(weights="float16"),
    "float16, row": Options(weights="float16", theta="row"),
    "int8 weights": Options(weights="int8"),
    "int8 weights, row": Options(weights="int8", theta="row"),
}
WHOLE = {
    "int8": Options(weights="int8", inference="int8"),
    "int8, row": Options(weights="int8", inference="int8", theta="row"),
}
FEW = ("many nodes on a circle", "given nodes on a line", "nodes on a plane", "nodes among turns")
MAIN = (*FEW, "experts on a circle", "two nodes on a circle", "fourier on a line", "categories")


def backbone() -> nn.Module:
    """With norm layers, whose factors are mixed too."""
    torch.manual_seed(0)
    made = MLP(SHAPE, 5, 9, depth=2, norm=True)
    with torch.no_grad():
        made.train()(torch.randn(64, *SHAPE))
    return made.eval()


def alphas(case: Mapped, count: int) -> Tensor:
    space = case.made().space()
    assert space is not None
    return draw(space, count, torch.Generator().manual_seed(3))


def largest_difference(program: Program, net: SCN, found: Tensor) -> float:
    ours = torch.stack([program.beta(alpha, net.dims) for alpha in found])
    with torch.no_grad():
        return float((ours - net.beta(found)).abs().max())


@pytest.mark.parametrize("kind", MAPPED)
def test_beta_is_that_of_torch(kind: str, tmp_path: Path) -> None:
    case = MAPPED[kind]
    net = case.network(MLP((1, 4, 4), 3, 2))
    program = built(case.subject(net, (1, 4, 4)), Options(), tmp_path)
    assert largest_difference(program, net, alphas(case, 500)) < 1e-4


@pytest.mark.parametrize(
    "kind", ["nodes on a circle", "given nodes on a circle", "nodes on a line", "given nodes on a line"]
)
def test_a_node_is_its_base_model_alone(kind: str, tmp_path: Path) -> None:
    case = MAPPED[kind]
    net = case.network(MLP((1, 4, 4), 3, 2))
    program = built(case.subject(net, (1, 4, 4)), Options(), tmp_path)
    assert isinstance(net.map, Nodes)
    for i, alpha in enumerate(net.map.node_alphas()):
        torch.testing.assert_close(program.beta(alpha, net.dims), torch.eye(net.dims)[i], rtol=0, atol=1e-4)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", MAIN)
def test_configurations_are_those_of_torch(kind: str, way: str, tmp_path: Path) -> None:
    case, options = MAPPED[kind], WAYS[way]
    net = case.network(backbone())
    what = case.subject(net, SHAPE)
    program = built(what, options, tmp_path)
    x, graph = torch.randn(8, *SHAPE), graph_of(what, net)
    if options.weights != "float32":
        graph = rounding.with_rounded_weights(graph, options)
    for alpha in alphas(case, 6):
        assert program.configure(alpha) == OK
        with torch.no_grad():
            beta = net.beta(alpha)
            expected = interpret.run(interpret.Float(graph, beta), x.double())[graph.output].flatten(1)
            if options.weights == "float32":
                torch.testing.assert_close(expected.float(), net.configure(alpha)(x), rtol=1e-5, atol=1e-4)
        torch.testing.assert_close(program.answers(x), expected.float(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("way", WHOLE)
@pytest.mark.parametrize("kind", MAIN)
def test_c_computes_the_whole_numbers_that_python_does(kind: str, way: str, tmp_path: Path) -> None:
    case = MAPPED[kind]
    net = case.network(backbone())
    what = case.subject(net, SHAPE)
    program = built(what, WHOLE[way], tmp_path)
    graph, x = graph_of(what, net), torch.randn(8, *SHAPE)
    quantisation = rounding.quantisation_of(what, graph)
    stored = {op.target: quantised_rows(op.weight) for op in layers_of(graph)}
    for alpha in alphas(case, 6):
        assert program.configure(alpha) == OK
        whole = interpret.Int8(graph, net.beta(alpha).detach(), quantisation, stored)
        expected = interpret.run(whole, x.double())[graph.output].flatten(1)
        ours = program.answers(x).double()
        assert (ours - expected).abs().max() <= 0.02 * expected.abs().max()
        assert (ours - expected).abs().mean() <= 0.003 * expected.abs().max()


@pytest.mark.parametrize("options", [*WAYS.values(), Options(double_buffer=True, state="explicit")], ids=str)
def test_any_coefficients_are_mixed_where_a_map_picks_few(options: Options, tmp_path: Path) -> None:
    """All of them, none of them, and negative ones."""
    case = MAPPED["nodes on a circle"]
    net = case.network(backbone())
    what = case.subject(net, SHAPE)
    program = built(what, options, tmp_path)
    graph, x = rounding.with_rounded_weights(graph_of(what, net), options), torch.randn(4, *SHAPE)
    graph = graph_of(what, net) if options.weights == "float32" else graph
    for beta in (torch.rand(8), torch.zeros(8), torch.tensor([0.0, -0.5, 0, 0, 1.5, 0, 0, 0])):
        assert program.call("mix", beta.numpy()) == OK
        expected = interpret.run(interpret.Float(graph, beta), x.double())[graph.output].flatten(1)
        torch.testing.assert_close(program.answers(x), expected.float(), rtol=1e-4, atol=1e-4)
    assert program.call("mix", np.array([0, 0, np.nan, 0, 0, 0, 0, 1], np.float32)) == BAD_ALPHA


WRONG = {
    "nodes on a circle": [[0.0, 0.0], [2.0, 0.0], [float("nan"), 1.0], [float("inf"), 0.0]],
    "given nodes on a line": [[0.1], [2.1], [float("nan")], [-float("inf")]],
    "nodes on a plane": [[1.1, 0.0], [0.0, -1.1], [0.0, float("nan")]],
    "nodes among turns": [[0.0] * 9, [1.0] * 9, [-1.0, 0, 0, 0, -1, 0, 0, 0, -1], [float("nan")] * 9],
    "experts among turns": [[0.0] * 9],
    "fourier on a circle": [[0.3, 0.3]],
    "categories": [[-1.0], [5.0], [1.5], [float("nan")], [3e9]],
    "categories that share": [[-1.0], [5.0], [1.5]],
}


@pytest.mark.parametrize("kind", WRONG)
def test_an_alpha_outside_of_the_space_is_refused(kind: str, tmp_path: Path) -> None:
    case = MAPPED[kind]
    net = case.network(MLP((1, 4, 4), 3, 2))
    program = built(case.subject(net, (1, 4, 4)), Options(), tmp_path)
    x = torch.randn(1, 4, 4)
    assert program.configure(alphas(case, 1)[0]) == OK
    before = program.infer(x)[1]
    for wrong in WRONG[kind]:
        assert program.configure(torch.tensor(wrong)) == BAD_ALPHA
        assert program.call("beta", np.array(wrong, np.float32), np.zeros(net.dims, np.float32)) == BAD_ALPHA
        assert torch.equal(program.infer(x)[1], before)


@pytest.mark.parametrize(
    ("kind", "far"),
    [
        ("nodes on a circle", [3.0, -4.0]),
        ("nodes on a circle", [0.0, 0.0]),
        ("given nodes on a line", [-1e30]),
        ("nodes on a line", [3e38]),
        ("nodes on a plane", [7.0, -0.3]),
        ("experts on a plane", [-7.0, 0.1]),
        ("fourier on a line", [7.0]),
        ("nodes among turns", [2.0, 0, 0, 0, 0.5, 0, 0, 0, 1]),
        ("categories", [17.0]),
        ("categories that share", [-3.0]),
    ],
)
def test_where_it_is_clamped_it_is_the_nearest(kind: str, far: list[float], tmp_path: Path) -> None:
    case = MAPPED[kind]
    case = replace(case, arguments={**case.arguments, "outside": "clamp"})
    net = case.network(MLP((1, 4, 4), 3, 2))
    program = built(case.subject(net, (1, 4, 4)), Options(), tmp_path)
    assert largest_difference(program, net, torch.tensor([far])) < 1e-4
    nothing = torch.full((len(far),), float("nan"))
    assert program.configure(nothing) == BAD_ALPHA


class Uniform(Map):
    """A user's own."""

    def forward(self, alpha: Tensor) -> Tensor:
        return alpha.new_full((*alpha.shape[:-1], self.dims), 1 / self.dims)


def test_a_map_that_is_not_known_is_refused_by_its_name(tmp_path: Path) -> None:
    case = MAPPED["nodes on a circle"]
    space = case.made().space()
    assert space is not None
    net = SCN(MLP((1, 4, 4), 3, 2), 2, 4, map=Uniform(space, 4), space=space)
    with pytest.raises(ValueError, match=r"the map is a Uniform: only these export: Learned, .*Nodes"):
        c.write(case.subject(net, (1, 4, 4)), Options(), tmp_path)


FUZZ = """
#include <stdint.h>
#include <string.h>
#include "net.h"
static uint32_t seed = 1;
static uint32_t word(void) { seed ^= seed << 13; seed ^= seed >> 17; seed ^= seed << 5; return seed; }
static float number(int sane)
{
    const uint32_t bits = word();
    float value;
    if (sane) { return (float)(bits % 8001u) / 2000.0f - 2.0f; }
    memcpy(&value, &bits, 4);
    return value;
}
int main(void)
{
    float x[NET_INPUT_SIZE], logits[NET_CLASSES], alpha[NET_ALPHA_SIZE], beta[NET_DIMS], params[NET_PARAMS];
    for (int i = 0; i < NET_INPUT_SIZE; i++) { x[i] = number(1); }
    for (int round = 0; round < 4000; round++) {
        for (int i = 0; i < NET_ALPHA_SIZE; i++) { alpha[i] = number(round & 1); }
        if (net_beta(alpha, beta) == SCN_OK) {
            float sum = 0.0f;
            for (int i = 0; i < NET_DIMS; i++) { sum += beta[i]; }
            if (!(sum > 0.999f && sum < 1.001f) || net_configure(alpha) != SCN_OK) { return 2; }
            if (net_infer(x, logits) != SCN_OK) { return 3; }
        }
        for (int i = 0; i < NET_PARAMS; i++) { params[i] = number(round & 1); }
        ENCODE
        for (int i = 0; i < NET_DIMS; i++) { beta[i] = word() & 1u ? number(round & 1) : 0.0f; }
        (void)net_mix(beta);
    }
    return 0;
}
"""
SANITIZERS = ("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")


PLACED = [kind for kind in MAPPED if "much" not in kind and "learned" not in kind]
OUTSIDE = ("refuse", "clamp")


@pytest.mark.parametrize(
    ("kind", "outside"),
    [
        pytest.param(kind, outside, marks=[] if outside == OUTSIDE[number % 2] else pytest.mark.slow)
        for number, kind in enumerate(PLACED)
        for outside in OUTSIDE
    ],
)
def test_random_bytes_do_no_harm(kind: str, outside: str, tmp_path: Path) -> None:
    gcc, case = tool("gcc"), MAPPED[kind]
    case = replace(case, arguments={**case.arguments, "outside": outside})
    net = case.network(MLP((1, 3, 3), 3, 5))
    c.write(case.subject(net, (1, 3, 3)), Options(theta="row" if "line" in kind else "ram"), tmp_path)
    encodes = "(void)net_encode(params, alpha);" if "categories" not in kind else "(void)params;"
    (tmp_path / "fuzz.c").write_text(FUZZ.replace("ENCODE", encodes))
    files = (tmp_path / "net.c", tmp_path / "fuzz.c")
    compiled(gcc, "-std=c99", "-O1", "-g", *SANITIZERS, *files, "-o", tmp_path / "fuzz")
    result = subprocess.run([str(tmp_path / "fuzz")], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("compiler", "flags"),
    [
        ("clang", ("-std=c99", "-O2")),
        pytest.param("g++", ("-x", "c++", "-std=c++11", "-O2"), marks=pytest.mark.slow),
        pytest.param(
            "arm-none-eabi-gcc",
            ("-std=c99", "-O3", "-mcpu=cortex-m3", "-mthumb"),
            marks=pytest.mark.slow,
        ),
        (
            "arm-none-eabi-gcc",
            ("-std=c99", "-O3", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
        ),
    ],
    ids=["clang", "C++", "cortex-m3", "cortex-m4f"],
)
@pytest.mark.parametrize(
    "kinds", [MAIN, pytest.param([kind for kind in MAPPED if kind not in MAIN], marks=pytest.mark.slow)]
)
def test_no_compiler_warns(
    compiler: str, flags: tuple[str, ...], kinds: Sequence[str], tmp_path: Path
) -> None:
    program = tool(compiler)
    for number, kind in enumerate(kinds):
        case, way = MAPPED[kind], list((WAYS | WHOLE).values())[number % 8]
        net = case.network(backbone())
        c.write(case.subject(net, SHAPE), way, tmp_path)
        compiled(program, *flags, *STRICT, "-c", tmp_path / "net.c", "-o", tmp_path / "net.o")
