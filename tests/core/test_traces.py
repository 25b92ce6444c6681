"""What a call leaves behind, also one that was interrupted, and how a network shows itself."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import scn
from scn.core import substitute


class Mixture(nn.Module):
    """Every kind of part: an ordinary layer, a norm, a recurrent layer and a parameter of its own inside."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Linear(5, 4), nn.BatchNorm1d(4)
        self.recurrent, self.scaled = nn.GRU(1, 3, batch_first=True), nn.Sequential(Scaled())
        self.output = nn.Linear(3, 2, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out, _ = self.recurrent(self.norm(self.first(x)).unsqueeze(2))
        return self.output(self.scaled(out[:, -1]))


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(3) + 0.5)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale


@pytest.fixture
def net() -> scn.SCN:
    return scn.SCN(Mixture(), 2, 3, init="pretrained", noise=0.5)


X = torch.randn(8, 5, generator=torch.Generator().manual_seed(0))
ALPHAS = [torch.tensor([0.3, -1.0]), torch.arange(8.0).view(4, 2), torch.arange(16.0).view(8, 2)]


def outline(net: scn.SCN) -> dict[str, Any]:
    """Everything of the backbone that is not a value."""
    return {
        name: (
            {key: value is None for key, value in module._parameters.items()},
            sorted(vars(module)),
            [value is None for value in getattr(module, "_flat_weights", [])],
        )
        for name, module in net.backbone.named_modules()
    }


@pytest.mark.parametrize("alpha", ALPHAS, ids=["one", "four", "eight"])
@pytest.mark.parametrize("place", ["first", "norm", "recurrent", "scaled.0", "output", ""])
@pytest.mark.parametrize("proven", [True, False])
def test_an_interrupt_anywhere_leaves_a_network_that_works(
    net: scn.SCN, alpha: Tensor, place: str, proven: bool
) -> None:
    net.eval()
    before, fresh = outline(net), copy.deepcopy(net)
    if proven:
        net(X, alpha)
    module = net.backbone.get_submodule(place)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    handle = module.register_forward_hook(interrupt)
    with pytest.raises(KeyboardInterrupt):
        net(X, alpha)
    handle.remove()
    assert outline(net) == before
    for other in ALPHAS:
        assert torch.equal(net(X, other), fresh(X, other))
    assert [*net.state_dict()] == [*fresh.state_dict()]


def test_an_interrupt_while_weights_are_taken_out(net: scn.SCN, monkeypatch: pytest.MonkeyPatch) -> None:
    before, fresh = outline(net), copy.deepcopy(net)
    restore = substitute._restore
    times: list[int] = []

    def interrupted(places: Any) -> None:
        times.append(1)
        restore(places[: len(places) // 2] if len(times) == 1 else places)
        if len(times) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(substitute, "_restore", interrupted)
    with pytest.raises(KeyboardInterrupt):
        net.eval()(X, ALPHAS[0])
    assert outline(net) == before
    torch.testing.assert_close(net(X, ALPHAS[1]), fresh.eval()(X, ALPHAS[1]))


def test_an_interrupted_configuration_is_mended_by_the_next(
    net: scn.SCN, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = net.eval().configure(ALPHAS[0])
    copies = Tensor.copy_

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Tensor, "copy_", interrupted)
    with pytest.raises(KeyboardInterrupt):
        net.configure(ALPHAS[1][0], into=plain)
    monkeypatch.setattr(Tensor, "copy_", copies)
    for alpha in (ALPHAS[0], ALPHAS[1][1]):
        net.configure(alpha, into=plain)
        torch.testing.assert_close(plain(X), net(X, alpha))


def test_a_copy_and_a_saved_network_after_calls_are_the_same(net: scn.SCN, tmp_path: Path) -> None:
    net(X, ALPHAS[1]).sum().backward()
    net.eval()
    with torch.no_grad():
        expected = [net(X, alpha) for alpha in ALPHAS]
    net.save(tmp_path / "net.safetensors")
    loaded = scn.SCN.load(tmp_path / "net.safetensors", backbone=Mixture()).eval()
    for other in (copy.deepcopy(net), loaded, net):
        for alpha, wanted in zip(ALPHAS, expected, strict=True):
            torch.testing.assert_close(other(X, alpha), wanted)


def test_another_type_after_calls(net: scn.SCN) -> None:
    net.eval()
    expected = [net(X, alpha) for alpha in ALPHAS]
    net.double()
    for alpha, wanted in zip(ALPHAS, expected, strict=True):
        out = net(X.double(), alpha)
        assert out.dtype == torch.float64
        torch.testing.assert_close(out.float(), wanted, atol=1e-4, rtol=1e-4)


def test_a_network_without_gradients_first_has_them_afterwards(net: scn.SCN) -> None:
    fresh = copy.deepcopy(net)
    for alpha in ALPHAS:
        with torch.inference_mode():
            net.eval()(X, alpha)
        found = torch.autograd.grad(net(X, alpha).sum(), net.theta)[0]
        wanted = torch.autograd.grad(fresh.eval()(X, alpha).sum(), fresh.theta)[0]
        torch.testing.assert_close(found, wanted)


def test_a_network_shows_the_backbone_as_it_is(net: scn.SCN) -> None:
    before = outline(net)
    shown = repr(net)
    assert "(first): Linear(in_features=5, out_features=4, bias=True)" in shown
    assert "(output): Linear(in_features=3, out_features=2, bias=False)" in shown
    assert repr(Mixture()).replace("\n", "\n  ") in shown
    assert repr(nn.Sequential(net)).count("bias=True") == shown.count("bias=True")
    assert outline(net) == before


def test_a_bank_does_not_follow_later_changes_of_the_base_models() -> None:
    net = scn.SCN(nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3)), 2, 3)
    bank = net.bank(torch.randn(8, 2))
    expected = bank(X)
    with torch.no_grad():
        net.theta.mul_(2)
    assert torch.equal(bank(X), expected)
