"""Backbones that a careless wrapper gets wrong, silently or loudly."""

from __future__ import annotations

import copy
import pickle
import threading
import types
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

import scn


def check(backbone: nn.Module, x: Tensor, rows: int, **kwargs: Any) -> None:
    """Several alpha in one call equal the configured network of each group, by value and gradient."""
    net = scn.SCN(backbone, 2, 3, init="pretrained", noise=0.5).eval()
    alpha = torch.randn(rows, 2) * 3
    parts = zip(alpha, x.chunk(rows), strict=True)
    with torch.no_grad():
        expected = torch.cat([net.configure(a)(part, **kwargs) for a, part in parts])
    out = net(x, alpha, **kwargs)
    torch.testing.assert_close(out, expected, atol=1e-4, rtol=1e-4)
    grad = torch.autograd.grad(out.square().sum(), net.theta)[0]
    parts = zip(alpha, x.chunk(rows), strict=True)
    alone = torch.cat([net(part, a, **kwargs) for a, part in parts])
    wanted = torch.autograd.grad(alone.square().sum(), net.theta)[0]
    torch.testing.assert_close(grad, wanted, atol=1e-2, rtol=1e-3)


class Positions(nn.Module):
    """Its table of positions may have as many rows as the batch has samples."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(20, 8), nn.Embedding(64, 8)
        self.output = nn.Linear(8, 5)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output(self.tokens(tokens) + self.places(torch.arange(tokens.shape[1])))


class Siamese(nn.Module):
    """Twice as many rows as samples, and not sample by sample."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 4)

    def forward(self, x: Tensor) -> Tensor:
        first, second = self.layer(torch.cat([x, x.flip(1)])).chunk(2)
        return first * second


class Backwards(nn.Module):
    """Turns the batch round on the way."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x.flip(0)).flip(0)


class Gallery(nn.Module):
    """Compares with embeddings of classes, of which there may be as many as samples."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(6, 4), nn.Linear(4, 4)
        self.register_buffer("gallery", torch.randn(classes, 4))

    def forward(self, x: Tensor) -> Tensor:
        return self.query(x) @ self.key(self.gallery).t()


class TimeFirst(nn.Module):
    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        out = self.layer(x.transpose(0, 1))
        return (out[0] if isinstance(out, tuple) else out).transpose(0, 1)


@pytest.mark.parametrize("length", [6, 8, 16])
@pytest.mark.parametrize("rows", [2, 4, 8])
def test_an_order_that_only_looks_like_the_batch(length: int, rows: int) -> None:
    check(Positions(), torch.randint(0, 20, (8, length)), rows)
    check(Siamese(), torch.randn(8, 6), rows)
    check(Backwards(), torch.randn(8, 6), rows)
    check(Gallery(length), torch.randn(8, 6), rows)
    for layer in (nn.Linear(6, 4), nn.LSTM(6, 4), nn.LayerNorm(6)):
        check(TimeFirst(layer), torch.randn(8, length, 6), rows)


@pytest.mark.parametrize("batch_first", [True, False])
def test_transformers(batch_first: bool) -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=batch_first)
    check(layer if batch_first else TimeFirst(layer), torch.randn(4, 8, 8), 2)


def test_a_vector_as_input() -> None:
    class Scalar(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(1, 3)

        def forward(self, x: Tensor) -> Tensor:
            return self.layer(x.unsqueeze(1))

    check(Scalar(), torch.randn(8), 4)


def test_output_size_and_other_sizes_as_arguments() -> None:
    class Decoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.down = nn.Conv2d(1, 2, 3, stride=2)
            self.up = nn.ConvTranspose2d(2, 1, 3, stride=2)

        def forward(self, x: Tensor) -> Tensor:
            return self.up(self.down(x), output_size=x.shape[-2:])

    check(Decoder(), torch.randn(4, 1, 8, 8), 2)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_layers_can_be_configured_and_copied_after_training(kind: type[nn.Module]) -> None:
    net = scn.SCN(kind(4, 5, batch_first=True), 2, 3)
    x = torch.randn(4, 6, 4)
    net(x, torch.zeros(2))[0].sum().backward()
    net(x, torch.zeros(2, 2))[0].sum().backward()
    copied = copy.deepcopy(net)
    alpha = torch.ones(2)
    torch.testing.assert_close(net.configure(alpha)(x)[0], copied(x, alpha)[0])
    torch.testing.assert_close(net(x, alpha.expand(2, 2))[1], net(x, alpha)[1])


def test_packed_sequences_with_one_alpha() -> None:
    net = scn.SCN(nn.LSTM(4, 5, batch_first=True), 2, 3)
    packed = pack_padded_sequence(torch.randn(3, 6, 4), torch.tensor([6, 4, 2]), batch_first=True)
    assert net(packed, torch.zeros(2))[0].data.shape == (12, 5)


class Twice(nn.Module):
    """One layer under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(5, 5)
        self.second = self.first

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.first(x))


def test_a_layer_under_two_names() -> None:
    check(Twice(), torch.randn(4, 5), 2)
    net = scn.SCN(Twice(), 2, 3)
    before = list(net.state_dict())
    net(torch.randn(4, 5), torch.zeros(2))
    net(torch.randn(4, 5), torch.zeros(2, 2))
    assert list(net.state_dict()) == before
    plain = net.configure(torch.zeros(2))
    assert plain.first is plain.second


def test_a_forward_of_the_instance_is_respected_and_kept() -> None:
    backbone = nn.Sequential(nn.Linear(5, 4))
    layer = backbone[0]
    layer.forward = types.MethodType(lambda s, x: F.linear(x, s.weight, s.bias) + 100, layer)
    net = scn.SCN(backbone, 2, 3)
    x = torch.randn(4, 5)
    for alpha in (torch.zeros(2), torch.zeros(2, 2), torch.zeros(2)):
        assert net(x, alpha).mean() > 90


class Pair(NamedTuple):
    logits: Tensor
    features: Tensor


@dataclass
class Record:
    logits: Tensor


class Returning(nn.Module):
    """A unit that returns whatever it is told to."""

    def __init__(self, wrap: Any) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 4)
        self.scale = nn.Parameter(torch.ones(4))
        self.wrap = wrap

    def forward(self, x: Tensor) -> Any:
        return self.wrap(self.layer(x) * self.scale)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda y: (y, [y + 1]),
        lambda y: {"logits": y, "more": (y,)},
        lambda y: OrderedDict(logits=y),
        lambda y: Pair(y, y * 2),
        lambda y: (y, None, 3, "name"),
    ],
)
def test_nested_results_of_a_unit_are_joined(wrap: Any) -> None:
    net = scn.SCN(Returning(wrap), 2, 3)
    x, alpha = torch.randn(4, 5), torch.randn(2, 2)
    together = net(x, alpha)
    alone = net(x[2:], alpha[1])
    assert type(together) is type(alone)
    mine = torch.utils._pytree.tree_leaves(together)
    theirs = torch.utils._pytree.tree_leaves(alone)
    for a, b in zip(mine, theirs, strict=True):
        if isinstance(a, Tensor):
            torch.testing.assert_close(a[2:], b)
        else:
            assert a == b


def test_configuring_into_a_network_with_a_layer_too_many() -> None:
    net = scn.SCN(nn.Sequential(nn.Linear(5, 5)), 2, 3)
    plain = net.configure(torch.zeros(2))
    plain.add_module("1", nn.Linear(5, 5))
    with pytest.raises(ValueError, match=r"differs in 1\.bias, 1\.weight"):
        net.configure(torch.ones(2), into=plain)


@pytest.mark.parametrize("wrap", [Record, lambda y: (y, float(y.detach().mean())), lambda y: (y, {1})])
def test_results_that_cannot_be_joined_are_a_clear_error(wrap: Any) -> None:
    net = scn.SCN(Returning(wrap), 2, 3)
    net(torch.randn(4, 5), torch.zeros(2))
    with pytest.raises(ValueError, match="cannot be joined over several alpha"):
        net(torch.randn(4, 5), torch.randn(2, 2))


def test_the_first_call_leaves_no_second_trace() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.encoder = nn.BatchNorm1d(5), nn.Linear(5, 4)

        def forward(self, x: Tensor) -> Tensor:
            return F.linear(self.encoder(self.norm(x)), self.encoder.weight.t())

    net = scn.SCN(Tied(), 2, 3, configurable="encoder.*")
    state = torch.get_rng_state()
    net(torch.randn(8, 5, generator=torch.Generator().manual_seed(0)), torch.randn(2, 2).fill_(1))
    assert int(net.backbone.get_buffer("norm.num_batches_tracked")) == 1
    assert net.training
    assert net.backbone.get_submodule("norm").training
    torch.set_rng_state(state)


def test_a_norm_with_a_forward_of_its_own_is_refused_for_several_alpha_in_training() -> None:
    class Clamped(nn.BatchNorm1d):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x).clamp(-1, 1)

    net = scn.SCN(nn.Sequential(nn.Linear(5, 4), Clamped(4)), 2, 3)
    net(torch.randn(8, 5), torch.zeros(2))
    with pytest.raises(ValueError, match="Clamped is a BatchNorm with a forward of its own"):
        net(torch.randn(8, 5), torch.zeros(2, 2))


def test_what_cannot_train_with_several_alpha_says_so() -> None:
    class Unit(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.scale = nn.BatchNorm1d(5), nn.Parameter(torch.ones(5))

        def forward(self, x: Tensor) -> Tensor:
            y = self.norm(x) * self.scale
            return y * 2 if y.sum() > 0 else y

    net = scn.SCN(Unit(), 2, 3)
    with pytest.raises(ValueError, match="train with one alpha per batch"):
        net(torch.randn(8, 5), torch.zeros(2, 2))
    net.eval()(torch.randn(8, 5), torch.zeros(2, 2))


@pytest.mark.parametrize("layer", [nn.Embedding(5, 3, sparse=True), nn.Embedding(5, 3, max_norm=1.0)])
def test_embeddings_that_need_weights_in_place_are_refused(layer: nn.Module) -> None:
    with pytest.raises(ValueError, match="sparse gradients or max_norm"):
        scn.SCN(nn.Sequential(layer), 2, 3)


@pytest.mark.parametrize("wrong", [None, nn.Linear, "mlp"])
def test_a_backbone_that_is_no_module(wrong: Any) -> None:
    with pytest.raises(TypeError, match="the backbone must be a torch module"):
        scn.SCN(wrong, 2, 3)


def test_mixed_precision_with_one_alpha_and_a_norm() -> None:
    net = scn.SCN(nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4)), 2, 3)
    for alpha in (torch.zeros(2), torch.zeros(2, 2)):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            net(torch.randn(8, 5), alpha).sum().backward()


def test_a_network_can_be_pickled_and_used_in_another_thread() -> None:
    net = scn.SCN(nn.Linear(5, 4), 2, 3)
    net.configure(torch.zeros(2))
    again = pickle.loads(pickle.dumps(net))
    x, alpha = torch.randn(4, 5), torch.randn(2, 2)
    results: list[Tensor] = []
    thread = threading.Thread(target=lambda: results.append(again(x, alpha)))
    thread.start()
    thread.join()
    torch.testing.assert_close(results[0], net(x, alpha))


def test_tied_shared_parameters_are_saved_once_and_tied_again(tmp_path: Path) -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second, self.head = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2)
            self.second.weight = self.first.weight

        def forward(self, x: Tensor) -> Tensor:
            return self.head(self.second(self.first(x)))

    net = scn.SCN(Tied(), 2, 3, configurable="head.*")
    net.save(tmp_path / "net.safetensors")
    again = scn.SCN.load(tmp_path / "net.safetensors", backbone=Tied())
    x = torch.randn(3, 4)
    assert torch.equal(again(x, torch.zeros(2)), net(x, torch.zeros(2)))
    tied = [again.backbone.get_parameter(f"{name}.weight") for name in ("first", "second")]
    assert tied[0] is tied[1]


def test_a_saved_network_fits_a_pattern_with_other_order_and_frozen_layers(tmp_path: Path) -> None:
    class Ordered(nn.Module):
        def __init__(self, turned: bool) -> None:
            super().__init__()
            for name in ("b", "a") if turned else ("a", "b"):
                self.add_module(name, nn.Linear(4, 4))

        def forward(self, x: Tensor) -> Tensor:
            return self.get_submodule("b")(self.get_submodule("a")(x).relu())

    net = scn.SCN(Ordered(False), 2, 3)
    net.save(tmp_path / "net.safetensors")
    state = torch.get_rng_state()
    pattern = Ordered(True).requires_grad_(False)
    torch.set_rng_state(state)
    again = scn.SCN.load(tmp_path / "net.safetensors", backbone=pattern)
    assert torch.equal(torch.get_rng_state(), state)
    x = torch.randn(3, 4)
    torch.testing.assert_close(again(x, torch.ones(2)), net(x, torch.ones(2)))
    assert not any(p.requires_grad for p in pattern.parameters())


def test_configuring_into_a_network_with_a_replaced_layer() -> None:
    net = scn.SCN(nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 3)), 2, 3)
    plain = net.configure(torch.zeros(2))
    plain.add_module("2", nn.Linear(6, 3))
    net.configure(torch.ones(2), into=plain)
    x = torch.randn(4, 5)
    torch.testing.assert_close(plain(x), net(x, torch.ones(2)))


@pytest.mark.parametrize(
    "other", [nn.Linear(3, 4, bias=False), nn.Linear(4, 3), nn.Sequential(nn.Linear(4, 3, bias=False))]
)
def test_configuring_into_a_network_of_another_shape(other: nn.Module) -> None:
    with pytest.raises(ValueError, match="differs in"):
        scn.SCN(nn.Linear(4, 3, bias=False), 2, 3).configure(torch.zeros(2), into=other)


def test_frozen_bases_get_no_gradient_and_stop_second_order_optimisers_too() -> None:
    net = scn.SCN(nn.Linear(5, 4), 2, 3)
    net.freeze([0, 1])
    start = net.theta.detach().clone()
    optimiser = torch.optim.LBFGS(net.parameters(), max_iter=5)
    x, y = torch.randn(16, 5), torch.randn(16, 4)

    def closure() -> Tensor:
        optimiser.zero_grad()
        loss = (net(x, torch.zeros(2)) - y).square().mean()
        loss.backward()
        return loss

    first = float(closure().detach())
    assert net.theta.grad is not None
    assert (net.theta.grad[:2] == 0).all()
    optimiser.step(closure)
    assert float(closure().detach()) < first
    assert torch.equal(net.theta[:2], start[:2])


@pytest.mark.parametrize("wrong", [[True, False], [0, 99], ["0"], [1.0]])
def test_freezing_takes_whole_numbers_and_all_or_nothing(wrong: list[Any]) -> None:
    net = scn.SCN(nn.Linear(5, 4), 2, 3)
    with pytest.raises(IndexError, match="there is no base model"):
        net.freeze(wrong)
    assert not net.subspace.frozen.any()


def test_recalibrating_counts_samples_and_not_batches() -> None:
    net = scn.SCN(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)), 2, 3)
    x = torch.randn(10, 3)
    fresh = net.recalibrate([x[:8], x[8:]], torch.zeros(2))
    expected = net.configure(torch.zeros(2)).get_submodule("0")(x).mean(0)
    torch.testing.assert_close(fresh.get_buffer("1.running_mean"), expected)
