"""A configured network is a plain one: the user's class, its own memory, no scn."""

from __future__ import annotations

import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_backbones import CASES, Case, TiedLayers
from torch import nn

import scn

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
    parameters = list(configured.parameters())
    storages = {p.untyped_storage().data_ptr() for p in parameters}
    assert own.isdisjoint(storages)
    assert len(storages) == len(parameters)
    before = net.theta.detach().clone()
    with torch.no_grad():
        for p in parameters:
            p.zero_()
    assert torch.equal(net.theta, before)


def test_tied_parameters_stay_tied() -> None:
    net = scn.SCN(TiedLayers(), 2, 3)
    configured = net.configure(torch.randn(2))
    assert configured.first.weight is configured.second.weight
    assert net.theta.shape[1] == 64 + 8 + 8 + 24 + 3


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
    """Loading and saving go through safetensors and JSON; no module of ours imports pickle."""
    ours = [m for name, m in sys.modules.items() if name.split(".")[0] == "scn"]
    assert ours
    assert not any(hasattr(module, "pickle") for module in ours)
