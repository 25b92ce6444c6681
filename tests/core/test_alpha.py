"""Wrong input to a network: an error that names the value and the remedy, or a sensible answer."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import scn


@pytest.fixture
def net() -> scn.SCN:
    return scn.SCN(nn.Linear(4, 3), alpha_dim=2, dims=3)


X = torch.randn(6, 4)


@pytest.mark.parametrize("shape", [(1,), (3,), (6, 3), (6,), ()])
def test_a_wrong_number_of_alpha_values(net: scn.SCN, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"alpha must have 2 values .* encode"):
        net(X, torch.zeros(shape))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_alpha_that_is_not_finite(net: scn.SCN, value: float) -> None:
    for call in (lambda a: net(X, a), net.configure, net.beta):
        with pytest.raises(ValueError, match=f"alpha must be finite, but it holds {value}"):
            call(torch.tensor([0.0, value]))


@pytest.mark.parametrize("rows", [0, 4, 5, 12])
def test_alphas_that_do_not_divide_the_batch(net: scn.SCN, rows: int) -> None:
    with pytest.raises(ValueError, match=f"{rows} alpha cannot be shared out evenly over a batch of 6"):
        net(X, torch.zeros(rows, 2))


def test_alpha_with_too_many_dimensions(net: scn.SCN) -> None:
    with pytest.raises(ValueError, match=r"1 or 2 dimensions, but its shape is \(1, 6, 2\)"):
        net(X, torch.zeros(1, 6, 2))


@pytest.mark.parametrize("dtype", [torch.bool, torch.complex64])
def test_alpha_that_is_not_a_real_number(net: scn.SCN, dtype: torch.dtype) -> None:
    with pytest.raises(TypeError, match="alpha must hold real numbers"):
        net(X, torch.zeros(2, dtype=dtype))


@pytest.mark.parametrize(
    "alpha",
    [
        torch.tensor([1, 0]),
        torch.tensor([1, 0], dtype=torch.float64),
        torch.tensor([1, 0], dtype=torch.float16),
        [1, 0],
        (1.0, 0.0),
    ],
)
def test_alpha_of_another_type_is_converted(net: scn.SCN, alpha: object) -> None:
    assert torch.equal(net(X, alpha), net(X, torch.tensor([1.0, 0.0])))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU (CUDA)")
def test_alpha_on_another_device_is_moved(net: scn.SCN) -> None:
    assert net(X, torch.zeros(2).cuda()).device == X.device


@pytest.mark.parametrize("rows", [(), (1,), (3,), (0,)])
def test_an_empty_batch_gives_an_empty_answer(net: scn.SCN, rows: tuple[int, ...]) -> None:
    assert net(X[:0], torch.zeros(*rows, 2)).shape == (0, 3)


def test_several_alpha_need_a_batch(net: scn.SCN) -> None:
    with pytest.raises(ValueError, match="need a tensor with the batch as its first dimension"):
        net({"x": X}, torch.zeros(2, 2))


@pytest.mark.parametrize("dims", [0, -1, 1.5, True, "3"])
def test_dims_below_one(dims: int) -> None:
    with pytest.raises(ValueError, match=f"dims must be a whole number of at least 1, but is {dims!r}"):
        scn.SCN(nn.Linear(4, 3), alpha_dim=2, dims=dims)


def test_a_backbone_without_parameters() -> None:
    with pytest.raises(ValueError, match="ReLU has no trainable parameters"):
        scn.SCN(nn.ReLU(), alpha_dim=2, dims=3)


def test_a_backbone_without_shapes_yet() -> None:
    with pytest.raises(ValueError, match='"weight" has no shape yet: run the backbone on a batch'):
        scn.SCN(nn.LazyLinear(3), alpha_dim=2, dims=3)


@pytest.mark.parametrize("pattern", ["layer9.*", ["weight", "nothing"], []])
def test_a_pattern_that_matches_nothing_lists_what_there_is(pattern: str | list[str]) -> None:
    with pytest.raises(ValueError, match=r"matches no parameter. The backbone has: weight, bias"):
        scn.SCN(nn.Linear(4, 3), 2, 3, configurable=pattern)


def test_parameters_of_different_types() -> None:
    backbone = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2).double())
    with pytest.raises(ValueError, match="differ in type or device"):
        scn.SCN(backbone, 2, 3)


def test_an_unknown_initialisation() -> None:
    with pytest.raises(ValueError, match="init must be"):
        scn.SCN(nn.Linear(4, 3), 2, 3, init="random")  # type: ignore[arg-type]


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x: Tensor, gain: Tensor, *, offset: float = 0.0) -> Tensor:
        return self.layer(x) * gain + offset


@pytest.mark.parametrize("rows", [(), (3,), (6,)])
def test_further_arguments_go_to_the_backbone(rows: tuple[int, ...]) -> None:
    net = scn.SCN(Gated(), 2, 3)
    alpha, gain = torch.randn(*rows, 2), torch.randn(6, 1)
    plain = net(X, alpha, torch.ones(6, 1))
    torch.testing.assert_close(net(X, alpha, gain, offset=2.0), plain * gain + 2)
    torch.testing.assert_close(net(X, alpha, gain=gain), plain * gain)


def test_a_unit_with_arguments_gets_each_group_its_part() -> None:
    class Unit(Gated):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.ones(3))

        def forward(self, x: Tensor, gain: Tensor, *, offset: float = 0.0) -> Tensor:
            return super().forward(x, gain * self.scale, offset=offset)

    net = scn.SCN(Unit(), 2, 3)
    alpha, gain = torch.randn(3, 2), torch.randn(6, 1)
    expected = torch.cat([net(X[i : i + 2], alpha[i // 2], gain[i : i + 2]) for i in (0, 2, 4)])
    torch.testing.assert_close(net(X, alpha, gain=gain), expected)


def test_beta_lies_in_the_simplex(net: scn.SCN) -> None:
    beta = net.beta(torch.randn(5, 7, 2) * 100)
    assert beta.shape == (5, 7, 3)
    assert (beta >= 0).all()
    torch.testing.assert_close(beta.sum(-1), torch.ones(5, 7))


def test_batched_alphas_do_not_influence_each_other(net: scn.SCN) -> None:
    alpha = torch.randn(5, 2)
    torch.testing.assert_close(net.beta(alpha), torch.stack([net.beta(a) for a in alpha]))
