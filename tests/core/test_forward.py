"""What an SCN computes equals the plain network of every sample, in value and in gradient."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call

import scn
from small_backbones import CASES, CLASSES, Case

BATCH = 12
GROUPS = {"one alpha": (), "four alpha": (4,), "an alpha per sample": (BATCH,)}
MODES = {"mixed weights": 0, "mixed outputs": 10**9}  # both ways of a linear layer, whatever the size

matrix = pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
each_dims = pytest.mark.parametrize("dims", [1, 2, 5])
each_shape = pytest.mark.parametrize("rows", GROUPS.values(), ids=GROUPS.keys())
each_mode = pytest.mark.parametrize("mode", MODES.values(), ids=MODES.keys())


def build(case: Case, dims: int, **options: object) -> scn.SCN:
    return scn.SCN(case.backbone(), alpha_dim=2, dims=dims, **options)  # type: ignore[arg-type]


def per_sample(alpha: Tensor) -> Tensor:
    return alpha.expand(BATCH, 2) if alpha.dim() == 1 else alpha.repeat_interleave(BATCH // len(alpha), 0)


def reference(net: scn.SCN, plain: nn.Module, x: Tensor, alpha: Tensor) -> Tensor:
    """Every sample by itself: theta summed up base by base in a loop, run in a plain copy."""
    outputs = []
    for sample, a in zip(x, per_sample(alpha), strict=True):
        beta = net.map(a)
        theta = sum(b * base for b, base in zip(beta, net.theta, strict=True))
        assert isinstance(theta, Tensor)
        weights, start = {}, 0
        for slot in net.subspace.slots:
            part = theta[start : start + slot.size].view(slot.shape)
            weights.update(dict.fromkeys(slot.names, part))
            start += slot.size
        outputs.append(functional_call(plain, weights, sample.unsqueeze(0), tie_weights=False))
    return torch.cat(outputs)


@matrix
@each_dims
@each_shape
@each_mode
def test_forward_and_gradients_equal_those_of_each_sample_by_itself(
    case: Case, dims: int, rows: tuple[int, ...], mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scn.core.grouped.SAMPLES_TIMES_DIMS", mode)
    plain = case.backbone()
    net = scn.SCN(plain, alpha_dim=2, dims=dims).eval()
    x, alpha = torch.randn(BATCH, *case.shape), torch.randn(*rows, 2)
    direction = torch.randn(BATCH, CLASSES)

    expected = reference(net, plain, x, alpha)
    wanted = torch.autograd.grad((expected * direction).sum(), list(net.parameters()))
    out = net(x, alpha)
    grads = torch.autograd.grad((out * direction).sum(), list(net.parameters()))

    torch.testing.assert_close(out, expected, atol=1e-5, rtol=1e-5)
    for grad, want in zip(grads, wanted, strict=True):
        torch.testing.assert_close(grad, want, atol=1e-4, rtol=1e-4)


@matrix
@each_dims
def test_the_three_shapes_of_alpha_agree(case: Case, dims: int) -> None:
    net = build(case, dims).eval()
    x, alpha = torch.randn(BATCH, *case.shape), torch.randn(2)
    one = net(x, alpha)
    for rows in (1, 2, 3, 4, 6, BATCH):
        torch.testing.assert_close(net(x, alpha.expand(rows, 2)), one, atol=1e-5, rtol=1e-5)


@matrix
def test_one_base_model_is_exactly_the_plain_backbone(case: Case) -> None:
    plain = case.backbone()
    net = scn.SCN(plain, alpha_dim=1, dims=1).eval()
    x = torch.randn(BATCH, *case.shape)
    assert torch.equal(net(x, torch.tensor([0.3])), plain(x))


@matrix
def test_the_backbone_given_is_left_as_it_was(case: Case) -> None:
    plain = case.backbone()
    before = copy.deepcopy(plain.state_dict())
    net = scn.SCN(plain, alpha_dim=2, dims=3)
    net(torch.randn(BATCH, *case.shape), torch.randn(4, 2)).sum().backward()
    assert all(torch.equal(value, before[name]) for name, value in plain.state_dict().items())
    assert all(p.grad is None for p in plain.parameters())


@matrix
def test_there_are_dims_copies_and_no_hidden_one(case: Case) -> None:
    plain = case.backbone()
    weights = sum(p.numel() for p in plain.parameters())
    net = scn.SCN(plain, alpha_dim=2, dims=4)
    assert tuple(net.theta.shape) == (4, weights)
    assert sum(p.numel() for p in net.parameters()) == 4 * weights + 64 * 3 + 65 * 4


@pytest.mark.parametrize(("alpha_dim", "dims"), [(1, 1), (2, 3), (6, 8)])
def test_the_configuration_network_has_its_exact_size(alpha_dim: int, dims: int) -> None:
    net = scn.SCN(nn.Linear(2, 2), alpha_dim, dims)
    count = sum(p.numel() for p in net.map.parameters())
    assert count == 64 * (alpha_dim + 1) + 65 * dims
    assert count == 387 or (alpha_dim, dims) != (2, 3)


def test_works_in_double_precision_and_without_gradients() -> None:
    net = scn.SCN(CASES[0].backbone(), 2, 3).double()
    x = torch.randn(4, 1, 4, 4, dtype=torch.float64)
    with torch.no_grad():
        out = net(x, torch.randn(2, 2))
    assert out.dtype == torch.float64
    assert not out.requires_grad


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU (CUDA)")
def test_works_on_cuda() -> None:
    net = scn.SCN(CASES[3].backbone(), 2, 3).cuda()
    assert net(torch.randn(4, 2, 6, 6).cuda(), torch.randn(2, 2)).is_cuda


def test_second_derivatives_exist() -> None:
    net = scn.SCN(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), 2, 3).double()
    x = torch.randn(6, 3, dtype=torch.float64)
    alpha = torch.randn(2, dtype=torch.float64)

    def loss(a: Tensor) -> Tensor:
        return net(x, a).square().sum()

    assert torch.autograd.gradgradcheck(loss, alpha.requires_grad_())


def test_mixed_precision_trains() -> None:
    net = scn.SCN(CASES[0].backbone(), 2, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = net(torch.randn(8, 1, 4, 4), torch.randn(2, 2)).sum()
    loss.backward()
    assert net.theta.grad is not None
    assert net.theta.grad.dtype == torch.float32


class Sequence(nn.Module):
    """Time-first activations inside, which no layer may mistake for the batch."""

    def __init__(self, recurrent: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.recurrent = recurrent()
        self.output = nn.Linear(4, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        out = self.recurrent(x.transpose(0, 1))
        return self.output(out[0] if isinstance(out, tuple) else out)[-1]


@pytest.mark.parametrize(
    "recurrent", [lambda: nn.LSTM(5, 4), lambda: nn.Linear(5, 4)], ids=["LSTM", "Linear"]
)
def test_time_first_activations_are_not_taken_for_the_batch(recurrent: Callable[[], nn.Module]) -> None:
    net = scn.SCN(Sequence(recurrent), 2, 3)
    x, alpha = torch.randn(4, 7, 5), torch.randn(2, 2)
    expected = torch.cat([net(x[:2], alpha[0]), net(x[2:], alpha[1])])
    torch.testing.assert_close(net(x, alpha), expected)


def test_a_module_without_batch_input_is_handled_by_the_module_around_it() -> None:
    class Position(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.place = nn.Parameter(torch.zeros(1, 4))

        def forward(self) -> Tensor:
            return self.place + 1

    class Around(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.position = Position()
            self.output = nn.Linear(4, CLASSES)

        def forward(self, x: Tensor) -> Tensor:
            return self.output(x + self.position())

    net = scn.SCN(Around(), 2, 3)
    x, alpha = torch.randn(4, 4), torch.randn(2, 2)
    expected = torch.cat([net(x[:2], alpha[0]), net(x[2:], alpha[1])])
    torch.testing.assert_close(net(x, alpha), expected)


def test_parametrised_layers_run_as_a_unit() -> None:
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(4, 3, bias=False))
    with pytest.warns(UserWarning, match="no reset_parameters draws parametrizations"):
        net = scn.SCN(layer, 2, 3)
    x, alpha = torch.randn(4, 4), torch.randn(2, 2)
    expected = torch.cat([net(x[:2], alpha[0]), net(x[2:], alpha[1])])
    torch.testing.assert_close(net(x, alpha), expected)


def test_shared_parameters_are_the_same_in_every_configuration() -> None:
    backbone = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3)).eval()
    net = scn.SCN(backbone, 2, 3, configurable=["3.*", "1.weight"]).eval()
    assert {name for slot in net.subspace.slots for name in slot.names} == {
        "1.weight",
        "3.weight",
        "3.bias",
    }
    assert tuple(net.theta.shape) == (3, 6 + 18 + 3)
    x, alpha = torch.randn(4, 4), torch.randn(2, 2)
    a, b = (net.configure(row) for row in alpha)
    assert torch.equal(a[0].weight, b[0].weight)  # type: ignore[index]
    torch.testing.assert_close(net(x, alpha), torch.cat([a(x[:2]), b(x[2:])]), atol=1e-5, rtol=1e-5)
    net(x, alpha).sum().backward()
    shared = net.backbone.get_parameter("0.weight")
    assert shared.grad is not None
    assert shared.grad.abs().sum() > 0


def test_frozen_parameters_of_the_backbone_are_shared() -> None:
    backbone = nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 3))
    backbone[0].requires_grad_(False)
    net = scn.SCN(backbone, 2, 3)
    assert tuple(net.theta.shape) == (3, 21)
