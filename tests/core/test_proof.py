"""The proof that groups are not mixed up: what it must find, and what it must leave alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import scn


class Siamese(nn.Module):
    """Two views of the batch one behind the other: no shape gives it away."""

    def __init__(self, after: Callable[[Tensor], Any] = lambda t: t) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 4)
        self.after = after

    def forward(self, x: Tensor, pair: bool = True) -> Any:
        if not pair:
            return self.layer(x)
        first, second = self.layer(torch.cat([x, x.flip(1)])).chunk(2)
        return self.after(first * second)


@dataclass
class Answer:
    logits: Tensor


X = torch.randn(8, 5, generator=torch.Generator().manual_seed(0))


def groups_agree(net: scn.SCN, x: Tensor, rows: int, *args: Any, **kwargs: Any) -> None:
    alpha = torch.randn(rows, 2) * 3
    together = net(x, alpha, *args, **kwargs)
    alone = torch.cat([net(part, a, *args, **kwargs) for part, a in zip(x.chunk(rows), alpha, strict=True)])
    torch.testing.assert_close(together, alone, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "after",
    [
        lambda t: t + 1000,
        lambda t: torch.cat([t, torch.full_like(t, 1e5)], dim=1),
        lambda t: t.argsort(dim=1),
        lambda t: t > 0,
        torch.fft.fft,
        lambda t: torch.cat([t, torch.full_like(t, torch.nan)], dim=1).nan_to_num(7.0),
    ],
    ids=["offset", "large part", "whole numbers", "truth", "complex", "not finite"],
)
def test_mixed_up_groups_are_found_whatever_the_answer_is(after: Callable[[Tensor], Tensor]) -> None:
    net = scn.SCN(Siamese(after), 2, 3, init="pretrained", noise=1.0)
    groups_agree(net, X, 4)


def test_answers_inside_unknown_objects_are_looked_at() -> None:
    net = scn.SCN(nn.Sequential(nn.Linear(5, 4)), 2, 3)
    net.backbone.append(_Wrap())  # type: ignore[operator]
    alpha = torch.randn(4, 2)
    torch.testing.assert_close(net(X, alpha).logits[2:4], net(X[2:4], alpha[1]).logits)
    with pytest.raises(ValueError, match="cannot be joined"):
        scn.SCN(Siamese(Answer), 2, 3)(X, alpha)


class _Wrap(nn.Module):
    def forward(self, x: Tensor) -> Answer:
        return Answer(x)


def test_a_head_of_zeros_proves_nothing() -> None:
    class Headed(Siamese):
        def __init__(self) -> None:
            super().__init__()
            self.head = nn.Linear(4, 3)
            nn.init.zeros_(self.head.weight)

        def forward(self, x: Tensor, pair: bool = True) -> Tensor:
            return self.head(super().forward(x))

    net = scn.SCN(Headed(), 2, 3, configurable="layer.*", init="pretrained", noise=1.0)
    net(X, torch.randn(4, 2))
    with torch.no_grad():
        net.backbone.get_parameter("head.weight").normal_()
    groups_agree(net, X, 4)


def test_another_way_through_the_backbone_is_proven_anew() -> None:
    net = scn.SCN(Siamese(), 2, 3)
    groups_agree(net, X, 4, pair=False)
    groups_agree(net, X, 4, pair=True)


def test_the_way_in_training_is_proven_in_training() -> None:
    class TrainedOtherwise(Siamese):
        def forward(self, x: Tensor, pair: bool = True) -> Any:
            return super().forward(x, pair=self.training)

    net = scn.SCN(TrainedOtherwise(), 2, 3)
    groups_agree(net.eval(), X, 4)
    groups_agree(net.train(), X, 4)


def test_every_group_may_be_the_one_that_is_checked() -> None:
    class Crossed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(5, 4)

        def forward(self, x: Tensor) -> Tensor:
            crossed = self.layer(x.view(3, 3, -1).transpose(0, 1).reshape(9, -1))
            return crossed.view(3, 3, -1).transpose(0, 1).reshape(9, -1)

    net = scn.SCN(nn.Sequential(Crossed()), 2, 3)
    with pytest.raises(ValueError, match="call it once per alpha"):  # a group alone has no such view
        net(torch.randn(9, 5), torch.randn(9, 2))


def test_inputs_that_are_changed_in_place_are_changed_once() -> None:
    class InPlace(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(5, 4)

        def forward(self, x: Tensor) -> Tensor:
            x -= 0.5
            return self.layer(x)

    net = scn.SCN(InPlace(), 2, 3)
    x = X.clone()
    net(x, torch.randn(4, 2))
    torch.testing.assert_close(x, X - 0.5)


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 8)

    def forward(self, x: Tensor, scale: Tensor) -> Tensor:
        return self.layer(x) * scale


@pytest.mark.parametrize("rows", [2, 4, 8])
def test_a_further_argument_with_as_many_rows_as_samples_may_be_for_all(rows: int) -> None:
    net = scn.SCN(Scaled(), 2, 3)
    scale, alpha = torch.rand(8) + 1, torch.randn(rows, 2)
    parts = zip(X.chunk(rows), alpha, strict=True)
    alone = torch.cat([net.configure(a)(part, scale) for part, a in parts])
    torch.testing.assert_close(net(X, alpha, scale), alone, atol=1e-4, rtol=1e-4)


def test_a_mask_with_as_many_steps_as_samples() -> None:
    net = scn.SCN(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 2, 3)
    mask = torch.zeros(4, 4).masked_fill(torch.ones(4, 4).triu(1).bool(), -1e9)
    x, alpha = torch.randn(4, 4, 8), torch.randn(2, 2)
    alone = torch.cat([net.configure(a)(part, mask) for part, a in zip(x.chunk(2), alpha, strict=True)])
    torch.testing.assert_close(net(x, alpha, mask), alone, atol=1e-4, rtol=1e-4)


def test_recurrent_states_go_with_their_group() -> None:
    net = scn.SCN(nn.LSTM(4, 5, batch_first=True), 2, 3)
    x, alpha, state = torch.randn(4, 6, 4), torch.randn(2, 2), (torch.randn(1, 4, 5), torch.randn(1, 4, 5))
    out, _ = net(x, alpha, state)
    second, _ = net(x[2:], alpha[1], tuple(s[:, 2:] for s in state))
    torch.testing.assert_close(out[2:], second)


def test_nothing_is_left_behind() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(5, 4)
            self.calls: Tensor
            self.register_buffer("calls", torch.zeros(()))
            self.register_buffer("wide", torch.ones(1).expand(4))
            self.last: Tensor | None = None

        def forward(self, x: Tensor) -> Tensor:
            self.calls = self.calls + 1
            assert self.last is None or self.last.shape == x.shape
            self.last = x
            return self.layer(x) * self.wide

    net = scn.SCN(Counting(), 2, 3)
    seen = []
    net.backbone.register_forward_hook(lambda *_: seen.append(1))
    state = torch.get_rng_state()
    net(X, torch.ones(4, 2))
    assert torch.equal(torch.get_rng_state(), state)
    assert int(net.backbone.get_buffer("calls")) == 1
    assert len(seen) == 1


def test_parameters_that_must_be_positive_stay_positive() -> None:
    class Spread(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(5, 4)
            self.noise = nn.Sequential(_Sigma())

        def forward(self, x: Tensor) -> Tensor:
            return torch.distributions.Normal(self.layer(x), self.noise(x)).mean

    groups_agree(scn.SCN(Spread(), 2, 3), X, 4)


class _Sigma(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.sigma = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        return self.sigma.expand(len(x), 4)


def test_autocast_does_not_make_a_unit_of_a_plain_network() -> None:
    net = scn.SCN(scn.backbones.MLP((5,), 3, 8, 2, norm=True), 2, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        net(X, torch.randn(4, 2))
    assert not net._findings.units


def test_answers_that_are_random_in_training_are_proven_in_test_mode() -> None:
    class Dropping(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.layer = nn.BatchNorm1d(5), nn.Linear(5, 4)

        def forward(self, x: Tensor) -> Tensor:
            return self.layer(nn.functional.dropout(self.norm(x), 0.5, self.training))

    net = scn.SCN(Dropping(), 2, 3)
    net(X, torch.randn(4, 2))
    assert not net._findings.units
    groups_agree(net.eval(), X, 4)


def test_a_vector_that_is_no_batch() -> None:
    class Vector(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.gate = nn.Linear(5, 4), nn.Linear(8, 4)
            self.register_buffer("constant", torch.randn(8))

        def forward(self, x: Tensor) -> Tensor:
            return self.layer(x) * self.gate(self.constant)

    groups_agree(scn.SCN(Vector(), 2, 3), X, 4)


def test_one_base_model_needs_no_groups() -> None:
    net = scn.SCN(Siamese(), 2, 1)
    torch.testing.assert_close(net(X, torch.randn(4, 2)), net(X, torch.zeros(2)))
    assert not net._findings.proven
