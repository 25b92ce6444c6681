"""Steps of training where a batch uses some base models: the others stay, and the gradients are the same."""

from __future__ import annotations

import copy
import signal
import time
from pathlib import Path

import pytest
import torch
from test_train import metrics, start
from torch import nn

import scn
from commands import run
from scn.training.muon import Muon

ALPHA = [[1.0, 0.0], [0.995, 0.0999]]  # between the first and the second of 8 nodes
USED = [0, 1]
UNUSED = list(range(2, 8))


def backbone() -> nn.Module:
    return nn.Sequential(nn.Conv1d(2, 3, 2), nn.BatchNorm1d(3), nn.Flatten(), nn.Linear(9, 4))


def network(dims: int = 8, name: str = "nodes") -> scn.SCN:
    return scn.SCN(backbone(), 2, dims, map=name, seed=0)


def step(net: scn.SCN, optimiser: torch.optim.Optimizer, *alphas: list[list[float]]) -> None:
    optimiser.zero_grad()
    x = torch.randn(8, 2, 4, generator=torch.Generator().manual_seed(0))
    for alpha in alphas:
        net(x, alpha).square().mean().backward()
    optimiser.step()


def everywhere(count: int = 8) -> list[list[float]]:
    angle = 2 * torch.pi * (torch.arange(count) / count + 0.03)
    return torch.stack([angle.cos(), angle.sin()], dim=1).tolist()


def test_a_base_model_that_no_alpha_used_stays_bit_for_bit() -> None:
    """Also one that was used before, whose moments would move it on, and that would decay."""
    net = network()
    optimiser = Muon(net, 0.1, weight_decay=0.2)
    step(net, optimiser, everywhere())
    before = net.theta.detach().clone()
    for _ in range(3):
        step(net, optimiser, ALPHA)
    assert net.theta.grad is not None
    assert net.theta.grad.is_sparse
    assert torch.equal(net.theta[UNUSED], before[UNUSED])
    moved = (net.theta.detach() != before)[USED].split(net.subspace.sizes, dim=1)
    assert all(part.any(dim=1).all() for part in moved)


def test_a_batch_that_uses_all_base_models_steps_as_with_a_dense_gradient() -> None:
    net = network(4)
    dense = copy.deepcopy(net)
    one, other = Muon(net, 0.1, weight_decay=0.2), Muon(dense, 0.1, weight_decay=0.2)
    dense.subspace.sparse_gradients = False
    for _ in range(3):
        step(net, one, everywhere(2), everywhere(8))
        step(dense, other, everywhere(2), everywhere(8))
    torch.testing.assert_close(net.theta, dense.theta)


def test_matrices_of_the_base_models_that_were_used_decay() -> None:
    net = network()
    decaying, before = copy.deepcopy(net), net.theta.detach().clone()
    step(net, Muon(net, 0.1), ALPHA)
    step(decaying, Muon(decaying, 0.1, weight_decay=0.2), ALPHA)
    parts = ((decaying.theta - net.theta).detach(), -0.1 * 0.2 * before)
    for slot, found, shrunk in zip(
        net.subspace.slots, *(part[USED].split(net.subspace.sizes, dim=1) for part in parts), strict=True
    ):
        torch.testing.assert_close(found, shrunk if len(slot.shape) > 1 else torch.zeros_like(shrunk))


def test_an_unused_base_model_takes_later_the_step_that_it_would_have_taken_first() -> None:
    """Moments and their correction count the steps of each base model."""
    net = network()
    other = copy.deepcopy(net)
    late, first = Muon(net, 0.1), Muon(other, 0.1)
    for _ in range(5):
        step(net, late, [[-1.0, 0.0], [-0.995, -0.0999]])
    step(net, late, ALPHA)
    step(other, first, ALPHA)
    torch.testing.assert_close(net.theta[USED], other.theta[USED])


@pytest.mark.parametrize("alphas", [(ALPHA,), (ALPHA, [[0.0, 1.0]]), (ALPHA, everywhere())])
def test_a_sparse_gradient_is_the_dense_one(alphas: tuple[list[list[float]], ...]) -> None:
    """Of one call, of several that are added up, and of one that used all base models beside another."""
    net, x = network(), torch.randn(8, 2, 4)
    dense = copy.deepcopy(net)
    net.subspace.give_sparse_gradients()
    for one in (net, dense):
        for alpha in alphas:
            one(x, alpha).square().sum().backward()
    assert net.theta.grad is not None
    assert dense.theta.grad is not None
    assert not dense.theta.grad.is_sparse
    torch.testing.assert_close(net.theta.grad.to_dense(), dense.theta.grad, atol=1e-5, rtol=1e-4)


def test_frozen_base_models_stay_and_unused_ones_too() -> None:
    net = network()
    optimiser = Muon(net, 0.1, weight_decay=0.2)
    step(net, optimiser, everywhere())
    net.freeze([0])
    before = net.theta.detach().clone()
    step(net, optimiser, ALPHA)
    assert net.theta.grad is not None
    assert net.theta.grad.is_sparse
    assert torch.equal(net.theta[[0, *UNUSED]], before[[0, *UNUSED]])
    assert not torch.equal(net.theta[1], before[1])


def test_the_gradient_of_a_frozen_base_model_is_zero_in_either_form() -> None:
    x = torch.randn(8, 2, 4)
    for sparse in (False, True):
        net = network()
        if sparse:
            net.subspace.give_sparse_gradients()
        net.freeze([1])
        net(x, ALPHA).square().sum().backward()
        assert net.theta.grad is not None
        assert net.theta.grad.to_dense()[1].eq(0).all()
        assert net.theta.grad.to_dense()[0].ne(0).any()


@pytest.mark.parametrize(
    "made",
    [
        lambda parameters: torch.optim.Adam(parameters, 0.1),
        lambda parameters: torch.optim.AdamW(parameters, 0.1, fused=True),
        lambda parameters: torch.optim.SGD(parameters, 0.1, momentum=0.9, weight_decay=0.1),
    ],
    ids=["Adam", "AdamW", "SGD"],
)
def test_another_optimiser_after_muon_gets_what_it_can_take(made: object) -> None:
    assert callable(made)
    net = network()
    other = copy.deepcopy(net)
    Muon(net, 0.1)
    for one in (net, other):
        optimiser = made(one.parameters())
        step(one, optimiser, ALPHA)
        step(one, optimiser, everywhere(2))
    torch.testing.assert_close(net.theta, other.theta)


def test_a_copy_has_ordinary_gradients_until_it_has_such_an_optimiser() -> None:
    net = network()
    Muon(net, 0.1)
    copied = copy.deepcopy(net)
    copied(torch.randn(8, 2, 4), ALPHA).sum().backward()
    assert copied.theta.grad is not None
    assert not copied.theta.grad.is_sparse


def test_the_state_of_the_optimiser_is_saved_and_loaded() -> None:
    net = network()
    optimiser = Muon(net, 0.1)
    step(net, optimiser, ALPHA)
    copied = copy.deepcopy(net)
    again = Muon(copied, 0.1)
    again.load_state_dict(copy.deepcopy(optimiser.state_dict()))
    for one, its in ((net, optimiser), (copied, again)):
        step(one, its, everywhere(2))
        step(one, its, ALPHA)
    assert torch.equal(net.theta, copied.theta)


def test_a_learned_map_trains_as_ever() -> None:
    net = network(name="learned")
    optimiser = Muon(net, 0.1)
    step(net, optimiser, ALPHA)
    assert net.theta.grad is not None
    assert not net.theta.grad.is_sparse
    assert not optimiser.of_bases


def test_two_vectors_of_adam_are_torchs() -> None:
    """Biases of the base models that are used take the steps of torch's Adam."""
    net = network(2)
    other = copy.deepcopy(net)
    ours, theirs = Muon(net, 0.1), torch.optim.Adam(other.parameters(), 0.1)
    bias = next(i for i, slot in enumerate(net.subspace.slots) if slot.names == ("0.bias",))
    generator = torch.Generator().manual_seed(0)
    for _ in range(3):
        gradient = torch.randn(net.theta.shape, generator=generator)
        net.theta.grad, other.theta.grad = gradient.clone(), gradient
        ours.step()
        theirs.step()
    found, expected = (n.theta.detach().split(net.subspace.sizes, dim=1)[bias] for n in (net, other))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    "chosen",
    [
        ("--map", "learned", "--dims", "3"),
        pytest.param(("--map", "nodes", "--dims", "8"), marks=pytest.mark.slow),
        ("--map", "nodes", "--dims", "4", "--subspace", "factored:8"),
    ],
    ids=["learned", "nodes", "factored"],
)
def test_a_killed_run_goes_on_and_ends_bit_for_bit_the_same(
    chosen: tuple[str, ...], small_data: str, tmp_path: Path
) -> None:
    """One blow; the drill with many is in test_train.py."""
    often = ("--checkpoint-minutes", "0.0002", "--quiet")
    sizes = ("--data", small_data, "--width", "16", "--epochs", "12", "--batch-size", "32", *chosen, *often)
    assert run("train", *sizes, "-o", str(tmp_path / "peace")).code == 0
    process = start(*sizes, "-o", str(tmp_path / "killed"))
    while not list((tmp_path / "killed").glob("checkpoint*")) and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert run("train", "--resume", str(tmp_path / "killed"), *often).code == 0
    peace, survived = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("peace", "killed"))
    assert survived == peace
    assert metrics(tmp_path / "killed") == metrics(tmp_path / "peace")
