"""Maps and compact subspaces in labels, colours, pictures of weights, and the explorer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from figure_runs import make_all
from scn.backbones import MLP, LeNet5
from scn.core.network import SCN
from scn.explorer import write_explorer
from scn.explorer.weights import described_weights
from scn.pages.assemble import Arrays
from scn.plots import beta, style, theta
from scn.plots.figures import make
from scn.plots.options import FigureOptions
from scn.report.content import report
from scn.report.repeat import commands
from scn.runs.collection import LoadedRun, load
from scn.runs.first_layer import first_layer
from scn.transforms import Rotation


@pytest.fixture
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_all(tmp_path_factory.getbasetemp())


def of(loaded: list[LoadedRun], name: str) -> LoadedRun:
    return next(one for one in loaded if one.folder.name == name)


def test_every_scn_says_map_and_subspace_where_some_differ(drawn: dict[str, Path]) -> None:
    loaded = load([drawn["maps"], drawn["learned"], drawn["rotation"] / "one4all"])
    assert [style.label(*one.key) for one in loaded] == [
        "SCN D=3, learned, full",
        "SCN D=3, nodes, factored:2",
        "SCN D=3, nodes, full",
        "SCN D=3, nodes, low-rank:1",
        "SCN D=5, experts, full",
        "SCN D=5, fourier, full",
        "One4All",
    ]


def test_every_network_of_a_comparison_has_a_colour_or_a_dash_of_its_own() -> None:
    names = [
        f"{a}, {b}"
        for a in ("nodes", "experts", "fourier", "learned")
        for b in ("full", "factored:32", "low-rank:4")
    ]
    keys = [("scn", dims, more) for dims in (3, 8, 16, 64) for more in names] + [("one4all", 1, "")]
    looks = [
        (colour, str(dash))
        for colour, dash in zip(style.colours(keys).values(), style.dashes(keys).values(), strict=True)
    ]
    assert len(set(looks)) == len(keys)


def test_scns_of_one_kind_are_blue_and_solid() -> None:
    keys = [("scn", dims, "") for dims in (1, 3, 8)]
    assert list(style.colours(keys).values()) == [style.BLUES[0], style.BLUES[2], style.BLUES[4]]
    assert set(style.dashes(keys).values()) == {"-"}


def test_a_legend_of_long_names_stays_within_the_figure(drawn: dict[str, Path]) -> None:
    figure = make("scores", load([drawn["maps"], drawn["learned"]]), FigureOptions())
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1


def test_negative_coefficients_have_room_below_zero(drawn: dict[str, Path]) -> None:
    loaded = load([drawn["maps"]])
    figure = make("beta", [of(loaded, "scn-d5-fourier")], FigureOptions())
    least = beta.betas(of(loaded, "scn-d5-fourier"), Rotation().grid(180)).min().item()
    assert least < -0.1
    assert figure.axes[0].get_zlim()[0] < least
    nodes = make("beta", [of(loaded, "scn-d3-nodes")], FigureOptions())
    assert nodes.axes[0].get_zlim()[0] == 0


def seen_weights(plain: nn.Module) -> torch.Tensor:
    """What a linear first layer computes, from its answers to every single pixel: (units, pixels)."""
    layer = next(m for m in plain.modules() if type(m).__name__ in ("Linear", "Factored", "LowRank"))
    pixels = 1024
    return (layer(torch.eye(pixels)) - layer(torch.zeros(1, pixels))).T


@pytest.mark.parametrize("name", ["scn-d3-nodes", "scn-factored.2", "scn-low-rank.1", "scn-d5-fourier"])
@torch.no_grad()
def test_theta_shows_what_meets_the_input(name: str, drawn: dict[str, Path]) -> None:
    one = of(load([drawn["maps"]]), name)
    settings = theta.along_first(one, 3)
    _, weights = theta.first_layer(one, settings)
    for setting, found in zip(settings, weights, strict=True):
        plain = one.scn.configure(one.transform.encode(setting))
        torch.testing.assert_close(found, seen_weights(plain), atol=1e-5, rtol=1e-4)
    assert len(make("theta", [one], FigureOptions()).axes) == 6 * 4 + 1, "images, and a scale"


@pytest.mark.parametrize("subspace", ["factored:1", "low-rank:1"])
@torch.no_grad()
def test_the_product_of_a_compact_convolution_is_a_filter(subspace: str) -> None:
    net = SCN(LeNet5((1, 32, 32), 3), 2, 3, map="nodes", subspace=subspace, seed=0)
    net.theta.mul_(1 + torch.rand_like(net.theta))
    layer = first_layer(net)
    assert layer is not None
    alpha = torch.tensor([0.6, 0.8])
    (weights,) = layer.at(net.beta(alpha.unsqueeze(0)))
    plain = net.configure(alpha)
    first = plain.get_submodule(layer.name.partition(" ")[0])
    x = torch.randn(2, 1, 32, 32)
    expected = first(x) - first(torch.zeros_like(x))
    torch.testing.assert_close(nn.functional.conv2d(x, weights), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("subspace", ["full", "factored:8", "low-rank:4"])
def test_the_weights_of_a_page_are_bounded_whatever_d_is(subspace: str) -> None:
    for dims in (2, 64):
        arrays = Arrays()
        net = SCN(MLP((1, 32, 32), 10), 2, dims, map="nodes", subspace=subspace, seed=0)
        found = described_weights(net, torch.Size([1, 32, 32]), arrays, 700_000)
        assert found is not None
        assert arrays._length <= 700_000
        assert found["shape"][0] == 32 or (dims, subspace) == (64, "full")
    assert described_weights(net, torch.Size([1, 32, 32]), Arrays(), 1000) is None


def test_the_commands_that_repeat_a_run_name_map_and_subspace(drawn: dict[str, Path]) -> None:
    train = commands([of(load([drawn["maps"]]), "scn-low-rank.1")])[0]
    assert "--map nodes --subspace low-rank:1" in train
    assert "--map" not in commands(load([drawn["rotation"] / "one4all"]))[0]


def test_the_title_of_many_networks_counts_them(drawn: dict[str, Path]) -> None:
    content = report(load([drawn["maps"], drawn["learned"], drawn["rotation"] / "one4all"]))
    assert content["title"].endswith(": 7 networks")
    assert [row["label"] for row in content["rows"]] == [entry["label"] for entry in content["scores"]]


@pytest.mark.usefixtures("coarse_explorers")
def test_an_explorer_shows_every_map_and_subspace(
    browser: Any, drawn: dict[str, Path], tmp_path: Path
) -> None:
    loaded = load([drawn["maps"]])
    write_explorer(loaded, tmp_path / "page.html", samples=2)
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector("body[data-ready]")
    for place, one in enumerate(loaded):
        page.select_option("#network", str(place))
        page.evaluate("() => explorer.change((state) => { state.at[0] = 7; })")
        page.wait_for_timeout(300)
        angle = page.evaluate("() => explorer.state.parameters[0].values[7]")
        plain = one.scn.configure(one.transform.encode(torch.tensor([float(angle)])))
        mixed = torch.tensor(page.evaluate("() => [...explorer.views.weights.mixed]"))
        with torch.no_grad():
            expected = seen_weights(plain).flatten()
        assert np.abs((mixed - expected).numpy()).max() < 2e-3 * expected.abs().max().item(), one.folder.name
        fourier = one.run.config.map["name"] == "fourier"
        assert page.evaluate("() => explorer.state.view") == ("setting" if fourier else "mass")
        shares = page.locator("#beta .share span:last-child").evaluate_all(
            "all => all.map(one => Number(one.dataset.value))"
        )
        beta_now = one.scn.beta(one.transform.encode(torch.tensor([float(angle)]))).tolist()
        assert shares == pytest.approx(beta_now, abs=1e-6)
    page.close()
