"""BatchNorm: shared statistics over the whole batch in training, running statistics at test time."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

import scn


def backbone() -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(16, 3))


X = torch.randn(8, 1, 4, 4, generator=torch.Generator().manual_seed(0)) * 3 + 1


@pytest.mark.parametrize("rows", [2, 4, 8])
def test_statistics_are_those_of_the_whole_batch(rows: int) -> None:
    one = scn.SCN(backbone(), 2, 3)
    several = copy.deepcopy(one)
    alpha = torch.randn(2)
    expected = one(X, alpha)
    torch.testing.assert_close(several(X, alpha.expand(rows, 2)), expected, atol=1e-5, rtol=1e-5)
    for name, value in one.backbone.named_buffers():
        torch.testing.assert_close(several.backbone.get_buffer(name), value)
    assert int(one.backbone.get_buffer("1.num_batches_tracked")) == 1


def test_statistics_mix_the_groups_of_a_batch() -> None:
    net = scn.SCN(backbone(), 2, 3)
    alpha = torch.randn(2, 2) * 5
    first, second = (net.configure(a)[0](x) for a, x in zip(alpha, X.chunk(2), strict=True))  # type: ignore[index]
    net(X, alpha)
    both = torch.cat([first, second]).transpose(0, 1).flatten(1)
    torch.testing.assert_close(net.backbone.get_buffer("1.running_mean"), 0.1 * both.mean(1))


def test_running_statistics_are_used_at_test_time_for_any_batch_size() -> None:
    net = scn.SCN(backbone(), 2, 3)
    for _ in range(3):
        net(X, torch.randn(2, 2))
    net.eval()
    before = copy.deepcopy(net.state_dict())
    alpha = torch.randn(8, 2)
    together = net(X, alpha)
    apart = torch.cat([net(x.unsqueeze(0), a) for x, a in zip(X, alpha, strict=True)])
    torch.testing.assert_close(apart, together, atol=1e-5, rtol=1e-5)
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_training_and_test_mode_follow_the_network() -> None:
    net = scn.SCN(backbone(), 2, 3)
    assert net.backbone[1].training  # type: ignore[index]
    net.eval()
    assert not net.configure(torch.zeros(2))[1].training  # type: ignore[index]
    net.train()
    assert net.backbone[1].training  # type: ignore[index]


def test_statistics_are_saved(tmp_path: object) -> None:
    net = scn.SCN(backbone(), 2, 3)
    net(X, torch.zeros(2))
    assert "backbone.1.running_mean" in net.state_dict()


def test_batch_statistics_at_test_time_are_refused() -> None:
    with pytest.raises(ValueError, match='BatchNorm "1" keeps no running statistics'):
        scn.SCN(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4, track_running_stats=False)), 2, 3)


@pytest.mark.parametrize("labels", [False, True])
def test_recalibrate_measures_the_statistics_of_one_configuration(labels: bool) -> None:
    net = scn.SCN(backbone(), 2, 3)
    net(X, torch.randn(4, 2))
    before = copy.deepcopy(net.state_dict())
    alpha = torch.randn(2)
    batches = [(x, torch.zeros(4)) if labels else x for x in X.chunk(2)]
    fresh = net.recalibrate(batches, alpha)
    features = net.configure(alpha)[0](X).transpose(0, 1).flatten(1)  # type: ignore[index]
    torch.testing.assert_close(fresh.get_buffer("1.running_mean"), features.mean(1))
    assert not fresh.training
    assert fresh[1].momentum == 0.1  # type: ignore[index]
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_recalibrate_without_batches_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one batch"):
        scn.SCN(backbone(), 2, 3).recalibrate([], torch.zeros(2))


class ScaledNorm(nn.Module):
    """A parameter of its own around a BatchNorm."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x) * self.scale


@pytest.mark.parametrize("rows", [2, 4, 8])
def test_a_norm_inside_a_unit_sees_the_whole_batch_too(rows: int) -> None:
    one = scn.SCN(nn.Sequential(nn.Linear(4, 4), ScaledNorm(), nn.Dropout(0.0)), 2, 3)
    several = copy.deepcopy(one)
    x, alpha = torch.randn(8, 4) * 2 + 1, torch.randn(2)
    torch.testing.assert_close(several(x, alpha.expand(rows, 2)), one(x, alpha), atol=1e-5, rtol=1e-5)
    for name, value in one.backbone.named_buffers():
        torch.testing.assert_close(several.backbone.get_buffer(name), value)


@pytest.mark.parametrize("configurable", ["*", ["scale", "norm.bias"]])
def test_a_norm_inside_a_unit_equals_the_same_norm_outside_one(configurable: str | list[str]) -> None:
    class Outside(nn.Module):
        """The same function, with the parameter in a module of its own."""

        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.BatchNorm1d(4)
            self.scale = nn.Conv1d(4, 4, 1, groups=4, bias=False)

        def forward(self, x: Tensor) -> Tensor:
            return self.scale(self.norm(x).unsqueeze(2)).squeeze(2)

    outside = [name.replace("scale", "scale.weight") for name in configurable]
    plain = ScaledNorm()
    inner = scn.SCN(plain, 2, 3, configurable=configurable)
    outer = scn.SCN(Outside(), 2, 3, configurable="*" if configurable == "*" else outside)
    outer.map.load_state_dict(inner.map.state_dict())
    with torch.no_grad():
        inner.theta.normal_()
        parts = inner.subspace.base_sets()
        for name, base in outer.subspace.base_sets().items():
            base.copy_(parts[name.replace("scale.weight", "scale")].view_as(base))
    x, alpha = torch.randn(8, 4), torch.randn(4, 2)
    grads = []
    for net in (inner, outer):
        net(x, alpha).square().sum().backward()
        grads.append(net.map.get_parameter("hidden.weight").grad)
    torch.testing.assert_close(inner(x, alpha), outer(x, alpha), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(*grads, atol=1e-4, rtol=1e-4)
