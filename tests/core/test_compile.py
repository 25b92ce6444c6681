"""torch.compile and torch.export of a whole SCN give what the network gives."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.fx.experimental.proxy_tensor import make_fx

import scn

BATCH = 8
each_alpha = pytest.mark.parametrize("rows", [(), (4,), (BATCH,)], ids=["one", "four", "one per sample"])
each_mode = pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])


class Residual(nn.Module):
    """Convolutions and a BatchNorm, in a forward of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.second, self.output = nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(self.first(x)).relu()
        return self.output((x + self.second(x)).mean((2, 3)))


class Siamese(nn.Module):
    """Two views of the batch in a row, which look like a batch of twice the size."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 4)

    def forward(self, x: Tensor) -> Tensor:
        first, second = self.layer(torch.cat([x, x.flip(1)])).chunk(2)
        return first * second


BACKBONES = {
    "mlp": (lambda: scn.backbones.MLP((5,), 3, 8, 2), (5,)),
    "convolutions": (Residual, (1, 6, 6)),
}
each_backbone = pytest.mark.parametrize("name", BACKBONES)


@pytest.fixture(autouse=True)
def _fresh_compiler() -> Iterator[None]:
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def network(name: str) -> tuple[scn.SCN, Tensor]:
    build, shape = BACKBONES[name]
    return scn.SCN(build(), 2, 3), torch.randn(BATCH, *shape) * 2 + 1


def agree(net: scn.SCN, compiled: Any, x: Tensor, alpha: Tensor) -> None:
    """By value, by gradient and in what is left behind."""
    other = copy.deepcopy(net)
    out, expected = compiled(x, alpha), other(x, alpha)
    torch.testing.assert_close(out, expected, atol=1e-5, rtol=1e-5)
    out.square().sum().backward()
    expected.square().sum().backward()
    for ours, theirs in zip(net.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-5, rtol=1e-4)
    for name, value in other.state_dict().items():
        torch.testing.assert_close(net.state_dict()[name], value, atol=1e-5, rtol=1e-5)
    net.zero_grad()


@each_backbone
@each_alpha
@each_mode
def test_a_compiled_network_gives_the_same(name: str, rows: tuple[int, ...], training: bool) -> None:
    net, x = network(name)
    net.train(training)
    compiled = torch.compile(net, fullgraph=True, backend="aot_eager")
    agree(net, compiled, x, torch.randn(*rows, 2))


@pytest.mark.slow
@pytest.mark.skipif(not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="no C++ compiler here")
def test_so_does_machine_code() -> None:
    net, x = network("convolutions")
    agree(net, torch.compile(net, fullgraph=True), x, torch.randn(4, 2))


def test_a_compiled_network_is_not_mixed_up() -> None:
    net = scn.SCN(Siamese(), 2, 3, init="pretrained", noise=1.0)
    agree(net, torch.compile(net, fullgraph=True, backend="aot_eager"), torch.randn(8, 5), torch.randn(4, 2))


class Windows(nn.Module):
    """Only sequences of one window keep the order of the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 4)

    def forward(self, x: Tensor) -> Tensor:
        windows = x.unfold(1, 3, 3).transpose(0, 1)
        return self.layer(windows.flatten(0, 1)).unflatten(0, windows.shape[:2]).sum(0)


@pytest.mark.parametrize("dynamic", [None, True])
def test_compiled_code_is_not_used_for_sizes_it_was_not_proven_for(dynamic: bool | None) -> None:
    net = scn.SCN(Windows(), 2, 3, init="pretrained", noise=1.0)
    compiled = torch.compile(net, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    for batch, length, rows in ((8, 3, 4), (8, 3, 2), (8, 6, 4)):
        agree(net, compiled, torch.randn(batch, length), torch.randn(rows, 2))


@each_backbone
@each_alpha
@each_mode
def test_an_exported_network_gives_the_same(name: str, rows: tuple[int, ...], training: bool) -> None:
    net, x = network(name)
    net.train(training)
    program = torch.export.export(net, (x, torch.randn(*rows, 2))).module()
    other, alpha = torch.randn_like(x), torch.randn(*rows, 2)
    torch.testing.assert_close(program(other, alpha), net(other, alpha), atol=1e-5, rtol=1e-5)


def test_an_export_is_not_mixed_up() -> None:
    net = scn.SCN(Siamese(), 2, 3, init="pretrained", noise=1.0)
    x, alpha = torch.randn(8, 5), torch.randn(4, 2)
    program = torch.export.export(net, (x, alpha)).module()
    torch.testing.assert_close(program(x.neg(), alpha), net(x.neg(), alpha), atol=1e-5, rtol=1e-5)


def test_an_export_for_one_alpha_takes_any_batch() -> None:
    net, x = network("convolutions")
    alpha, net = torch.randn(2), net.eval()
    sizes = ({0: torch.export.Dim("batch")}, None)
    program = torch.export.export(net, (x, alpha), dynamic_shapes=sizes).module()
    torch.testing.assert_close(program(x[:3], alpha), net(x[:3], alpha), atol=1e-5, rtol=1e-5)


@each_backbone
def test_beta_and_answer_are_what_a_call_does_also_where_operations_are_recorded(name: str) -> None:
    net, x = network(name)
    alpha = torch.randn(4, 2)
    net.eval()
    expected = net(x, alpha)
    assert torch.equal(net.answer(x, net.beta(alpha)), expected)
    recorded = make_fx(lambda x, alpha: net.answer(x, net.beta(alpha)))(x, alpha)
    other = torch.randn(4, 2)
    torch.testing.assert_close(recorded(x, other), net(x, other), atol=1e-6, rtol=1e-6)


def test_beta_is_exact_under_autocast() -> None:
    net = scn.SCN(nn.Linear(5, 4), 2, 3)
    alpha = torch.randn(4, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        beta = net.beta(alpha)
    assert torch.equal(beta, net.beta(alpha))
    assert beta.dtype == torch.float32


def test_an_alpha_whose_sum_is_too_large_is_finite_all_the_same() -> None:
    net = scn.SCN(nn.Linear(5, 4), 2, 3)
    assert net.beta(torch.full((2,), 3e38)).shape == (3,)


def test_alpha_is_not_read_where_that_would_wait() -> None:
    net = scn.SCN(nn.Linear(5, 4), 2, 3).to("meta")
    alpha = torch.full((2,), torch.nan, device="meta")  # like an accelerator, it gives no values away
    assert net(torch.zeros(3, 5, device="meta"), alpha).shape == (3, 4)
