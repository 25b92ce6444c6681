"""Adding base models keeps the function; frozen base models keep their bits."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

import scn
from small_backbones import CASES, Case


def build() -> scn.SCN:
    return scn.SCN(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)), 2, 3)


def step(net: scn.SCN, optimiser: torch.optim.Optimizer, times: int = 1) -> None:
    for _ in range(times):
        optimiser.zero_grad()
        net(torch.randn(6, 4), torch.randn(3, 2)).square().sum().backward()
        optimiser.step()


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
@pytest.mark.parametrize(("dims", "count"), [(1, 1), (3, 2), (2, 5), (3, 0)])
def test_growing_does_not_change_the_function(case: Case, dims: int, count: int) -> None:
    net = scn.SCN(case.backbone(), 2, dims).eval()
    x, alpha = torch.randn(8, *case.shape), torch.randn(8, 2) * 3
    before = net(x, alpha)
    net.grow(count)
    assert net.dims == dims + count
    assert net.beta(alpha).shape == (8, dims + count)
    torch.testing.assert_close(net(x, alpha), before, atol=1e-5, rtol=1e-5)


def test_new_base_models_part_from_the_old_ones_in_training() -> None:
    net = build()
    net.grow(3)
    assert (net.theta[3:] - net.theta[:3]).abs().mean() > 1e-3
    before = net.beta(torch.randn(2))
    step(net, torch.optim.Adam(net.parameters(), lr=0.01), times=20)
    after = net.beta(torch.randn(2))
    assert not torch.allclose(after[:3], after[3:], atol=1e-3)
    torch.testing.assert_close(before[:3], before[3:])


def test_growing_by_a_negative_number_is_an_error() -> None:
    with pytest.raises(ValueError, match="must not be negative, but is -1"):
        build().grow(-1)


OPTIMISERS: dict[str, Callable[[nn.Module], torch.optim.Optimizer]] = {
    "sgd": lambda net: torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=0.1),
    "adam": lambda net: torch.optim.Adam(net.parameters(), lr=0.1, fused=True),
    "adamw": lambda net: torch.optim.AdamW(net.parameters(), lr=0.1, weight_decay=0.5),
}


@pytest.mark.parametrize("make", OPTIMISERS.values(), ids=OPTIMISERS.keys())
@pytest.mark.parametrize("before", [True, False], ids=["optimiser first", "freeze first"])
def test_frozen_bases_keep_their_bits_and_the_others_train(
    make: Callable[[nn.Module], torch.optim.Optimizer], before: bool
) -> None:
    net = build()
    optimiser = make(net) if before else None
    if optimiser is not None:
        step(net, optimiser, times=2)  # so that there is momentum to resist
    net.freeze([0, -1])
    start = net.theta.detach().clone()
    step(net, optimiser or make(net), times=3)
    assert torch.equal(net.theta[[0, 2]], start[[0, 2]])
    assert not torch.equal(net.theta[1], start[1])


def test_a_copy_and_a_reloaded_network_keep_their_frozen_bases(tmp_path: Path) -> None:
    net = scn.SCN(scn.backbones.MLP((4,), 3, 8), 2, 3)
    net.freeze([1])
    net.save(tmp_path / "net.safetensors")
    other = scn.SCN(scn.backbones.MLP((4,), 3, 8), 2, 3)
    other.load_state_dict(net.state_dict())
    for same in (copy.deepcopy(net), scn.SCN.load(tmp_path / "net.safetensors"), other):
        start = same.theta.detach().clone()
        step(same, OPTIMISERS["adamw"](same))
        assert torch.equal(same.theta[1], start[1])
        assert not torch.equal(same.theta[0], start[0])


def test_growing_leaves_a_frozen_base_alone() -> None:
    net = build()
    net.freeze([0])
    x, alpha = torch.randn(6, 4), torch.randn(6, 2)
    start, before = net.theta[0].detach().clone(), net(x, alpha)
    net.grow(4)
    torch.testing.assert_close(net(x, alpha), before, atol=1e-5, rtol=1e-5)
    step(net, OPTIMISERS["adamw"](net))
    assert torch.equal(net.theta[0], start)


@pytest.mark.parametrize("index", [3, -4])
def test_freezing_a_base_that_does_not_exist_is_an_error(index: int) -> None:
    with pytest.raises(IndexError, match=f"there is no base model {index}: they are 0 to 2"):
        build().freeze([index])
