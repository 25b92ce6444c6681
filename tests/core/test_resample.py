"""More or fewer places, and base models that nobody uses."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import scn
from scn.core.errors import ScnError
from scn.core.maps import Experts, Learned, Nodes
from scn.core.space import Categories, Circle, Line, Space, Turns, draw, size_of

X = torch.randn(6, 1, 4, 4, generator=torch.Generator().manual_seed(0))
LINE, CIRCLE = (Line(-2, 3),), (Circle(),)


def network(space: Space, dims: int, name: str = "nodes") -> scn.SCN:
    backbone = scn.backbones.MLP((1, 4, 4), 3, width=6, depth=2)
    return scn.SCN(backbone, size_of(space), dims, map=name, space=space).eval()


def outputs(net: scn.SCN, alpha: Tensor) -> Tensor:
    return torch.stack([net(X, one) for one in alpha]).detach()


@pytest.mark.parametrize(
    ("space", "dims", "more"),
    [
        (CIRCLE, 4, 8),
        (CIRCLE, 3, 9),
        (CIRCLE, 1, 5),
        (LINE, 2, 3),
        (LINE, 5, 9),
        (LINE, 9, 9),
        ((Line(), Line(0, 1)), 9, 25),
        ((Circle(), Line()), 9, 30),  # 6 around, 5 along
    ],
)
def test_places_between_those_that_are_there_change_nothing(space: Space, dims: int, more: int) -> None:
    net, alpha = network(space, dims), draw(space, 30)
    before, theta = outputs(net, alpha), net.theta
    net.resample(more)
    assert net.dims == net.map.dims == more
    assert net.theta is not theta
    torch.testing.assert_close(outputs(net, alpha), before, atol=1e-5, rtol=1e-5)


def test_what_was_added_is_taken_away_again() -> None:
    for space, dims, more in ((CIRCLE, 4, 8), (LINE, 3, 5)):
        net = network(space, dims)
        before = net.theta.detach().clone()
        net.resample(more)
        net.resample(dims)
        torch.testing.assert_close(net.theta.detach(), before, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", ["nodes", "experts"])
@pytest.mark.parametrize("space", [CIRCLE, LINE, (Turns(),)])
@pytest.mark.parametrize("dims", [1, 3, 7])
def test_any_number_of_places_is_the_network_that_was_there(name: str, space: Space, dims: int) -> None:
    net = network(space, 4, name)
    at = (Nodes if name == "nodes" else Experts)(space, dims).node_alphas()
    before = outputs(net, at)
    net.resample(dims)
    torch.testing.assert_close(outputs(net, at), before, atol=1e-3, rtol=1e-3)


def test_a_resampled_network_is_trained_saved_and_configured(tmp_path: Path) -> None:
    net = network(CIRCLE, 4)
    plain = net.configure([1.0, 0.0])
    net.freeze([0])
    net.resample(8)
    assert not net.subspace.frozen.any()  # other base models
    alpha = draw(CIRCLE, 3)
    net(X, alpha).sum().backward()
    assert net.theta.grad is not None
    net.save(tmp_path / "net.safetensors")
    assert torch.equal(scn.SCN.load(tmp_path / "net.safetensors")(X, alpha), net(X, alpha))
    torch.testing.assert_close(net.configure(alpha[0], into=plain)(X), net(X, alpha[0]))


def test_what_has_no_places_cannot_be_resampled() -> None:
    for name in ("learned", "fourier"):
        with pytest.raises(ScnError, match="resample is for maps with places, such as nodes"):
            network(CIRCLE, 4, name).resample(8)
    with pytest.raises(ScnError, match="resample is for maps with places"):
        network((Categories(4),), 4, "categories").resample(8)
    with pytest.raises(ScnError, match="dims must be a whole number of at least 1, but is 0"):
        network(CIRCLE, 4).resample(0)
    with pytest.raises(ScnError, match=r"5 base models do not fit a grid .* dims=4 or 6"):
        network((Line(), Line()), 4).resample(5)
    backbone = nn.Linear(2, 2)
    net = scn.SCN(backbone, 1, 3, map=Nodes(LINE, 3, positions=[0, 1, 2]))
    with pytest.raises(ScnError, match="put by hand cannot be resampled"):
        net.resample(6)
    assert net.dims == 3


def arc(low: float, high: float, count: int = 20) -> Tensor:
    """Angles as parts of a turn."""
    angle = 2 * math.pi * torch.linspace(low, high, count)
    return torch.stack([angle.cos(), angle.sin()], dim=1)


@pytest.mark.parametrize(
    ("low", "high", "unused"),
    [
        (0.01, 0.24, [3, 4, 5, 6, 7]),
        (-0.1, 0.1, [2, 3, 4, 5, 6]),  # over the seam
        (0.26, 0.37, [0, 1, 4, 5, 6, 7]),
        (0.0, 1.0, []),
    ],
)
def test_base_models_that_no_alpha_uses_are_left_out(low: float, high: float, unused: list[int]) -> None:
    net, alpha = network(CIRCLE, 8), arc(low, high)
    before = outputs(net, alpha)
    assert net.prune(alpha) == unused
    assert net.dims == net.map.dims == 8 - len(unused)
    torch.testing.assert_close(outputs(net, alpha), before, atol=1e-5, rtol=0)
    assert net.prune(alpha) == []


def test_on_a_line_too_and_for_experts_and_a_single_alpha(tmp_path: Path) -> None:
    net, alpha = network(LINE, 6), torch.linspace(0.1, 0.9, 9).unsqueeze(1)
    before = outputs(net, alpha)
    assert net.prune(alpha) == [0, 1, 4, 5]
    torch.testing.assert_close(outputs(net, alpha), before, atol=1e-5, rtol=0)
    net.save(tmp_path / "net.safetensors")
    torch.testing.assert_close(
        outputs(scn.SCN.load(tmp_path / "net.safetensors").eval(), alpha), outputs(net, alpha)
    )
    expert = network(LINE, 5, "experts")
    before = outputs(expert, torch.tensor([[0.6]]))
    assert expert.prune([0.6]) == [0, 1, 3, 4]
    torch.testing.assert_close(outputs(expert, torch.tensor([[0.6]])), before)


@pytest.mark.parametrize("name", ["learned", "learned-from-nodes"])
def test_a_dead_base_model_of_a_learned_map_is_left_out(name: str) -> None:
    net, alpha = network(CIRCLE, 5, name), arc(0, 1)
    assert isinstance(net.map, Learned)
    with torch.no_grad():
        net.map.output.bias[[1, 3]] = -40.0
    before = outputs(net, alpha)
    assert net.prune(alpha) == [1, 3]
    torch.testing.assert_close(outputs(net, alpha), before, atol=1e-5, rtol=0)


def test_frozen_base_models_stay_frozen() -> None:
    net = network(CIRCLE, 8)
    net.freeze([1, 5])
    assert net.prune(arc(0.01, 0.24)) == [3, 4, 5, 6, 7]
    assert net.subspace.frozen.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("name", "space", "dims"),
    [
        ("nodes", (Line(), Line()), 9),
        ("experts", (Line(), Line()), 9),
        ("nodes", (Turns(),), 24),
        ("fourier", CIRCLE, 4),
        ("categories", (Categories(4),), 4),
    ],
)
def test_what_a_map_cannot_do_without_stays(name: str, space: Space, dims: int) -> None:
    net = network(space, dims, name)
    alpha = net.map.node_alphas()[:1] if isinstance(net.map, Nodes) else draw(space, 1)
    before = outputs(net, alpha)
    assert net.prune(alpha) == []
    assert torch.equal(outputs(net, alpha), before)


def test_pruning_needs_alpha() -> None:
    with pytest.raises(ScnError, match="prune needs the alpha that the network is used for"):
        network(CIRCLE, 4).prune(torch.zeros(0, 2))
    with pytest.raises(ScnError, match="not cosine and sine"):
        network(CIRCLE, 4).prune([[0.1, 0.1]])
