"""Maps from alpha to beta: what each promises of its rows, and what an SCN with it does."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

import scn
from scn import runs
from scn.core import maps, storage
from scn.core.errors import ScnError, WrongType
from scn.core.maps import CategoryTable, Experts, Fourier, Learned, Map, Nodes
from scn.core.maps.base import SparseMap
from scn.core.maps.places import fits_grid, spread_turns
from scn.core.space import Categories, Circle, Line, Space, Turns, draw, matrix_of, size_of
from small_backbones import CASES, Case

OLD = Path(__file__).parents[1] / "runs" / "old"
LINE, CIRCLE, TURNS, PLANE = (Line(-2, 3),), (Circle(),), (Turns(),), (Line(), Line(0, 5))
TORUS = (Line(), Circle())
PLACED: list[tuple[Space, int]] = [
    *((LINE, dims) for dims in (1, 2, 3, 8)),
    *((CIRCLE, dims) for dims in (1, 2, 3, 8, 64)),
    *((TURNS, dims) for dims in (1, 2, 4, 5, 24)),
    *((PLANE, dims) for dims in (1, 4, 6, 9)),
    *((TORUS, dims) for dims in (4, 8)),
]
NAMES = ["nodes", "experts", "fourier", "learned"]
CASES_OF_MAPS = [
    (name, space, dims) for name in NAMES for space, dims in PLACED if name != "fourier" or space != TURNS
]
CASES_OF_MAPS += [("generated", space, 5) for space in (LINE, CIRCLE, TURNS, PLANE)]
CASES_OF_MAPS += [("linear", LINE, 2), ("linear", CIRCLE, 3), ("linear", TURNS, 10), ("linear", TORUS, 4)]


def named(value: object) -> str:
    if isinstance(value, tuple):
        return "x".join(type(axis).__name__ for axis in value)
    return str(value)


each_map = pytest.mark.parametrize(("name", "space", "dims"), CASES_OF_MAPS, ids=named)
each_place = pytest.mark.parametrize(("space", "dims"), PLACED, ids=named)


def around(count: int, shift: float = 0.0) -> Tensor:
    """(count, 2) on a circle."""
    angle = 2 * math.pi * (torch.arange(count) / count + shift)
    return torch.stack([angle.cos(), angle.sin()], dim=1)


def mlp() -> nn.Module:
    return scn.backbones.MLP((1, 4, 4), 3, width=6, depth=2)


def network(name: str | Map = "nodes", dims: int = 8, space: Space = CIRCLE) -> scn.SCN:
    return scn.SCN(mlp(), size_of(space), dims, map=name, space=space)


# What a row of beta is


@each_map
def test_every_row_sums_to_one(name: str, space: Space, dims: int) -> None:
    mapped = maps.get(name)(space, dims)
    alpha = draw(space, 40)
    beta = mapped(alpha)
    assert beta.shape == (40, dims)
    torch.testing.assert_close(beta.sum(dim=-1), torch.ones(40), atol=1e-5, rtol=0)
    if name not in ("fourier", "linear", "generated"):
        assert beta.min() >= 0
    assert mapped(alpha[:0]).shape == (0, dims)
    torch.testing.assert_close(mapped(alpha.view(5, 8, -1)), beta.view(5, 8, -1), atol=1e-5, rtol=0)


@each_place
@pytest.mark.parametrize("kind", [Nodes, Experts])
def test_dense_sparse_and_numbers_say_the_same(kind: type[Nodes], space: Space, dims: int) -> None:
    mapped = kind(space, dims)
    alpha = draw(space, 40)
    indices, coefficients = mapped.sparse(alpha)
    assert indices.shape == coefficients.shape == (40, mapped.entries)
    beta = mapped(alpha)
    assert int((beta != 0).sum(dim=1).max()) <= mapped.entries
    for row, one in zip(alpha, beta, strict=True):
        picked, shares = mapped.pick(row)
        again = torch.zeros(dims).index_add(0, torch.tensor(picked), torch.tensor(shares))
        torch.testing.assert_close(again, one, atol=1e-5, rtol=0)
        torch.testing.assert_close(mapped(row), one, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("kind", "space", "dims", "entries"),
    [
        (Nodes, LINE, 64, 2),
        (Nodes, CIRCLE, 64, 2),
        (Nodes, CIRCLE, 1, 1),
        (Nodes, PLANE, 64, 4),
        (Nodes, TURNS, 64, 4),
        (Nodes, TURNS, 3, 3),
        (Experts, CIRCLE, 64, 1),
        (Experts, PLANE, 64, 1),
        (Experts, TURNS, 64, 1),
    ],
)
def test_few_base_models_are_mixed_however_many_there_are(
    kind: type[Nodes], space: Space, dims: int, entries: int
) -> None:
    mapped = kind(space, dims)
    assert mapped.entries == entries
    assert int((mapped(draw(space, 100)) != 0).sum(dim=1).max()) == entries


@each_place
@pytest.mark.parametrize("kind", [Nodes, Experts])
def test_at_a_node_its_base_model_is_alone(kind: type[Nodes], space: Space, dims: int) -> None:
    mapped = kind(space, dims)
    found = mapped(mapped.node_alphas())
    torch.testing.assert_close(found, torch.eye(dims), atol=1e-4, rtol=0)


def test_a_fourier_series_meets_every_base_model_at_its_node() -> None:
    for dims in (2, 3, 8):
        torch.testing.assert_close(Fourier(CIRCLE, dims)(around(dims)), torch.eye(dims), atol=1e-5, rtol=0)
        centres = -2 + 5 * (torch.arange(dims) + 0.5) / dims
        found = Fourier(LINE, dims)(centres.unsqueeze(1))
        torch.testing.assert_close(found, torch.eye(dims), atol=1e-5, rtol=0)


def test_no_base_model_is_dead() -> None:
    for space, dims in PLACED:
        for kind in (Nodes, Experts):
            share = kind(space, dims)(draw(space, 4000)).mean(dim=0)
            assert share.min() > 0.1 / dims


@given(st.integers(1, 70), st.floats(-0.49, 1.49))
def test_beta_is_continuous_around_a_circle(dims: int, turn: float) -> None:
    mapped, step = Nodes(CIRCLE, dims), 1e-3
    here, there = mapped(around(1, turn)), mapped(around(1, turn + step))
    assert (here - there).abs().max() <= dims * step + 1e-4


@given(st.integers(1, 70), st.floats(0, 1), st.floats(1, 1e3), st.floats(-1e3, 1e3))
def test_beta_is_continuous_along_a_line(dims: int, share: float, length: float, low: float) -> None:
    line = Line(low, low + length)
    mapped, step = Nodes((line,), dims).double(), 1e-3 * length
    value = torch.tensor([low + share * length], dtype=torch.float64)
    change = (mapped(value) - mapped(value + step)).abs().max()
    assert change <= dims * 1e-3 + 1e-2  # positions are as exact as float32


@settings(max_examples=25)
@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(lambda q: sum(v * v for v in q) > 1e-1))
def test_beta_is_continuous_among_turns(numbers: list[float]) -> None:
    mapped = Nodes(TURNS, 24)
    start = torch.tensor(numbers)
    change = torch.tensor([0.3, -0.5, 0.2, 0.4])
    path = torch.stack([matrix_of(start + 0.002 * i * change).flatten() for i in range(20)])
    assert mapped(path).diff(dim=0).abs().max() < 0.1


def test_a_circle_has_no_seam() -> None:
    for dims in (2, 3, 8):
        for kind in (Nodes, Fourier):
            beta = kind(CIRCLE, dims)(torch.cat([around(1, -1e-6), around(1, 0.0), around(1, 1e-6)]))
            torch.testing.assert_close(beta[0], beta[2], atol=1e-3, rtol=0)
    smallest = torch.tensor([1.0, -1e-12])  # a turn that rounds to a whole one
    picked, shares = Nodes(CIRCLE, 8).pick(smallest)
    assert shares[picked.index(0)] == pytest.approx(1)
    assert Nodes(CIRCLE, 8)(smallest)[0] == pytest.approx(1)


def test_angles_that_name_one_turn_in_space_have_one_beta() -> None:
    transform, mapped = scn.transforms.get("rotation-3d"), Nodes(TURNS, 24)
    one, other = torch.tensor([[10.0, 20.0, 30.0], [-170.0, 160.0, -150.0]])
    torch.testing.assert_close(mapped(transform.encode(one)), mapped(transform.encode(other)))


def test_turns_are_spread_evenly_and_always_the_same() -> None:
    turns = spread_turns(24)
    assert torch.equal(turns, spread_turns(24))
    cosine = (torch.einsum("aij,bij->ab", turns, turns) - 1) / 2
    nearest = cosine.fill_diagonal_(-1).amax(dim=1).clamp(-1, 1).arccos().rad2deg()
    assert nearest.min() > 50  # 60 degrees at best, of the 24 turns of a cube 90 with gaps
    assert nearest.max() - nearest.min() < 15


def test_places_that_would_be_one_are_refused() -> None:
    with pytest.raises(ScnError, match="64 places from 1e\\+06 to 1e\\+06 are too near each other"):
        Nodes((Line(1e6, 1e6 + 1),), 64)


@each_place
def test_the_gradient_of_alpha_is_that_of_small_steps(space: Space, dims: int) -> None:
    """Search follows it; an expert's is zero, but there."""
    mapped = Nodes(space, dims).double()
    alpha = draw(space, 3, torch.Generator().manual_seed(1)).double().requires_grad_()
    weight = torch.randn(dims, dtype=torch.float64)
    (found,) = torch.autograd.grad((mapped(alpha) @ weight).sum(), alpha)
    step, change = 1e-6, torch.randn_like(alpha)
    with torch.no_grad():
        apart = (mapped(alpha + step * change) - mapped(alpha - step * change)) @ weight / (2 * step)
    torch.testing.assert_close((found * change).sum(dim=-1), apart, atol=1e-4, rtol=1e-3)
    expert = Experts(space, dims).double()
    (none,) = torch.autograd.grad((expert(alpha) @ weight).sum(), alpha)
    assert none.eq(0).all()


def test_the_nearest_expert_serves_also_where_positions_are_uneven() -> None:
    mapped = Experts((Line(0, 10),), 3, positions=[1.0, 2.0, 9.0])
    alpha = torch.tensor([[0.0], [1.4], [1.6], [5.4], [5.6], [10.0]])
    assert mapped(alpha).argmax(dim=1).tolist() == [0, 0, 1, 1, 2, 2]
    assert [mapped.pick(a)[0] for a in alpha] == [[0], [0], [1], [1], [2], [2]]


@pytest.mark.parametrize("place", [0.05, 0.1, 0.2, 0.5, 0.99])
def test_nodes_stand_where_they_are_put(place: float) -> None:
    mapped = Nodes(CIRCLE, 3, positions=[0.1, 0.2, 0.7])
    nodes = [0.1, 0.2, 0.7, 1.1]
    after = next(i for i, node in enumerate(nodes) if node > (place if place >= 0.1 else place + 1))
    share = ((place - nodes[after - 1]) % 1) / (nodes[after] - nodes[after - 1])
    expected = torch.zeros(3)
    expected[after - 1], expected[after % 3] = 1 - share, share
    torch.testing.assert_close(mapped(around(1, place))[0], expected, atol=1e-5, rtol=0)


# What is refused


@pytest.mark.parametrize(
    ("space", "positions", "message"),
    [
        (LINE, [0.0, 1.0], "there are 2 positions for 3 base models"),
        (LINE, [], "there are 0 positions for 3"),
        (LINE, [0.0, 0.0, 1.0], r"numbers that rise from each to the next, but are \[0.0, 0.0, 1.0\]"),
        (LINE, [0.0, math.nan, 1.0], "numbers that rise"),
        (LINE, [0.0, 1.0, math.inf], "numbers that rise"),
        (LINE, [0.0, 1.0, 4.0], r"must lie from -2 to 3, but are \[0.0, 1.0, 4.0\]"),
        (CIRCLE, [0.0, 0.5, 1.0], "must differ on the circle, where 1 is 0 again"),
        (CIRCLE, [-0.5, 0.0, 0.2], "must lie from 0 to 1"),
        (TURNS, [0.0, 0.5, 1.0], "for a single line or circle"),
        (PLANE, [0.0, 0.5, 1.0], "for a single line or circle"),
    ],
)
def test_wrong_positions_are_explained(space: Space, positions: list[float], message: str) -> None:
    with pytest.raises(ScnError, match=message):
        Nodes(space, 3, positions=positions)


@pytest.mark.parametrize("name", ["nodes", "experts", "fourier", "learned-from-nodes"])
@pytest.mark.parametrize(
    ("space", "dims", "below", "above"),
    [
        (PLANE, 5, 4, 6),
        (PLANE, 7, 6, 8),
        (PLANE, 2, 1, 4),
        ((Line(),) * 3, 9, 8, 12),
        (PLANE, 4999, 4998, 5000),
    ],
    ids=named,
)
def test_numbers_that_fit_a_grid_are_named(
    name: str, space: Space, dims: int, below: int, above: int
) -> None:
    assert not fits_grid(space, dims)
    assert fits_grid(space, below)
    assert fits_grid(space, above)
    with pytest.raises(
        ScnError, match=f"{dims} base models do not fit .* dims={below} or {above}, or the map learned"
    ):
        maps.get(name)(space, dims)


def test_any_number_of_base_models_fits_one_axis_and_one_always_fits() -> None:
    assert all(fits_grid(CIRCLE, dims) and fits_grid(LINE, dims) for dims in range(1, 70))
    assert fits_grid(PLANE, 1)
    assert Nodes(PLANE, 1)(draw(PLANE, 3)).eq(1).all()


def test_the_longer_side_of_a_grid_is_the_circle() -> None:
    assert Nodes(TORUS, 8).sizes == (2, 4)
    assert Nodes((Circle(), Line()), 8).sizes == (4, 2)


OUTSIDE: list[tuple[Space, tuple[str, ...], list[float], str]] = [
    (LINE, ("nodes", "experts", "fourier"), [3.5], "3.5, which is not -2 to 3"),
    (
        CIRCLE,
        ("nodes", "experts", "fourier"),
        [0.3, 0.2],
        "0.3, 0.2, which is not cosine and sine of one angle",
    ),
    (TORUS, ("nodes", "experts", "fourier"), [0.0, 1.0, 1.0], "1, 1, which is not cosine"),
    (TURNS, ("nodes", "experts"), [1.0] * 9, "1, 1, 1, 1, 1, 1, 1, 1, 1, which is not a rotation matrix"),
    ((Categories(4),), ("categories",), [4.0], "4, which is not one of the categories 0 to 3"),
]


@pytest.mark.parametrize(
    ("name", "space", "wrong", "message"),
    [(name, space, wrong, message) for space, known, wrong, message in OUTSIDE for name in known],
    ids=named,
)
def test_an_alpha_outside_is_refused_or_clamped_by_choice(
    name: str, space: Space, wrong: list[float], message: str
) -> None:
    net, x = network(name, 4, space), torch.randn(4, 1, 4, 4)
    right = draw(space, 1)[0].tolist()
    alpha, several = torch.tensor(wrong), torch.tensor([right, wrong])
    calls = (
        lambda: net(x, alpha),
        lambda: net(x, several),
        lambda: net.beta(several.requires_grad_()),
        lambda: net.configure(alpha),
        lambda: net.bank(several),
    )
    for call in calls:
        with pytest.raises(ScnError, match=f"alpha holds {message}.*encode.*sensor.*clamp"):
            call()
    net.map.outside = "clamp"
    beta = net.beta(several).detach()
    assert beta.isfinite().all()
    torch.testing.assert_close(beta.sum(dim=1), torch.ones(2))
    net(x, alpha), net(x, several), net.configure(alpha), net.bank(several)


def test_clamping_takes_the_nearest_of_the_space(tmp_path: Path) -> None:
    net = network("nodes", 4, LINE)
    net.map.outside = "clamp"
    ends = net.beta([[-2.0], [3.0]])
    assert torch.equal(net.beta([[-100.0], [3.5]]), ends)
    net.save(tmp_path / "net.safetensors")
    assert scn.SCN.load(tmp_path / "net.safetensors").map.outside == "clamp"
    with pytest.raises(ScnError, match="outside must be one of refuse, clamp, but is 'ignore'"):
        Nodes(LINE, 4, outside="ignore")


def test_a_learned_map_takes_any_alpha() -> None:
    assert network("learned").beta([5.0, -7.0]).sum().item() == pytest.approx(1)


def test_maps_and_spaces_that_do_not_fit_are_explained() -> None:
    with pytest.raises(ScnError, match=r'there is no map "node"\. Did you mean "nodes"'):
        scn.SCN(mlp(), 2, 8, map="node")
    with pytest.raises(ScnError, match=r"the space has 1 values .*, but alpha_dim is 2"):
        scn.SCN(mlp(), 2, 8, map="nodes", space=LINE)
    with pytest.raises(ScnError, match="made for 4 base models, but dims is 8"):
        scn.SCN(mlp(), 2, 8, map=Nodes(CIRCLE, 4))
    with pytest.raises(ScnError, match="leave out space="):
        scn.SCN(mlp(), 2, 8, map=Nodes(CIRCLE, 8), space=PLANE)
    with pytest.raises(ScnError, match="space has 1 values"):
        scn.SCN(mlp(), 2, 8, map=Nodes(LINE, 8))
    with pytest.raises(WrongType, match="must be a name or a Map, but is 3"):
        scn.SCN(mlp(), 2, 8, map=3)  # type: ignore[arg-type]
    with pytest.raises(WrongType, match=r"tuple of its axes, such as \(Circle\(\),\)"):
        scn.SCN(mlp(), 2, 8, map="nodes", space=Circle())  # type: ignore[arg-type]
    with pytest.raises(ScnError, match="no places in one of the categories 0 to 2"):
        scn.SCN(mlp(), 1, 3, map="nodes", space=(Categories(3),))
    with pytest.raises(ScnError, match="categories is for the number of a category, but alpha is -1 to 1"):
        scn.SCN(mlp(), 1, 3, map="categories")
    with pytest.raises(ScnError, match="4 categories need at most so many base models, but dims is 5"):
        CategoryTable((Categories(4),), 5)


def test_without_a_space_two_values_are_an_angle() -> None:
    net = scn.SCN(mlp(), alpha_dim=2, dims=8, map="nodes")
    assert net.map.space == CIRCLE
    torch.testing.assert_close(net.beta(around(8)), torch.eye(8), atol=1e-5, rtol=0)


def test_the_map_linear_is_what_alpha_as_an_input_does() -> None:
    """A bias that is mixed so is the bias plus a matrix by alpha."""
    net = scn.SCN(mlp(), 2, 3, map="linear", configurable="layers.1.bias")
    first, cosine, sine = net.theta
    for alpha in around(4, 0.1):
        expected = first + alpha[0] * (cosine - first) + alpha[1] * (sine - first)
        torch.testing.assert_close(net.configure(alpha).get_parameter("layers.1.bias"), expected)


def test_maps_without_a_softmax_say_what_they_need(tmp_path: Path) -> None:
    with pytest.raises(ScnError, match="with 2 values dims must be 3, but is 4"):
        scn.SCN(mlp(), 2, 4, map="linear")
    with pytest.raises(ScnError, match="dims must be at least 2"):
        scn.SCN(mlp(), 2, 1, map="generated")
    net = scn.SCN(mlp(), 2, 4, map="generated")
    with pytest.raises(ScnError, match="choose dims when it is made"):
        net.grow(2)
    assert net.prune(around(8)) == []


@pytest.mark.parametrize("name", ["nodes", "experts", "fourier", "categories"])
def test_a_base_model_with_a_place_cannot_be_divided(name: str) -> None:
    net = network(name, 4, (Categories(4),) if name == "categories" else CIRCLE)
    before = net.theta.detach().clone()
    with pytest.raises(ScnError, match=r"cannot divide one: use resample\(D\)"):
        net.grow(2)
    assert torch.equal(net.theta, before)


# Categories


def test_each_category_has_a_base_model() -> None:
    net = network("categories", 4, (Categories(4),))
    torch.testing.assert_close(net.beta(torch.arange(4.0).unsqueeze(1)), torch.eye(4))
    assert torch.equal(net.beta([2]), torch.eye(4)[2])  # a whole number, as a person says it
    assert not list(net.map.parameters())


def test_a_number_that_rounding_moved_is_still_its_category() -> None:
    net = network("categories", 4, (Categories(4),))
    alpha = torch.tensor([[0.9995], [2.0005]])
    torch.testing.assert_close(net.beta(alpha), torch.eye(4)[[1, 2]])
    for row, number in zip(alpha, (1, 2), strict=True):
        near, exact = (net.configure(value).state_dict() for value in (row, [number]))
        assert all(torch.equal(value, exact[name]) for name, value in near.items())


def test_fewer_base_models_than_categories_are_mixed_by_a_learned_table(tmp_path: Path) -> None:
    net, x = network("categories", 2, (Categories(5),)), torch.randn(10, 1, 4, 4)
    alpha = torch.arange(5.0).unsqueeze(1)
    net(x, alpha).square().sum().backward()
    assert net.map.table is not None
    assert torch.as_tensor(net.map.table.grad).ne(0).any(dim=1).all()
    assert net.theta.grad is not None
    net.save(tmp_path / "net.safetensors")
    assert torch.equal(scn.SCN.load(tmp_path / "net.safetensors").beta(alpha), net.beta(alpha))
    for number in range(5):
        torch.testing.assert_close(net.configure([number])(x), net(x, [number]))


# Started from nodes


def test_a_learned_map_can_start_as_an_interpolation(tmp_path: Path) -> None:
    net = network("learned-from-nodes", 6)
    alpha = around(50)
    far = (net.beta(alpha) - Nodes(CIRCLE, 6)(alpha)).abs()
    assert far.mean() < 0.05
    assert all(p.grad is None for p in network("learned", 6).map.parameters())
    net.save(tmp_path / "net.safetensors")
    again = scn.SCN.load(tmp_path / "net.safetensors")
    assert type(again.map) is Learned
    assert torch.equal(again.beta(alpha), net.beta(alpha))
    net.grow(2)
    assert net.dims == 8


# Networks with these maps


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
@pytest.mark.parametrize("name", ["nodes", "experts", "fourier"])
def test_several_alpha_are_as_each_alone_whatever_the_backbone(case: Case, name: str) -> None:
    net = scn.SCN(case.backbone(), 2, 6, map=name).eval()
    x = torch.randn(12, *case.shape)
    for count in (2, 4, 12):
        alpha = around(count, 0.03)
        together = net(x, alpha)
        parts = zip(x.chunk(count), alpha, strict=True)
        alone = torch.cat([net.configure(a)(part) for part, a in parts])
        torch.testing.assert_close(together, alone, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(net(x, alpha[0]), net.configure(alpha[0])(x), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(net(x, alpha[:1]), net.configure(alpha[:1])(x), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_gradients_are_those_of_the_dense_mixture(case: Case) -> None:
    net = scn.SCN(case.backbone(), 2, 8, map="nodes").train()
    x, alpha = torch.randn(8, *case.shape), around(2, 0.03)
    dense = copy.deepcopy(net)
    dense.map.entries = None
    for one in (net, dense):
        torch.manual_seed(0)
        one(x, alpha).square().sum().backward()
    assert net.theta.grad is not None
    torch.testing.assert_close(net.theta.grad, dense.theta.grad, atol=1e-4, rtol=1e-4)
    assert (net.theta.grad != 0).any(dim=1).sum() <= 4


@pytest.mark.parametrize("name", ["nodes", "experts", "fourier", "learned", "generated"])
def test_alpha_can_be_searched_for(name: str) -> None:
    net, x = network(name).double(), torch.randn(6, 1, 4, 4).double()
    for alpha in (around(1, 0.03)[0].double(), around(3, 0.03).double()):
        net(x, alpha.requires_grad_()).square().sum().backward()
        assert alpha.grad is not None
        assert alpha.grad.isfinite().all()
        assert bool(alpha.grad.ne(0).any()) == (name != "experts")


def test_a_beta_of_ones_own_has_the_gradient_of_all_base_models() -> None:
    net, x = network("nodes"), torch.randn(6, 1, 4, 4)
    beta = net.beta(around(1)[0]).detach().requires_grad_()
    net.answer(x, beta).square().sum().backward()
    assert beta.grad is not None
    assert beta.grad.ne(0).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_precisions(name: str, dtype: torch.dtype) -> None:
    net, x, alpha = network(name).to(dtype), torch.randn(6, 1, 4, 4).to(dtype), around(3, 0.03)
    assert net(x, alpha).dtype == net.beta(alpha).dtype == dtype
    exact = 1e-10 if dtype == torch.float64 else 0.1
    torch.testing.assert_close(net.configure(alpha[0])(x), net(x, alpha[0]), atol=exact, rtol=exact)
    if name in ("nodes", "experts"):
        net.resample(16)
        assert net(x, alpha).dtype == dtype


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_and_a_state_are_the_same_network(name: str) -> None:
    net, x, alpha = network(name), torch.randn(6, 1, 4, 4), around(3, 0.03)
    net.configure(alpha[0])
    copied, other = copy.deepcopy(net), network(name)
    other.load_state_dict(net.state_dict())
    assert torch.equal(copied(x, alpha), net(x, alpha))
    assert torch.equal(other(x, alpha), net(x, alpha))
    with torch.no_grad():
        copied.theta.zero_()
    assert net.theta.ne(0).any()


def test_a_state_brings_its_positions_also_for_configure() -> None:
    net, x, alpha = network("nodes", 3, (Line(),)), torch.randn(2, 1, 4, 4), torch.tensor([0.3])
    net.configure(alpha)
    put = Nodes((Line(),), 3, positions=[-1, 0, 0.5])
    net.load_state_dict(network(put, 3, (Line(),)).state_dict())
    torch.testing.assert_close(net.configure(alpha)(x), net(x, alpha))


@pytest.mark.parametrize(
    ("name", "space", "dims"),
    [
        ("nodes", CIRCLE, 8),
        ("nodes", PLANE, 6),
        ("nodes", TURNS, 5),
        ("experts", TORUS, 8),
        ("fourier", LINE, 3),
        ("categories", (Categories(3),), 3),
    ],
    ids=named,
)
def test_a_network_is_saved_with_its_map(name: str, space: Space, dims: int, tmp_path: Path) -> None:
    net, x = network(name, dims, space), torch.randn(6, 1, 4, 4)
    alpha = draw(space, 3)
    for _ in range(2):  # also what was loaded can be saved
        net.save(tmp_path / "net.safetensors")
        again = scn.SCN.load(tmp_path / "net.safetensors")
        assert type(again.map) is type(net.map)
        assert again.map.space == space
        assert torch.equal(again(x, alpha), net(x, alpha))
        net = again
    net.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "net.safetensors").read_bytes()


def test_positions_are_saved(tmp_path: Path) -> None:
    net = network(Nodes((Line(),), 3, positions=[-1, 0, 0.25]), 3, (Line(),))
    net.save(tmp_path / "net.safetensors")
    again = scn.SCN.load(tmp_path / "net.safetensors")
    assert again.map.arguments() == {"outside": "refuse", "positions": [-1, 0, 0.25]}
    assert again.beta([0.125]).tolist() == [0, 0.5, 0.5]


def test_a_published_map_is_saved_as_ever(tmp_path: Path) -> None:
    network("learned").save(tmp_path / "net.safetensors")
    _, config = storage.load_model(tmp_path / "net.safetensors")
    assert config["format"] == 1
    assert "map" not in config
    assert "subspace" not in config


@pytest.mark.parametrize("name", ["scn-d2", "finished", "fruit", "imported"])
def test_old_files_are_learned_and_full(name: str) -> None:
    run = runs.read(OLD / name)
    net = run.method().load(OLD / name / "model.safetensors", runs.backbone_of(run))
    assert isinstance(net, scn.SCN)
    assert type(net.map) is Learned
    assert net.compact is None
    assert run.config.map == {"name": "learned"}
    assert run.config.subspace == "full"


def saved_as(monkeypatch: pytest.MonkeyPatch, path: Path, **changes: object) -> None:
    net = network("nodes")
    written = maps.described(net.map)
    written["map"] |= changes
    monkeypatch.setattr(maps, "described", lambda _: written)
    net.save(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"name": "splines"},
            r'has the map "splines", which this scn does not know \(.*nodes.*\): .* newer one',
        ),
        ({"order": 3}, 'has the map "nodes" with order, which this scn does not know: .* newer one'),
        ({"space": [{"kind": "sphere"}]}, "no kind of axis 'sphere': it may need a newer scn"),
        ({"name": "os:system"}, '"os:system" is code of your own, which is imported only where you allow it'),
        ({"outside": "mirror"}, "outside must be one of"),
    ],
)
def test_a_map_of_a_newer_version_is_explained(
    changes: dict[str, object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved_as(monkeypatch, tmp_path / "net.safetensors", **changes)
    with pytest.raises(ScnError, match=message):
        scn.SCN.load(tmp_path / "net.safetensors")


def test_a_format_of_a_newer_version_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "described", lambda _: {"format": 3})
    network("nodes").save(tmp_path / "net.safetensors")
    with pytest.raises(scn.ModelFileError, match=r"has format 3, but .* reads up to 2: install a newer scn"):
        scn.SCN.load(tmp_path / "net.safetensors")


class Halves(SparseMap):
    """A map of a user's own: the first base model on the left, the second on the right."""

    entries = 1

    def sparse(self, alpha: Tensor) -> tuple[Tensor, Tensor]:
        return (alpha[..., :1] > 0).long(), torch.ones_like(alpha[..., :1])


def test_a_map_of_ones_own_is_saved_and_loaded_where_it_is_allowed(tmp_path: Path) -> None:
    own, path = "test_maps:Halves", tmp_path / "net.safetensors"
    with pytest.raises(ScnError, match="only where you allow it"):
        scn.SCN(mlp(), 1, 2, map=own)
    with scn.allow(own):
        net = scn.SCN(mlp(), 1, 2, map=own)
    net.save(path)
    with pytest.raises(ScnError, match="only where you allow it"):
        scn.SCN.load(path)
    with scn.allow(own):
        again = scn.SCN.load(path)
    x = torch.randn(4, 1, 4, 4)
    assert torch.equal(again(x, [[0.5], [-0.5]]), net(x, [[0.5], [-0.5]]))
    torch.testing.assert_close(again.configure([0.5])(x), net(x, [0.5]))


# Banks, recalibration, compilation


@pytest.mark.parametrize("name", NAMES)
def test_a_bank_and_a_rewritten_backbone_are_as_a_call(name: str) -> None:
    net, x, alpha = network(name, 16).eval(), torch.randn(5, 1, 4, 4), around(3, 0.03)
    together = net.bank(alpha)(x)
    plain = net.configure(around(1, 0.5)[0])
    for one, expected in zip(alpha, together, strict=True):
        torch.testing.assert_close(net(x, one), expected, atol=1e-5, rtol=1e-5)
        assert net.configure(one, into=plain) is plain
        torch.testing.assert_close(plain(x), expected, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(net.configure(one, into=mlp())(x), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(net.bank(alpha[:1])(x), together[:1], atol=1e-5, rtol=1e-5)


def test_nodes_can_be_recalibrated() -> None:
    net = scn.SCN(scn.backbones.MLP((1, 4, 4), 3, width=6, depth=2, norm=True), 2, 8, map="nodes")
    x, alpha = torch.randn(40, 1, 4, 4) * 3 + 1, around(1, 0.1)[0]
    plain = net.recalibrate([x], alpha)
    torch.testing.assert_close(plain.train()(x), plain.eval()(x), atol=0.1, rtol=0.1)


def test_only_what_is_mixed_is_read() -> None:
    """What no alpha needs may hold anything."""
    net, x = network("nodes", 8), torch.randn(4, 1, 4, 4)
    with torch.no_grad():
        net.theta[3:6] = math.nan
    alpha = around(8, 0.03)[:2]
    assert net(x, alpha).isfinite().all()
    assert net(x, alpha[0]).isfinite().all()
    assert net.configure(alpha[0])(x).isfinite().all()
    assert net.bank(alpha)(x).isfinite().all()


@pytest.fixture
def _fresh_compiler() -> Iterator[None]:
    torch.compiler.reset()
    yield
    torch.compiler.reset()


@pytest.mark.usefixtures("_fresh_compiler")
@pytest.mark.parametrize(("name", "rows"), [("nodes", ()), ("nodes", (4,)), ("nodes", (8,)), ("experts", ())])
def test_a_compiled_and_an_exported_network_give_the_same(name: str, rows: tuple[int, ...]) -> None:
    net, x = network(name), torch.randn(8, 1, 4, 4)
    alpha = around(rows[0], 0.03) if rows else around(1, 0.03)[0]
    other, compiled = copy.deepcopy(net), torch.compile(net, fullgraph=True, backend="aot_eager")
    out, expected = compiled(x, alpha), other(x, alpha)
    torch.testing.assert_close(out, expected, atol=1e-5, rtol=1e-5)
    out.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(net.theta.grad, other.theta.grad, atol=1e-5, rtol=1e-4)
    exported = torch.export.export(net, (x, alpha)).module()
    torch.testing.assert_close(exported(x, alpha), expected, atol=1e-5, rtol=1e-5)
