"""Compact subspaces: what is shared, what is configured, and that everything else sees an plain network."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import scn
from scn.core import compact as compacts
from scn.core import storage
from scn.core.compact import Factored, LowRank
from scn.core.errors import ScnError
from small_backbones import CASES, Case, TiedLayers

KINDS = ("factored:2", "low-rank:1", "gains")


def mlp() -> nn.Module:
    return scn.backbones.MLP((1, 8, 8), 3, width=12, depth=2)


def around(count: int) -> Tensor:
    angle = 2 * torch.pi * (torch.arange(count) / count + 0.03)
    return torch.stack([angle.cos(), angle.sin()], dim=1)


def weights(net: scn.SCN) -> int:
    return sum(p.numel() for p in net.parameters())


def test_weights_are_those_that_the_issue_counts() -> None:
    """First layer 1024-32, as A(alpha) B with 32 rows, D=16: 54,944 weights instead of 530,080."""
    backbone = scn.backbones.MLP()
    assert weights(scn.SCN(backbone, 2, 16, map="nodes")) == 530_080
    net = scn.SCN(backbone, 2, 16, map="nodes", subspace="factored:32")
    assert weights(net) == 54_944
    assert net.theta.shape == (16, 32 * 32 + 32 + 32 * 10 + 10)
    mixed = 4 * (1024 + 32) + 32 + 4 * (32 + 10) + 10
    beside = scn.SCN(backbone, 2, 16, map="nodes", subspace="low-rank:4")
    assert weights(beside) == 1024 * 32 + 32 * 10 + 16 * mixed


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (lambda bias: nn.Linear(40, 5, bias=bias), (40,)),
        (lambda bias: nn.Conv1d(4, 5, 9, stride=2, padding=3, dilation=2, bias=bias), (4, 40)),
        (lambda bias: nn.Conv2d(4, 5, (3, 4), stride=(2, 1), padding=(1, 0), bias=bias), (4, 9, 9)),
        (lambda bias: nn.Conv2d(4, 5, 3, padding="same", bias=bias), (4, 9, 9)),
        (lambda bias: nn.Conv3d(2, 5, 3, bias=bias), (2, 4, 4, 4)),
    ],
    ids=["Linear", "Conv1d", "Conv2d", "same", "Conv3d"],
)
def test_with_enough_rank_a_layer_is_what_it_was(layer: Any, shape: tuple[int, ...], bias: bool) -> None:
    old, x = layer(bias), torch.randn(6, *shape)
    for rank in (5, 7):  # as many as outputs, or more
        made = Factored(old, rank)
        made.start_from(old)
        torch.testing.assert_close(made(x), old(x), atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(made.weight, old.weight, atol=1e-5, rtol=1e-4)
    beside = LowRank(old, 1)
    beside.start_from(old)
    torch.testing.assert_close(beside(x), old(x), atol=1e-5, rtol=1e-4)


def test_with_less_rank_it_is_the_nearest() -> None:
    old = nn.Linear(40, 5).requires_grad_(False)
    far = []
    for rank in range(1, 6):
        made = Factored(old, rank)
        made.start_from(old)
        far.append(float((made.narrow.weight @ made.wide.weight - old.weight).detach().norm()))
    left = torch.linalg.svdvals(old.weight).square()
    torch.testing.assert_close(
        torch.tensor(far).square(),
        torch.tensor([float(left[r:].sum()) for r in range(1, 6)]),
        atol=1e-5,
        rtol=1e-4,
    )


@pytest.mark.parametrize("name", ["factored:12", "low-rank:3", "gains"])
def test_the_first_base_model_starts_as_the_backbone(name: str) -> None:
    backbone, x = mlp(), torch.randn(5, 1, 8, 8)
    net = scn.SCN(backbone, 2, 4, map="nodes", subspace=name)
    torch.testing.assert_close(net(x, [1.0, 0.0]), backbone(x), atol=1e-5, rtol=1e-4)
    alike = scn.SCN(backbone, 2, 4, subspace=name, init="pretrained", noise=0.0)
    torch.testing.assert_close(alike(x, around(5)), backbone(x), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
@pytest.mark.parametrize("name", ["factored:1", "low-rank:1", "gains"])
@pytest.mark.parametrize("mapped", ["nodes", "learned"])
def test_several_alpha_are_as_each_alone_whatever_the_backbone(case: Case, name: str, mapped: str) -> None:
    net = scn.SCN(case.backbone(), 2, 6, map=mapped, subspace=name).eval()
    x, alpha = torch.randn(8, *case.shape), around(4)
    together = net(x, alpha)
    alone = torch.cat([net.configure(a)(part) for a, part in zip(alpha, x.chunk(4), strict=True)])
    torch.testing.assert_close(together, alone, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(net.bank(alpha)(x)[1], net(x, alpha[1]), atol=1e-4, rtol=1e-4)
    plain = net.configure(alpha[0])
    torch.testing.assert_close(net.configure(alpha[1], into=plain)(x), net(x, alpha[1]), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", [*KINDS, "shared:layers.1.*"])
def test_the_shared_part_is_trained_and_reaches_configured_networks(name: str) -> None:
    net, x = scn.SCN(mlp(), 2, 4, map="nodes", subspace=name), torch.randn(8, 1, 8, 8)
    shared = dict(net.backbone.named_parameters())
    assert shared
    before = {key: value.detach().clone() for key, value in shared.items()}
    plain = net.configure(around(1)[0])
    optimiser = torch.optim.SGD(net.parameters(), 0.1)
    net(x, around(4)).square().sum().backward()
    optimiser.step()
    assert all(not torch.equal(value, before[key]) for key, value in shared.items())
    net.configure(around(1)[0], into=plain)
    torch.testing.assert_close(plain(x), net(x, around(1)[0]), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", [*KINDS, "shared:layers.1.*"])
def test_a_compact_network_is_saved_loaded_and_copied(name: str, tmp_path: Path) -> None:
    net, x, alpha = scn.SCN(mlp(), 2, 4, map="nodes", subspace=name), torch.randn(8, 1, 8, 8), around(4)
    path, random = tmp_path / "net.safetensors", torch.get_rng_state()
    for _ in range(2):
        net.save(path)
        again = scn.SCN.load(path)
        assert torch.equal(again(x, alpha), net(x, alpha))
        assert again.compact is not None
        assert again.compact.name == name
        net = again
    assert torch.equal(torch.get_rng_state(), random)
    assert torch.equal(copy.deepcopy(net)(x, alpha), net(x, alpha))
    assert weights(scn.SCN.load(path, backbone=mlp())) == weights(net)


def test_another_backbone_is_refused_by_the_layer_that_it_lacks(tmp_path: Path) -> None:
    backbone = nn.Sequential(nn.Flatten(), nn.Linear(16, 3))
    scn.SCN(backbone, 2, 3, subspace="factored:2").save(tmp_path / "net.safetensors")
    for other in (nn.Linear(16, 3), nn.Sequential(nn.Flatten(), nn.ReLU())):
        with pytest.raises(ScnError, match=r"replaced the layer '1', but the given .* has none"):
            scn.SCN.load(tmp_path / "net.safetensors", backbone=other)
    with pytest.raises(ScnError, match="pass a backbone of the saved shape"):
        scn.SCN.load(tmp_path / "net.safetensors", backbone=nn.Sequential(nn.Flatten(), nn.Linear(16, 4)))


def test_a_subspace_of_a_newer_version_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = {"name": "wavelets:3", "kind": "wavelets", "rank": 3, "layers": ["layers.1"]}
    monkeypatch.setattr(compacts.Compact, "to_json", lambda _: content)
    scn.SCN(mlp(), 2, 3, subspace="factored:2").save(tmp_path / "net.safetensors")
    assert storage.load_model(tmp_path / "net.safetensors")[1]["format"] == 2
    with pytest.raises(ScnError, match="'wavelets:3' is not known: it may need a newer scn"):
        scn.SCN.load(tmp_path / "net.safetensors")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "factor:3",
            "there is no subspace 'factor:3': say one of full, factored:R, low-rank:R, gains, shared:PATTERN",
        ),
        ("factored", "there is no subspace"),
        ("factored:0", "there is no subspace"),
        ("factored:-1", "there is no subspace"),
        ("factored:²", "there is no subspace"),
        ("low-rank:x", "there is no subspace"),
        ("shared:", "there is no subspace"),
        ("factored:17", "finds no wide layer: .* at least 4 x 17 inputs"),
        ("shared:convolution.*", "shares no parameter. The backbone has: layers.1.weight"),
        ("shared:*", "shares every parameter"),
    ],
)
def test_what_cannot_be_is_explained(name: str, message: str) -> None:
    with pytest.raises(ScnError, match=message):
        scn.SCN(mlp(), 2, 3, subspace=name)


def test_the_backbone_is_not_changed() -> None:
    backbone = mlp()
    before = copy.deepcopy(backbone.state_dict())
    scn.SCN(backbone, 2, 3, subspace="factored:2")
    assert all(torch.equal(value, before[key]) for key, value in backbone.state_dict().items())


@pytest.mark.parametrize("name", KINDS)
def test_a_seed_makes_the_start_repeatable_and_leaves_no_trace(name: str) -> None:
    backbone, random = mlp(), torch.get_rng_state()
    one, other = (scn.SCN(backbone, 2, 3, subspace=name, seed=1) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), random)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_tied_layers_stay_tied() -> None:
    net = scn.SCN(TiedLayers(), 2, 3, subspace="factored:1")
    assert net.compact is not None
    assert net.compact.layers == ("output",)
    assert ("first.weight", "second.weight") in [slot.names for slot in net.subspace.slots]


class Twice(nn.Module):
    """One layer under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.first = self.second = nn.Linear(16, 16)
        self.output = nn.Linear(16, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.second(self.first(x)))


def test_a_layer_that_stands_twice_stays_one() -> None:
    net = scn.SCN(Twice(), 2, 3, subspace="factored:2")
    assert net.compact is not None
    assert net.compact.layers == ("output",)
    assert net.backbone.first is net.backbone.second


def test_parameters_that_were_left_out_stay_shared() -> None:
    net = scn.SCN(mlp(), 2, 3, subspace="factored:2", configurable="*.weight")
    assert all(name.endswith("weight") for slot in net.subspace.slots for name in slot.names)
    backbone = mlp()
    for name, parameter in backbone.named_parameters():
        parameter.requires_grad_(not name.endswith("bias"))
    net = scn.SCN(backbone, 2, 3, subspace="low-rank:2")
    assert all(name.endswith("weight") for slot in net.subspace.slots for name in slot.names)
    assert not any(p.requires_grad for n, p in net.backbone.named_parameters() if n.endswith("bias"))


def test_a_layer_that_is_not_configurable_is_not_replaced() -> None:
    backbone = nn.Sequential(nn.Flatten(), nn.Linear(16, 16), nn.Linear(16, 3))
    net = scn.SCN(backbone, 2, 3, subspace="factored:2", configurable="2.*")
    assert net.compact is not None
    assert net.compact.layers == ("2",)


@pytest.mark.parametrize("name", KINDS)
def test_a_module_that_reads_the_weights_of_its_layers_finds_them(name: str) -> None:
    """As torch's own transformer does when it is not trained."""
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    net = scn.SCN(nn.Sequential(layer, nn.Flatten(), nn.Linear(64, 3)), 2, 3, subspace=name).eval()
    x, alpha = torch.randn(4, 4, 16), around(2)
    slow = net(x, alpha)
    with torch.no_grad():
        torch.testing.assert_close(net(x, alpha), slow, atol=1e-5, rtol=1e-4)
        alone = [net.configure(a)(part) for a, part in zip(alpha, x.chunk(2), strict=True)]
        torch.testing.assert_close(torch.cat(alone), slow, atol=1e-5, rtol=1e-4)


def test_groups_and_other_kinds_of_padding_are_left_as_they_are() -> None:
    backbone = nn.Sequential(
        nn.Conv2d(8, 8, 3, groups=2),
        nn.Conv2d(8, 8, 3, padding=1, padding_mode="circular"),
        nn.Conv2d(8, 8, 3),
    )
    assert compacts.compact("factored:4", backbone, scn.core.layout.find_slots(backbone, ["*"])).layers == (
        "2",
    )


def test_new_backbones_for_each_base_model_are_made_compact() -> None:
    net = scn.SCN(mlp(), 2, 3, subspace="factored:2", init=mlp)
    assert not torch.equal(net.theta[0], net.theta[1])
    assert net(torch.randn(3, 1, 8, 8), around(3)).shape == (3, 3)


@pytest.mark.parametrize("name", KINDS)
def test_other_precisions(name: str) -> None:
    net = scn.SCN(mlp().double(), 2, 3, subspace=name)
    assert net(torch.randn(3, 1, 8, 8).double(), around(3)).dtype == torch.float64


@pytest.mark.parametrize("name", KINDS)
def test_nodes_are_resampled_grown_and_frozen_in_a_compact_subspace_too(name: str) -> None:
    net, x = scn.SCN(mlp(), 2, 4, map="nodes", subspace=name), torch.randn(3, 1, 8, 8)
    before = net(x, around(3))
    net.resample(8)
    torch.testing.assert_close(net(x, around(3)), before, atol=1e-5, rtol=1e-4)
    net.freeze([0])
    net(x, around(3)).sum().backward()
    learned = scn.SCN(mlp(), 2, 2, subspace=name)
    before = learned(x, around(3))
    learned.grow(2)
    torch.testing.assert_close(learned(x, around(3)), before, atol=1e-5, rtol=1e-4)


def test_gains_follow_a_norm_layer_where_there_is_one() -> None:
    """Conditional normalisation: its own factors are mixed, and the layer before it is shared whole."""
    backbone = nn.Sequential(
        nn.Conv2d(1, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3)
    )
    net = scn.SCN(backbone, 2, 4, map="nodes", subspace="gains")
    mixed = [slot.names[0] for slot in net.subspace.slots]
    assert mixed == ["1.weight", "1.bias", "4.gains.weight", "4.gains.bias"]
    assert net.theta.shape == (4, 2 * 4 + 2 * 3)


def test_gains_serve_grouped_convolutions_and_layers_without_a_bias() -> None:
    backbone = nn.Sequential(nn.Conv1d(4, 6, 3, groups=2, bias=False), nn.Flatten(), nn.Linear(48, 3))
    alike: Any = {"init": "pretrained", "noise": 0.0}
    net, x = scn.SCN(backbone, 2, 4, map="nodes", subspace="gains", **alike), torch.randn(8, 4, 10)
    assert net.theta.shape == (4, 2 * 6 + 2 * 3)
    torch.testing.assert_close(net(x, around(4)), backbone(x), atol=1e-5, rtol=1e-4)


def test_gains_need_a_layer() -> None:
    with pytest.raises(ScnError, match="finds no linear layer"):
        scn.SCN(nn.Sequential(nn.Flatten(), nn.PReLU()), 2, 4, subspace="gains")
