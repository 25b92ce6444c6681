"""Generated C answers as torch does, for every kind of backbone and every way to hold theta."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from generated import BAD_ALPHA, BAD_PARAMS, NOT_CONFIGURED, OK, built, subject
from scn import SCN, transforms
from scn.backbones import M5, MLP, LeNet5, ResNet18, ShallowCNN, ShiftInvariantCNN
from scn.export import Options, c, interpret, rounding
from scn.export.c import graph_of
from scn.export.operations.affine import layers_of
from scn.export.pack import packed

BACKBONES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "MLP": (lambda: MLP((1, 32, 32), 10, 32), (1, 32, 32)),
    "MLP with norm": (lambda: MLP((1, 8, 8), 7, 9, depth=3, norm=True), (1, 8, 8)),
    "LeNet-5": (LeNet5, (1, 32, 32)),
    "ShallowCNN": (lambda: ShallowCNN((3, 32, 32), 10, width=6), (3, 32, 32)),
    "deep ShallowCNN": (lambda: ShallowCNN((3, 26, 26), 10, width=3, depth=4), (3, 26, 26)),
    "M5": (lambda: M5((1, 4000), 35, width=8), (1, 4000)),
    "ResNet18": (lambda: ResNet18((3, 16, 16), 10, width=4), (3, 16, 16)),
    "shift-invariant": (lambda: ShiftInvariantCNN((1, 12, 12), 10, width=5), (1, 12, 12)),
}
SAMPLES, SETTINGS = 200, 8


def trained_like(backbone: nn.Module, shape: tuple[int, ...]) -> nn.Module:
    """With statistics of norm layers as after some training."""
    torch.manual_seed(0)
    with torch.no_grad():
        for module in backbone.modules():
            if isinstance(module, nn.modules.batchnorm._BatchNorm):
                module.weight.uniform_(0.5, 1.5)
                module.bias.normal_(0, 0.2)
        backbone.train()
        for _ in range(3):
            backbone(torch.randn(8, *shape) * 2 + 0.5)
    return backbone.eval()


def network(kind: str, dims: int = 2) -> tuple[SCN, tuple[int, ...]]:
    make, shape = BACKBONES[kind]
    net = SCN(trained_like(make(), shape), alpha_dim=2, dims=dims, seed=1).eval()
    with torch.no_grad():  # base models that differ in their norm layers too
        net.theta.mul_(1 + 0.3 * torch.randn_like(net.theta))
    return net, shape


def settings(count: int = SETTINGS) -> torch.Tensor:
    angle = torch.rand(count, 1) * 2 * torch.pi
    return torch.cat([angle.cos(), angle.sin()], dim=1)


LARGE = ("MLP", "LeNet-5", "ShallowCNN")  # their constants take the compiler seconds
CASES = [
    (kind, theta) for kind in BACKBONES for theta in ("ram", "row") if theta == "ram" or kind not in LARGE
]


@pytest.mark.parametrize(("kind", "theta"), CASES)
def test_the_answers_are_those_of_torch(kind: str, theta: str, tmp_path: Path) -> None:
    net, shape = network(kind)
    program = built(subject(net, shape), Options(theta=theta), tmp_path)  # type: ignore[arg-type]
    counts = SAMPLES if theta == "ram" and kind not in ("ResNet18", "deep ShallowCNN") else 8
    x = torch.randn(counts, *shape)
    for alpha in settings():
        assert program.configure(alpha) == OK
        with torch.no_grad():
            expected = net.configure(alpha)(x)
        ours = program.answers(x)
        torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-4)
        assert torch.equal(ours.argmax(dim=1), expected.argmax(dim=1))


def test_an_impossible_alpha_keeps_the_last_configuration(tmp_path: Path) -> None:
    net, shape = network("MLP with norm")
    program = built(subject(net, shape), Options(), tmp_path)
    x = torch.randn(shape)
    assert program.configure(torch.tensor([0.6, 0.8])) == OK
    _, before = program.infer(x)
    for wrong in ([0.0, 0.0], [float("nan"), 0.0], [1.0, float("inf")], [1.0, 1.0], [-3.0, 0.0]):
        assert program.configure(torch.tensor(wrong)) == BAD_ALPHA
        assert torch.equal(program.infer(x)[1], before)


@pytest.mark.parametrize("kind", ["MLP with norm", "deep ShallowCNN", "ResNet18"])
def test_one_fixed_configuration_is_a_plain_network(kind: str, tmp_path: Path) -> None:
    net, shape = network(kind)
    what = subject(net, shape, params=torch.tensor([30.0]))
    program = built(what, Options(theta="fixed"), tmp_path)
    x = torch.randn(8, *shape)
    with torch.no_grad():
        expected = what.plain(torch.tensor([30.0]))(x)
    torch.testing.assert_close(program.answers(x), expected, rtol=1e-5, atol=1e-4)
    assert not hasattr(program.library, "net_configure")
    assert "NET_FIXED 1" in program.source.with_suffix(".h").read_text()


def test_a_network_without_base_models_is_exported_as_it_is(tmp_path: Path) -> None:
    make, shape = BACKBONES["M5"]
    backbone = trained_like(make(), shape)
    program = built(subject(backbone, shape, "pitch"), Options(), tmp_path)
    x = torch.randn(8, *shape)
    with torch.no_grad():
        torch.testing.assert_close(program.answers(x), backbone(x), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    "configurable", [("layers.1.*", "layers.7.*"), ("*.bias",), ("layers.2.*", "layers.5.*")]
)
@pytest.mark.parametrize("theta", ["ram", "row"])
def test_only_some_parameters_are_mixed(configurable: tuple[str, ...], theta: str, tmp_path: Path) -> None:
    """Of a network whose layers 2 and 5 are norm layers: shared weights are stored once."""
    backbone = trained_like(MLP((1, 6, 6), 5, 9, depth=2, norm=True), (1, 6, 6))
    net = SCN(backbone, alpha_dim=2, dims=4, configurable=configurable, seed=2).eval()
    program = built(subject(net, (1, 6, 6)), Options(theta=theta), tmp_path)  # type: ignore[arg-type]
    x = torch.randn(20, 1, 6, 6)
    for alpha in settings(3):
        assert program.configure(alpha) == OK
        with torch.no_grad():
            torch.testing.assert_close(program.answers(x), net.configure(alpha)(x), rtol=1e-5, atol=1e-5)


class Branches(nn.Module):
    """Groups, dilation, padding, strides, pooling with margins, functions in forward, and a residual sum."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(2, 6, (3, 2), stride=(2, 1), padding=(1, 2), groups=2)
        self.second = nn.Conv2d(6, 6, 3, padding=2, dilation=2, groups=3, bias=False)
        self.pool = nn.AvgPool2d(3, 2, padding=1, count_include_pad=False)
        self.output = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = nn.functional.max_pool2d(self.first(x).relu(), 2, padding=1)
        x = self.pool(torch.relu(x + self.second(x)))
        return self.output(x.mean(dim=(2, 3)))


@pytest.mark.parametrize("theta", ["ram", "row"])
def test_unusual_windows_and_functions(theta: str, tmp_path: Path) -> None:
    net = SCN(Branches(), alpha_dim=2, dims=2, seed=3).eval()
    program = built(subject(net, (2, 9, 7)), Options(theta=theta), tmp_path)  # type: ignore[arg-type]
    x = torch.randn(20, 2, 9, 7)
    for alpha in settings(3):
        assert program.configure(alpha) == OK
        with torch.no_grad():
            torch.testing.assert_close(program.answers(x), net.configure(alpha)(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dims", [1, 2, 5, 16])
def test_beta_is_that_of_torch_and_sums_to_one(dims: int, tmp_path: Path) -> None:
    net = SCN(MLP((1, 4, 4), 3, 4), alpha_dim=2, dims=dims, seed=0)
    program = built(subject(net, (1, 4, 4)), Options(), tmp_path)
    for alpha in settings():
        torch.testing.assert_close(program.beta(alpha, dims), net.beta(alpha).detach(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", [*transforms.registry, "rotation+scaling"])
def test_encode_is_that_of_the_transform(name: str, tmp_path: Path) -> None:
    transform = transforms.get(name)
    net = SCN(MLP((1, 4, 4), 3, 2), alpha_dim=transform.alpha_dim, dims=2, seed=0)
    program = built(subject(net, (1, 4, 4), name), Options(), tmp_path)
    for params in transform.grid(9 if len(transform.parameters) == 1 else 4):
        status, alpha = program.encode(params, transform.alpha_dim)
        assert status == OK
        torch.testing.assert_close(alpha, transform.encode(params), rtol=1e-6, atol=3e-7)
        assert program.configure(alpha) == OK
    for wrong in (float("nan"), float("inf"), -1e9):
        params = transform.sample(1)[0]
        params[-1] = wrong
        assert program.encode(params, transform.alpha_dim)[0] == BAD_PARAMS
        assert program.configure(torch.full((transform.alpha_dim,), wrong)) == BAD_ALPHA


@pytest.mark.parametrize("theta", ["ram", "row"])
def test_inference_before_the_first_configuration_is_refused(theta: str, tmp_path: Path) -> None:
    net, shape = network("MLP with norm")
    program = built(subject(net, shape), Options(theta=theta), tmp_path)  # type: ignore[arg-type]
    assert program.infer(torch.zeros(shape))[0] == NOT_CONFIGURED
    assert program.configure(torch.tensor([1.0, 0.0])) == OK
    assert program.infer(torch.zeros(shape))[0] == OK


def test_states_that_the_caller_owns_do_not_disturb_each_other(tmp_path: Path) -> None:
    net, shape = network("MLP with norm")
    program = built(subject(net, shape), Options(state="explicit"), tmp_path)
    other = replace(program, state=ctypes.create_string_buffer(len(program.state or b"")))
    x = torch.randn(4, *shape)
    for owner, alpha in ((program, [1.0, 0.0]), (other, [0.0, 1.0])):
        assert owner.configure(torch.tensor(alpha)) == OK
    for owner, alpha in ((program, [1.0, 0.0]), (other, [0.0, 1.0])):
        with torch.no_grad():
            expected = net.configure(torch.tensor(alpha))(x)
        torch.testing.assert_close(owner.answers(x), expected, rtol=1e-5, atol=1e-5)


def test_a_double_buffer_costs_a_second_theta_and_answers_alike(tmp_path: Path) -> None:
    net, shape = network("deep ShallowCNN")
    single = c.generate(subject(net, shape), Options()).facts
    double = c.generate(subject(net, shape), Options(double_buffer=True)).facts
    assert double["ram"]["theta"] == 2 * single["ram"]["theta"] > 0
    assert double["ram"]["total"] - single["ram"]["total"] == single["ram"]["theta"]
    program = built(subject(net, shape), Options(double_buffer=True), tmp_path)
    x = torch.randn(3, *shape)
    for alpha in settings(5):
        assert program.configure(alpha) == OK
        with torch.no_grad():
            torch.testing.assert_close(program.answers(x), net.configure(alpha)(x), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("weights", ["float16", "int8"])
@pytest.mark.parametrize("theta", ["ram", "row", "fixed"])
@pytest.mark.parametrize("kind", ["MLP with norm", "deep ShallowCNN"])
def test_rounded_weights_are_those_of_the_rounded_network(
    kind: str, theta: str, weights: str, tmp_path: Path
) -> None:
    """The C code computes with the rounded weights, and nothing else differs."""
    net, shape = network(kind)
    params = torch.tensor([30.0]) if theta == "fixed" else None
    what = subject(net, shape, params=params)
    options = Options(theta=theta, weights=weights)  # type: ignore[arg-type]
    program = built(what, options, tmp_path)
    alpha = transforms.get("rotation").encode(torch.tensor([30.0]))
    whole = what.plain(torch.tensor([30.0])) if theta == "fixed" else net
    rounded = rounding.with_rounded_weights(graph_of(what, whole), options)
    x = torch.randn(5, *shape)
    expected = interpret.run(interpret.Float(rounded, net.beta(alpha).detach()), x.double())[rounded.output]
    if theta != "fixed":
        assert program.configure(alpha) == OK
    torch.testing.assert_close(program.answers(x).double(), expected.flatten(1), rtol=1e-5, atol=1e-4)
    with torch.no_grad():
        assert not torch.allclose(program.answers(x), net.configure(alpha)(x), rtol=1e-6, atol=1e-6)


def test_constants_read_back_exactly(tmp_path: Path) -> None:
    net, shape = network("MLP with norm")
    text = c.generate(subject(net, shape), Options()).source
    listed = re.search(r"scn_bases\[\d+\] = \{(.*?)\}", text, re.DOTALL)
    assert listed is not None
    read = np.array([float(v.strip().rstrip("f")) for v in listed[1].split(",")], np.float64).astype(
        np.float32
    )
    graph = graph_of(subject(net, shape), net)
    stored = torch.cat([packed(op.weight) for op in layers_of(graph)], dim=1).float().flatten()
    assert np.array_equal(read, stored.numpy())


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (nn.GELU(), r'the layer "1" is a GELU: only these export: .*Conv2d'),
        (nn.LayerNorm(5), 'the layer "1" is a LayerNorm'),
        (nn.Sequential(nn.ReLU(), nn.BatchNorm1d(5)), 'norm layer "1.1" does not directly follow'),
    ],
)
def test_a_layer_that_cannot_be_exported_is_named(layer: nn.Module, message: str) -> None:
    net = nn.Sequential(nn.Linear(4, 5), layer, nn.Linear(5, 3)).eval()
    with pytest.raises(ValueError, match=message):
        c.generate(subject(net, (4,)), Options())


class Switch(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else -x


class Shrunk(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x)


@pytest.mark.parametrize(
    ("net", "message"),
    [(Switch(), "Switch does cannot be recorded"), (Shrunk(), 'forward calls "tanh"')],
)
def test_a_forward_that_cannot_be_exported_says_why(net: nn.Module, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        c.generate(subject(net, (4,)), Options())


@pytest.mark.parametrize("name", ["", "1st", "two words", "int", "a-b", "_hidden"])
def test_a_name_that_is_none_in_c_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be a name in C"):
        subject(nn.Linear(4, 3), (4,), name=name)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"theta": "rom"}, 'no theta "rom"'),
        ({"weights": "int4"}, 'no weights "int4". Did you mean "int8"'),
        ({"inference": "int8"}, "needs weights in int8, but they are float32"),
        ({"theta": "row", "double_buffer": True}, "double buffer is for theta in RAM"),
    ],
)
def test_options_that_do_not_exist_or_do_not_fit(given: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Options(**given)  # type: ignore[arg-type]
