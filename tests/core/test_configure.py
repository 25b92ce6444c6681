"""A configured network is a plain one: the user's class, its own memory, no scn."""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import nn

import scn
from small_backbones import CASES, Case, TiedLayers

matrix = pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)


@matrix
@pytest.mark.parametrize("dims", [1, 2, 5])
def test_configure_equals_forward(case: Case, dims: int) -> None:
    net = scn.SCN(case.backbone(), 2, dims).eval()
    x, alpha = torch.randn(8, *case.shape), torch.randn(2)
    torch.testing.assert_close(net.configure(alpha)(x), net(x, alpha), atol=1e-5, rtol=1e-5)


@given(st.tuples(st.floats(-10, 10), st.floats(-10, 10)))
@settings(max_examples=50, deadline=None)
def test_configure_equals_forward_for_any_alpha(alpha: tuple[float, float]) -> None:
    torch.manual_seed(0)
    net = scn.SCN(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)), 2, 4)
    x = torch.randn(5, 4)
    torch.testing.assert_close(net.configure(alpha)(x), net(x, alpha), atol=1e-5, rtol=1e-5)


@matrix
def test_a_configured_network_is_of_the_users_own_class_and_plain(case: Case) -> None:
    plain = case.backbone()
    configured = scn.SCN(plain, 2, 3).configure(torch.randn(2))
    assert type(configured) is type(plain)
    names = [name for name, _ in plain.named_parameters(remove_duplicate=False)]
    assert names == [name for name, _ in configured.named_parameters(remove_duplicate=False)]
    assert all(type(p) is nn.Parameter and p.is_leaf for p in configured.parameters())
    for module in configured.modules():
        for value in vars(module).values():
            assert not type(value).__module__.startswith("scn.core")


@matrix
def test_a_configured_network_shares_no_memory(case: Case) -> None:
    net = scn.SCN(case.backbone(), 2, 1)
    own = {t.untyped_storage().data_ptr() for t in net.state_dict().values()}
    configured = net.configure(torch.randn(2))
    assert own.isdisjoint(p.untyped_storage().data_ptr() for p in configured.parameters())
    before = net.theta.detach().clone()
    with torch.no_grad():
        for p in configured.parameters():
            p.zero_()
    assert torch.equal(net.theta, before)


def test_tied_parameters_stay_tied() -> None:
    net = scn.SCN(TiedLayers(), 2, 3)
    configured = net.configure(torch.randn(2))
    assert configured.get_parameter("first.weight") is configured.get_parameter("second.weight")
    assert net.theta.shape[1] == 64 + 8 + 8 + 24 + 3


def test_two_configured_networks_share_no_memory_with_each_other() -> None:
    net = scn.SCN(nn.Linear(4, 3), 2, 3)
    first, second = net.configure(torch.zeros(2)), net.configure(torch.ones(2))
    before = second.get_parameter("weight").detach().clone()
    net.configure(torch.full((2,), 9.0), into=first)
    assert torch.equal(second.get_parameter("weight"), before)


def test_a_configured_network_can_be_saved_by_safetensors_and_copied(tmp_path: Path) -> None:
    net = scn.SCN(CASES[1].backbone(), 2, 3).eval()
    plain = net.configure(torch.zeros(2))
    save_file(plain.state_dict(), tmp_path / "plain.safetensors")
    again = CASES[1].backbone()
    again.load_state_dict(load_file(tmp_path / "plain.safetensors"))
    x = torch.randn(4, 1, 4, 4)
    assert torch.equal(again(x), plain(x))
    assert torch.equal(copy.deepcopy(plain)(x), plain(x))


@pytest.mark.parametrize("change", ["double", "copy", "replace"])
def test_a_configured_network_that_was_changed_since_is_still_configured_right(change: str) -> None:
    net = scn.SCN(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)), 2, 3)
    plain = net.configure(torch.zeros(2))
    if change == "double":
        plain = plain.double()
    elif change == "copy":
        plain = copy.deepcopy(plain)
    else:
        plain[0].weight = nn.Parameter(torch.zeros(8, 4))  # type: ignore[index]
    alpha, x = torch.ones(2), torch.randn(5, 4)
    net.configure(alpha, into=plain)
    expected = net.configure(alpha)(x)
    torch.testing.assert_close(plain(x.to(plain.get_parameter("0.weight"))).float(), expected)


def test_a_network_that_grew_or_moved_still_configures_into_earlier_ones() -> None:
    net = scn.SCN(nn.Linear(4, 3), 2, 3)
    plain = net.configure(torch.zeros(2))
    net.grow(2)
    net.configure(torch.ones(2), into=plain)
    wanted = net.configure(torch.ones(2)).get_parameter("weight")
    assert torch.equal(plain.get_parameter("weight"), wanted)
    net.double()
    net.configure(torch.zeros(2), into=plain)
    doubled = net.configure(torch.zeros(2)).get_parameter("weight")
    torch.testing.assert_close(plain.get_parameter("weight"), doubled.float())


@matrix
def test_configuring_into_an_existing_network_equals_a_new_one(case: Case) -> None:
    net = scn.SCN(case.backbone(), 2, 3).eval()
    plain = net.configure(torch.randn(2))
    places = [p.data_ptr() for p in plain.parameters()]
    alpha = torch.randn(2)
    assert net.configure(alpha, into=plain) is plain
    assert [p.data_ptr() for p in plain.parameters()] == places
    fresh = net.configure(alpha).state_dict()
    assert all(torch.equal(value, fresh[name]) for name, value in plain.state_dict().items())


def test_configuring_into_brings_shared_parts_up_to_date() -> None:
    net = scn.SCN(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)), 2, 3, configurable="1.*")
    plain = net.configure(torch.zeros(2))
    with torch.no_grad():
        net.backbone.get_parameter("0.weight").fill_(7)
    net.configure(torch.zeros(2), into=plain)
    assert (plain.get_parameter("0.weight") == 7).all()


@pytest.mark.parametrize("other", [nn.Linear(4, 5), nn.ReLU(), nn.Sequential(nn.Linear(4, 3))])
def test_configuring_into_a_foreign_network_is_an_error(other: nn.Module) -> None:
    with pytest.raises(ValueError, match="into= must be a backbone that this network's configure"):
        scn.SCN(nn.Linear(4, 3), 2, 3).configure(torch.zeros(2), into=other)


def test_configure_takes_one_alpha() -> None:
    net = scn.SCN(nn.Linear(4, 3), 2, 3)
    with pytest.raises(ValueError, match=r"one alpha of shape \(2,\), but its shape is \(3, 2\)"):
        net.configure(torch.zeros(3, 2))


def test_a_configured_network_trains_on_its_own() -> None:
    plain = scn.SCN(nn.Linear(4, 3), 2, 3).configure(torch.zeros(2))
    plain(torch.randn(2, 4)).sum().backward()
    assert all(p.grad is not None for p in plain.parameters())


def test_no_pickle_is_used() -> None:
    """Loading and saving go through safetensors and JSON; no module of ours imports pickle.

    But for the reader of CIFAR-10, whose official files are pickles: it lets nothing be called
    (tests/test_readers.py).
    """
    ours = [
        m for name, m in sys.modules.items() if name.split(".")[0] == "scn" and name != "scn.data.cifar10"
    ]
    assert ours
    assert not any(hasattr(module, "pickle") for module in ours)
