"""Muon: matrices take orthogonalised steps wherever they are stored, the rest takes Adam's."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

from scn import SCN
from scn.training.muon import Muon, orthogonal, pieces


def backbone() -> nn.Sequential:
    return nn.Sequential(nn.Conv1d(2, 3, 2), nn.BatchNorm1d(3), nn.Flatten(), nn.Linear(9, 4))


def with_gradients(net: nn.Module) -> nn.Module:
    generator = torch.Generator().manual_seed(0)
    for parameter in net.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator)
    return net


def test_singular_values_become_about_one_and_singular_vectors_stay() -> None:
    for shape in ((2, 4, 30), (2, 30, 4), (1, 5, 5)):
        several = torch.randn(shape, generator=torch.Generator().manual_seed(0))
        found = orthogonal(several)
        values = torch.linalg.svdvals(found)
        assert values.min() > 0.6
        assert values.max() < 1.3
        u, _, v = torch.linalg.svd(several, full_matrices=False)
        turned = u.mT @ found @ v.mT
        torch.testing.assert_close(
            turned, torch.diag_embed(turned.diagonal(dim1=1, dim2=2)), atol=1e-4, rtol=0
        )


def test_a_gradient_of_zero_moves_nothing() -> None:
    assert orthogonal(torch.zeros(2, 3, 4)).eq(0).all()


def test_every_weight_belongs_to_one_piece() -> None:
    for net in (backbone(), SCN(backbone(), 2, 5)):
        covered: dict[nn.Parameter, Tensor] = {p: torch.zeros(p.shape) for p in net.parameters()}
        for piece in pieces(net):
            piece.of(covered[piece.parameter]).add_(1)
        assert all(bool((count == 1).all()) for count in covered.values())


def test_each_base_model_takes_the_step_that_it_would_take_as_a_network_of_its_own() -> None:
    net = with_gradients(SCN(backbone(), 2, 3))
    assert isinstance(net, SCN)
    alone = [with_gradients(backbone()) for _ in range(3)]
    slots = {name: (slot, i) for i, slot in enumerate(net.subspace.slots) for name in slot.names}
    assert net.theta.grad is not None
    columns, gradients = (t.split(net.subspace.sizes, 1) for t in (net.theta.detach(), net.theta.grad))
    for d, single in enumerate(alone):
        for name, parameter in single.named_parameters():
            slot, i = slots[name]
            parameter.data = columns[i][d].clone().view(slot.shape)
            parameter.grad = gradients[i][d].clone().view(slot.shape)
    for optimised in (net, *alone):
        optimiser = Muon(optimised, lr=0.1, weight_decay=0.2)
        optimiser.step()
        optimiser.step()
    after = net.theta.detach().split(net.subspace.sizes, 1)
    for d, single in enumerate(alone):
        for name, parameter in single.named_parameters():
            slot, i = slots[name]
            torch.testing.assert_close(after[i][d].view(slot.shape), parameter.detach())


def test_vectors_take_the_steps_of_torchs_adam() -> None:
    class Vectors(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = (nn.Parameter(torch.linspace(-1, 1, n)) for n in (3, 5))

    mine, theirs = Vectors(), Vectors()
    optimisers = [Muon(mine, lr=0.1), torch.optim.Adam(theirs.parameters(), lr=0.1)]
    for _ in range(4):
        for net, optimiser in zip((mine, theirs), optimisers, strict=True):
            with_gradients(net)
            optimiser.step()
    torch.testing.assert_close(dict(mine.named_parameters()), dict(theirs.named_parameters()))


def test_frozen_bases_do_not_move() -> None:
    net = with_gradients(SCN(backbone(), 2, 3))
    assert isinstance(net, SCN)
    net.freeze([1])
    before = net.theta.detach().clone()
    Muon(net, lr=0.1, weight_decay=0.1).step()
    moved = (net.theta.detach() != before).any(dim=1)
    assert moved.tolist() == [True, False, True]


def test_the_state_can_be_saved_and_goes_on() -> None:
    first, second = SCN(backbone(), 2, 3, seed=0), SCN(backbone(), 2, 3, seed=1)
    one = Muon(with_gradients(first), lr=0.1)
    one.step()
    second.load_state_dict(first.state_dict())
    other = Muon(with_gradients(second), lr=0.1)
    other.load_state_dict(copy.deepcopy(one.state_dict()))
    one.step()
    other.step()
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


@pytest.mark.parametrize("shape", [(8, 64), (64, 8), (16, 16)])
def test_a_step_is_as_long_for_every_shape_of_matrix(shape: tuple[int, int]) -> None:
    """A root mean square of 0.2 at learning rate 1, as with Adam, so that one rate suits all layers."""
    layer = nn.Linear(shape[1], shape[0], bias=False)
    before = layer.weight.detach().clone()
    layer.weight.grad = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    Muon(layer, lr=1.0).step()
    length = (layer.weight - before).square().mean().sqrt().item()
    assert length == pytest.approx(0.2, rel=0.25)  # the iteration leaves singular values near 1
