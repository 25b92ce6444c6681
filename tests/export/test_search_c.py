"""The search in exported C finds what Python's search finds, with every way of holding the network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from test_export_build import convolutions
from torch import Tensor, nn

from generated import BAD_INPUT, OK, subject
from mapped import MAPPED
from scn import SCN, search, transforms
from scn.backbones import MLP
from scn.backbones.estimator import Estimator
from scn.experiment.device_search import candidates_plan, estimator_plan, tracker_plan
from scn.export import LabelledSamples, Options, Subject
from scn.export.quantisation import quantised_rows
from scn.search import Grid
from searched import check_best, crossed, doubts, searcher

OPTIONS = {
    "ram": Options(),
    "row": Options(theta="row"),
    "explicit": Options(state="explicit"),
    "double buffer": Options(double_buffer=True),
    "explicit, double buffer, row of bytes": Options(state="explicit", double_buffer=True, weights="int8"),
    "half": Options(weights="float16"),
    "half, row": Options(weights="float16", theta="row"),
    "bytes": Options(weights="int8"),
    "bytes, row": Options(weights="int8", theta="row"),
}
SHAPE = (1, 12, 12)


def mlp(depth: int = 1, norm: bool = False) -> nn.Module:
    return MLP(SHAPE, 5, 14, depth=depth, norm=norm)


def settled(backbone: nn.Module, shape: tuple[int, ...]) -> nn.Module:
    """With statistics of norm layers as after some training."""
    with torch.no_grad():
        backbone.train()(2 * torch.randn(16, *shape) + 1)
    return backbone.eval()


def apart(net: SCN) -> SCN:
    """With base models that differ in all of their parameters, so that candidates differ."""
    with torch.no_grad():
        net.theta.mul_(1 + 0.5 * torch.randn_like(net.theta))
        net.theta.mul_(2)
        if "output.weight" in dict(net.map.named_parameters()):
            net.map.get_parameter("output.weight").mul_(4)
    return net.eval()


def searched(what: Subject, steps: int = 24, doubt: str = "evidence") -> tuple[Subject, Grid]:
    net = what.network
    assert isinstance(net, SCN)
    grid = search.Grid(net, what.transform, steps, doubt)
    return replace(what, search=candidates_plan("grid", grid)), grid


def rotated(backbone: nn.Module, shape: tuple[int, ...], dims: int = 4, **more: Any) -> Subject:
    net = SCN(settled(backbone, shape), alpha_dim=2, dims=dims, seed=0, **more)
    return subject(apart(net), shape)


@pytest.mark.parametrize(
    ("option", "doubt"),
    crossed(OPTIONS, ["evidence", "entropy"], lambda option, doubt: doubt == "evidence" or option == "ram"),
)
def test_the_best_candidate_is_found(option: str, doubt: str, tmp_path: Path) -> None:
    what, grid = searched(rotated(mlp(), SHAPE), doubt=doubt)
    c = searcher(what, OPTIONS[option], tmp_path)
    x = torch.randn(60, 1, *SHAPE)
    expected = doubts(what, OPTIONS[option], x.flatten(0, 1))
    same, places = check_best(what, c, x, expected)
    assert same >= 59
    assert places >= 3, "the network must have something to choose"
    if OPTIONS[option].weights == "float32":
        found = torch.cat([grid(one).params for one in x])
        assert sum(bool((c.found(one)[0] == own).all()) for one, own in zip(x, found, strict=True)) >= 59


@pytest.mark.parametrize("option", ["ram", "row", "half", "bytes"])
def test_inputs_of_one_setting_are_added_up(option: str, tmp_path: Path) -> None:
    what, _ = searched(rotated(mlp(), SHAPE))
    c = searcher(what, OPTIONS[option], tmp_path)
    x = torch.randn(20, 7, *SHAPE)
    alone = doubts(what, OPTIONS[option], x.flatten(0, 1))
    expected = alone.unflatten(1, (20, 7)).mean(dim=2)
    same, _ = check_best(what, c, x, expected)
    assert same >= 19
    assert (expected.argmin(dim=0) != alone[:, ::7].argmin(dim=0)).any(), "one input would have said the same"


BACKBONES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], dict[str, Any]]] = {
    "deep, with norm layers": (lambda: mlp(3, norm=True), SHAPE, {}),
    "only the last layer mixed": (lambda: mlp(2), SHAPE, {"configurable": "layers.5.*"}),
    "weights mixed, biases not": (lambda: mlp(2), SHAPE, {"configurable": "*.weight"}),
    "convolutions": (convolutions, (2, 7, 7), {}),
    "a shared factor": (mlp, SHAPE, {"subspace": "factored:6"}),
    "one layer": (lambda: nn.Sequential(nn.Flatten(), nn.Linear(144, 5)), SHAPE, {}),
}


class Around(nn.Module):
    """The input, and a value that is made before anything is mixed, are needed again behind mixed layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.last = nn.Linear(144, 144), nn.Linear(144, 144), nn.Linear(144, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = x.flatten(1)
        first = torch.relu(self.first(x))
        return self.last(torch.relu(self.second(first) + first) + x)


BACKBONES["around mixed layers"] = (Around, SHAPE, {"configurable": ["second.*", "last.*"]})


@pytest.mark.parametrize(
    ("option", "name"),
    crossed(["ram", "row", "half", "bytes"], BACKBONES, lambda option, name: option in ("ram", "bytes")),
)
def test_networks_of_every_kind(name: str, option: str, tmp_path: Path) -> None:
    make, shape, more = BACKBONES[name]
    what, _ = searched(rotated(make(), shape, **more), 12)
    c = searcher(what, OPTIONS[option], tmp_path)
    x = torch.randn(12, 1, *shape)
    same, places = check_best(what, c, x, doubts(what, OPTIONS[option], x.flatten(0, 1)))
    assert same >= 11
    assert places > 1


FINDING = (
    *("many nodes on a circle", "nodes on a plane", "nodes among turns", "experts on a line"),
    *("fourier on a circle", "generated", "linear", "learned from nodes"),
)


@pytest.mark.parametrize(
    ("option", "name"), crossed(["ram", "bytes, row"], FINDING, lambda option, name: option == "ram")
)
def test_every_map(name: str, option: str, tmp_path: Path) -> None:
    mapped = MAPPED[name]
    net = mapped.network(settled(mlp(2, norm=True), SHAPE))
    steps = {1: 20, 2: 5, 3: 3}[len(mapped.made().parameters)]
    what, _ = searched(mapped.subject(apart(net), SHAPE), steps)
    c = searcher(what, OPTIONS[option], tmp_path)
    x = torch.randn(10, 1, *SHAPE)
    same, places = check_best(what, c, x, doubts(what, OPTIONS[option], x.flatten(0, 1)))
    assert same >= 9
    assert places > 1


TRACKED: dict[str, tuple[str, int, float | tuple[float, float], float]] = {
    "a circle": ("rotation", 24, 10.0, 0.01),
    "a circle, far moves": ("rotation", 24, 200.0, 0.05),
    "a circle, no moves": ("rotation", 25, 0.0, 0.0),
    "one value": ("rotation", 1, 1.0, 0.01),
    "a line": ("pitch", 12, 0.05, 0.02),
    "a plane": ("translation", 7, 4.0, 0.5),
    "a circle and a line": ("rotation+scaling", 6, (30.0, 0.1), 0.0),
}


@pytest.mark.parametrize(
    ("option", "case"),
    crossed(
        ["ram", "explicit", "double buffer", "bytes"],
        TRACKED,
        lambda option, case: option == "ram" or case == "a circle",
    ),
)
def test_a_tracker_believes_what_pythons_believes(case: str, option: str, tmp_path: Path) -> None:
    name, steps, drift, jump = TRACKED[case]
    transform = transforms.get(name)
    net = apart(SCN(settled(mlp(), SHAPE), transform.alpha_dim, 4, seed=0, space=transform.space()))
    with torch.no_grad():  # about as sure as a trained one is of one input
        net.theta.mul_(0.5)
    what = subject(net, SHAPE, name)
    if OPTIONS[option].weights == "int8":
        round_to_bytes(net)
    track = search.Tracker(net, transform, drift, jump, steps)
    c = searcher(replace(what, search=tracker_plan(track)), OPTIONS[option], tmp_path)
    x = torch.randn(40, 1, *SHAPE)
    x[17] = torch.nan
    x[30:35] = x[29]
    lost, believed = [], set()
    for place, one in enumerate(x):
        now = track(one)
        status, params, spread, is_lost = c.track(one)
        assert status == (BAD_INPUT if place == 17 else OK)
        torch.testing.assert_close(params, now.params, rtol=1e-3, atol=1e-3 * float(track.search.span.max()))
        torch.testing.assert_close(spread, now.spread, rtol=1e-2, atol=1e-3 * float(track.search.span.max()))
        believed.add(round(float(params.sum()), 4))
        lost.append((is_lost, now.lost))
    assert len(believed) > 2 or steps == 1
    assert sum(mine != theirs for mine, theirs in lost) <= 1
    assert c.call("track_begin") == OK
    fresh = search.Tracker(net, transform, drift, jump, steps)(x[0])
    torch.testing.assert_close(c.track(x[0])[1], fresh.params, rtol=1e-3, atol=1e-3)


@torch.no_grad()
def round_to_bytes(net: SCN) -> None:
    """Make the rows of all base models whole numbers of steps, which bytes hold as they are."""
    for sets in net.subspace.base_sets().values():
        if sets.dim() == 3:
            stored, scale = quantised_rows(sets.double())
            sets.copy_(stored * scale.unsqueeze(2))


ESTIMATED = {
    "float32": Options(),
    "row": Options(theta="row"),
    "explicit": Options(state="explicit"),
    "half": Options(weights="float16"),
    "half, row": Options(weights="float16", theta="row"),
    "bytes": Options(weights="int8"),
    "whole numbers": Options(weights="int8", inference="int8"),
    "whole numbers, row": Options(weights="int8", inference="int8", theta="row"),
    "whole numbers, double buffer": Options(weights="int8", inference="int8", double_buffer=True),
}


class NoiseSubject(Subject):
    """Calibrated by noise."""

    def samples(self, split: str, count: int, settings: int = 16, seed: int = 0) -> LabelledSamples:
        generator = torch.Generator().manual_seed(seed)
        x, params = torch.randn(16, *self.shape, generator=generator), self.transform.sample(16, generator)
        return LabelledSamples(x, torch.zeros(16, dtype=torch.long), params)


@torch.no_grad()
def rounded(estimator: Estimator, weights: str) -> Estimator:
    """With its weights as they are stored."""
    for layer in estimator.layers:
        if isinstance(layer, nn.Linear) and weights == "float16":
            layer.weight.copy_(layer.weight.half())
        elif isinstance(layer, nn.Linear) and weights == "int8":
            stored, scale = quantised_rows(layer.weight.double().unsqueeze(0))
            layer.weight.copy_((stored * scale.unsqueeze(2))[0])
    return estimator


@pytest.mark.parametrize(
    ("option", "transform"),
    crossed(
        ESTIMATED,
        ["rotation", "translation", "rotation+scaling", "brightness"],
        lambda option, transform: option == "float32" or transform == "rotation",
    ),
)
def test_an_estimator_names_what_python_names(option: str, transform: str, tmp_path: Path) -> None:
    made, options = transforms.get(transform), ESTIMATED[option]
    net = SCN(mlp(), made.alpha_dim, 3, seed=0, space=made.space()).eval()
    estimator = Estimator(144, made.alpha_dim).eval()
    find = search.Estimated(net, made, estimator)
    what = subject(net, SHAPE, transform, search=estimator_plan(find))
    c = searcher(NoiseSubject(**vars(what)), options, tmp_path)
    rounded(estimator, options.weights)
    for x in torch.randn(30, 3, *SHAPE):
        params, alpha = c.found(x)
        theirs = find(x).params[0]
        said = estimator(x).mean(dim=0).double()
        torch.testing.assert_close(alpha, made.encode(params).float(), rtol=0, atol=1e-5)
        mine, other = ((made.encode(one).double() - said).square().sum() for one in (params, theirs))
        assert abs(mine - other) <= 2e-6, (params, theirs)


@pytest.mark.parametrize("option", ["float32", "half", "bytes", "whole numbers, row"])
def test_an_estimator_stands_beside_a_map_that_mixes_few(option: str, tmp_path: Path) -> None:
    mapped, options = MAPPED["nodes on a circle"], ESTIMATED[option]
    estimator = Estimator(144, 2).eval()
    net = mapped.network(mlp())
    plan = estimator_plan(search.Estimated(net, mapped.made(), estimator))
    c = searcher(mapped.subject(net, SHAPE, search=plan), options, tmp_path)
    x = torch.randn(10, 1, *SHAPE)
    with torch.no_grad():
        said = rounded(estimator, options.weights)(x.flatten(0, 1))
    for one, own in zip(x, said, strict=True):
        apart = (mapped.made().encode(torch.arange(720).unsqueeze(1) / 2) - own).square().sum(dim=1)
        mine = apart[int(2 * c.found(one)[0])]
        assert mine - apart.min() <= 2e-6
