"""Several alpha in one call: each new kind of call is proven, and no kind is taken for another."""

from __future__ import annotations

import copy
import enum
import itertools
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import scn
from scn.core import grouped, proof

X = torch.randn(8, 5, generator=torch.Generator().manual_seed(0))


class Ways(nn.Module):
    """One layer, and ways through it of which some take two views of the batch in a row."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 4)

    def one(self, x: Tensor) -> Tensor:
        return self.layer(x)

    def two(self, x: Tensor) -> Tensor:
        first, second = self.layer(torch.cat([x, x.flip(1)])).chunk(2)
        return first * second

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return self.two(x) if self.takes_two(*args, **kwargs) else self.one(x)

    def takes_two(self, *args: Any, **kwargs: Any) -> bool:
        raise NotImplementedError


class Named(Ways):
    def takes_two(self, plain: bool = False, pair: bool = False) -> bool:
        return pair


class Numbered(Ways):
    def takes_two(self, way: Any = 0) -> bool:
        return way == 1 and type(way) is int


class Called(Ways):
    def takes_two(self, way: Any = "one") -> bool:
        return str(getattr(way, "value", way)) == "two"


class Switched(Ways):
    def takes_two(self, way: Tensor) -> bool:
        return bool(way.sum() == 1)


class Tabled(Ways):
    def takes_two(self, options: dict[str, bool]) -> bool:
        return options.get("pair", False) or next(iter(options)) == "last"


class Nested(Ways):
    def takes_two(self, parts: Any) -> bool:
        return isinstance(parts, list)


class Recording(Ways):
    def takes_two(self) -> bool:
        return torch.is_grad_enabled()


class Way(enum.Enum):
    ONE = "one"
    TWO = "two"


class Setting:
    """An object that may change between two calls."""

    def __init__(self, value: str) -> None:
        self.value = value


def build(backbone: nn.Module) -> scn.SCN:
    return scn.SCN(backbone, 2, 3, init="pretrained", noise=1.0)


def check(net: scn.SCN, x: Tensor, rows: int, *args: Any, **kwargs: Any) -> None:
    """Every group gets what it gets alone."""
    alpha = torch.randn(rows, 2) * 3
    together = net(x, alpha, *args, **kwargs)
    alone = torch.cat([net(part, a, *args, **kwargs) for part, a in zip(x.chunk(rows), alpha, strict=True)])
    torch.testing.assert_close(together, alone, atol=1e-4, rtol=1e-4)


CALLS: list[tuple[type[Ways], list[tuple[tuple[Any, ...], dict[str, Any]]]]] = [
    (Named, [((), {"plain": True}), ((), {"pair": True}), ((), {}), ((False, True), {}), ((True,), {})]),
    (Numbered, [((0,), {}), ((1,), {}), ((1.0,), {}), ((True,), {}), ((), {})]),
    (Called, [(("one",), {}), (("two",), {}), ((Way.ONE,), {}), ((Way.TWO,), {}), ((None,), {})]),
    (Tabled, [(({"pair": False, "last": False},), {}), (({"last": False, "pair": False},), {})]),
    (Nested, [(((0, 1),), {}), (([0, 1],), {})]),
    (Switched, [((torch.tensor(way),), {}) for way in (False, True, 0, 1, 0.5, [0, 0, 1], [0, 0, 2])]),
]


@pytest.mark.parametrize(("kind", "calls"), CALLS, ids=[kind.__name__ for kind, _ in CALLS])
def test_no_call_is_taken_for_another_in_any_order(kind: type[Ways], calls: list[Any]) -> None:
    for order in itertools.permutations(calls, 2):
        net = build(kind())
        for args, kwargs in order * 2:
            check(net, X, 4, *args, **kwargs)


def test_an_object_that_changed_is_seen() -> None:
    net, setting = build(Called()), Setting("one")
    check(net, X, 4, setting)
    setting.value = "two"
    check(net, X, 4, setting)


def test_an_attribute_of_the_backbone_that_changed_is_seen() -> None:
    class Kept(Ways):
        way = "one"

        def takes_two(self) -> bool:
            return self.way == "two"

    net = build(Kept())
    for way in ("one", "two", "one"):
        vars(net.backbone)["way"] = way
        check(net, X, 4)


@pytest.mark.parametrize("order", [(True, False), (False, True)])
def test_inference_mode_is_told_from_no_gradients(order: tuple[bool, bool]) -> None:
    class Inferring(Ways):
        def takes_two(self) -> bool:
            return torch.is_inference_mode_enabled()

    net = build(Inferring())
    for on in order * 2:
        with torch.no_grad(), torch.inference_mode(on):
            check(net, X, 4)


def test_with_and_without_gradients() -> None:
    for order in ((True, False), (False, True)):
        net = build(Recording())
        for recording in order * 2:
            with torch.set_grad_enabled(recording):
                check(net, X, 4)


class Windows(nn.Module):
    """Windows of a sequence in a row: only sequences of one window keep the order of the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 4)

    def forward(self, x: Tensor) -> Tensor:
        windows = x.unfold(1, 3, 3).transpose(0, 1)
        return self.layer(windows.flatten(0, 1)).unflatten(0, windows.shape[:2]).sum(0)


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one with each proof."""
    found: list[int] = []
    started = proof.Trial.__init__

    def count(*args: Any) -> None:
        found.append(1)
        started(*args)

    monkeypatch.setattr(proof.Trial, "__init__", count)
    return found


def test_a_new_length_of_a_sequence_may_go_another_way(proofs: list[int]) -> None:
    net = build(Windows())
    for length in (3, 6, 4, 5, *range(7, 37)):
        check(net, torch.randn(8, length), 4)
    assert len(proofs) <= grouped.PROVEN_AT_ONCE


class Scaled(nn.Module):
    """Ordinary, with an argument that says nothing about the way."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 4)

    def forward(self, x: Tensor, scale: Any = 1.0) -> Tensor:
        scale = scale[1]["scale"] if isinstance(scale, tuple) else scale
        return self.layer(x) * float(getattr(scale, "value", scale))


@pytest.mark.parametrize("changing", [float, int, Setting, lambda i: (1, {"scale": i})])
def test_an_argument_that_is_new_at_each_call_is_not_proven_each_time(
    changing: Any, proofs: list[int]
) -> None:
    net = build(Scaled())
    for i in range(40):
        check(net, X, 4, changing(i))
    assert len(proofs) <= grouped.PROVEN_AT_ONCE


class Normed(Scaled):
    """The same with statistics, which the whole batch must share."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x: Tensor, scale: Any = 1.0) -> Tensor:
        return self.norm(super().forward(x)) * scale


class Recurrent(Normed):
    """The same with a layer that vmap has no rule for."""

    def __init__(self) -> None:
        super().__init__()
        self.recurrent = nn.GRU(5, 5, batch_first=True)

    def forward(self, x: Tensor, scale: Any = 1.0) -> Tensor:
        return super().forward(self.recurrent(x.unsqueeze(1))[0][:, -1], scale)


@pytest.mark.parametrize(("kind", "bounded"), [(Normed, True), (Recurrent, False)])
def test_statistics_are_those_of_the_batch_in_every_kind_of_call(
    kind: type[nn.Module], bounded: bool, proofs: list[int]
) -> None:
    one = build(kind())
    several = copy.deepcopy(one)
    alpha = torch.randn(2)
    for i in range(1, 25):
        expected = one(X, alpha, float(i))
        torch.testing.assert_close(several(X, alpha.expand(4, 2), float(i)), expected, atol=1e-4, rtol=1e-4)
    for name, value in one.backbone.named_buffers():
        torch.testing.assert_close(several.backbone.get_buffer(name), value)
    assert (len(proofs) <= grouped.PROVEN_AT_ONCE) == bounded


def test_many_lengths_cost_few_proofs_and_come_to_be_fast(proofs: list[int]) -> None:
    net = build(nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3)))
    lengths = range(1, 31)
    for length in lengths:
        check(net, torch.randn(8, length, 5), 4)
    assert len(proofs) <= grouped.PROVEN_AT_ONCE
    for _ in range(grouped.GROUPS_A_PROOF):
        for length in lengths:
            net(torch.randn(8, length, 5), torch.randn(4, 2))
    kinds = [plan for plan in net._findings.proven.values() if isinstance(plan, grouped.Plan)]
    assert len(kinds) == len(lengths)
    assert not any(plan.units for plan in kinds)


def test_what_is_remembered_is_bounded() -> None:
    net = build(Scaled())
    for i in range(3 * grouped.KEPT):
        net(X[:2], torch.zeros(2, 2), i)
    assert len(net._findings.proven) <= grouped.KEPT
    check(net, X, 4, 2.0)


class Gained(nn.Module):
    """Two arguments that look alike: one for all samples, one with a row for each."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 8)

    def forward(self, x: Tensor, gains: Tensor, offsets: Tensor | None = None) -> Tensor:
        out = self.layer(x) * gains
        return out if offsets is None else out + offsets


class OwnGained(Gained):
    """The same as a unit."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(8))

    def forward(self, x: Tensor, gains: Tensor, offsets: Tensor | None = None) -> Tensor:
        return super().forward(x, gains * self.scale, offsets)


@pytest.mark.parametrize("kind", [Gained, OwnGained])
@pytest.mark.parametrize("rows", [2, 4, 8])
@pytest.mark.parametrize("alike", [True, False])
def test_arguments_with_as_many_rows_as_samples_by_chance(
    kind: type[nn.Module], rows: int, alike: bool
) -> None:
    net = build(kind())
    alpha, offsets = torch.randn(rows, 2) * 3, torch.randn(8, 8)
    gains = [torch.ones(8)] if alike else []  # values that tell nothing must not mislead later calls
    for gain in (*gains, torch.rand(8) + 0.5, torch.rand(8) + 0.5):
        parts = zip(X.chunk(rows), alpha, strict=True)
        alone = torch.cat([net.configure(a)(part, gain) for part, a in parts])
        torch.testing.assert_close(net(X, alpha, gain), alone, atol=1e-4, rtol=1e-4)
        three = zip(X.chunk(rows), alpha, offsets.chunk(rows), strict=True)
        both = torch.cat([net.configure(a)(part, gain, more) for part, a, more in three])
        torch.testing.assert_close(net(X, alpha, gain, offsets=offsets), both, atol=1e-4, rtol=1e-4)


def test_arguments_that_the_backbone_cannot_take_are_its_own_error() -> None:
    net = build(nn.Sequential(nn.Linear(5, 4)))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        net(torch.randn(8, 6), torch.zeros(4, 2))
    check(net, X, 4)
