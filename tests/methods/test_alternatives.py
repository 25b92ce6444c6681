"""Every method trains, can be interrupted, is saved, evaluated and counted; and what each of them claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import scn
from commands import run
from scn import methods, runs, transforms
from scn.core.errors import ScnError
from scn.core.network import SCN
from scn.experiment.plan import plan_run
from scn.experiment.train import train
from scn.export import Options, targets
from scn.export.account import account_of
from scn.export.subject import subject_of
from scn.methods.tent import Adapting
from scn.runs import Run, backbone_of
from scn.runs.collection import LoadedRun
from scn.runs.cost import cost_of
from scn.runs.evaluation import evaluate_run
from scn.runs.scores import write_scores
from scn.training.recipe import Recipe

BATCH = 32
RECIPE = Recipe(epochs=3, batch_size=BATCH, branches=4, adapted_batch=16)
SIZES = {"width": 6}
GIVEN: dict[str, dict[str, Any]] = {"one4one": {"fixed": [30.0]}, "wider": {"dims": 2}}
NORMS = {"tent": {"width": 6, "depth": 4}}  # a backbone with norm layers
NOT_OF_IMAGES = ("alpha-alone",)
NAMES = [name for name in methods.registry if name not in NOT_OF_IMAGES]
DRAWN = (
    "film",
    "experts",
    "output-mixture",
    "ti-pooling",
    "wider",
    "tent",
)  # of each kind one
GRID = torch.tensor([[-150.0], [0.0], [80.0]])


def planned(name: str, data: str, folder: Path, **more: Any) -> Run:
    given = {"dims": 3, **GIVEN.get(name, {}), **more}
    sizes = NORMS.get(name, SIZES)
    return runs.create(folder, plan_run(data, "rotation", "mlp", name, RECIPE, sizes=sizes, **given))


def trained(name: str, data: str, folder: Path, **more: Any) -> tuple[Run, nn.Module]:
    made = planned(name, data, folder, **more)
    return made, train(made, backbone_of(made), device="cpu", prefetch=False)


def shown(made: Run, count: int = 5) -> Tensor:
    samples = torch.rand(count, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    return made.method().inputs(samples, torch.tensor([40.0]), made.normalisation())


@pytest.mark.parametrize("name", NAMES)
def test_interrupted_it_ends_where_it_would_have_ended(name: str, small_data: str, tmp_path: Path) -> None:
    whole, net = trained(name, small_data, tmp_path / "whole")
    parts = planned(name, small_data, tmp_path / "parts")
    calls = 0

    def stop(state: Any, training: Any, numbers: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(parts, backbone_of(parts), device="cpu", prefetch=False, checkpoint_minutes=0, report=stop)
    train(parts, backbone_of(parts), device="cpu", prefetch=False)
    assert parts.model_file.read_bytes() == whole.model_file.read_bytes()
    again = runs.read(whole.folder).network().eval()
    method, x = whole.method(), shown(whole)
    with torch.no_grad():
        expected = method.configured(net.eval(), torch.tensor([40.0]))(x)
        torch.testing.assert_close(method.configured(again, torch.tensor([40.0]))(x), expected)
        if name != "tent":  # which has learned from the first call
            torch.testing.assert_close(method.outputs(again, x, torch.tensor([[40.0]])), expected)
    found = evaluate_run(whole, again, GRID)
    assert 0 <= found.mean <= 1
    write_scores(whole.folder, found, method.transform)
    one = LoadedRun(runs.read(whole.folder))
    account = account_of(one)
    assert account.flash > 0
    assert account.ram > 0
    assert account.operations is not None
    assert one.outcome.stored == cost_of(one).stored
    if not method.one_pass:
        assert not account.exported
        with pytest.raises(ScnError, match="more for an answer than one pass"):
            subject_of(whole)


@pytest.mark.parametrize(
    "name", [name if name in DRAWN else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]
)
def test_it_is_compared_drawn_and_reported(name: str, small_data: str, tmp_path: Path) -> None:
    made, net = trained(name, small_data, tmp_path / "run")
    fixed = made.method().fixed
    write_scores(
        made.folder, evaluate_run(made, net, GRID if fixed is None else fixed.view(1, 1)), made.transform()
    )
    page, picture = tmp_path / "report.html", tmp_path / "figure.png"
    result = run("report", str(made.folder), "-o", str(page))
    assert result.code == 0, result.err
    for figure in ("accuracy",) if fixed is not None else ("accuracy", "cost", "size"):
        result = run("plot", str(made.folder), "--figure", figure, "-o", str(picture))
        assert result.code == 0, result.err
    method = made.method()
    for figure in ("beta", "theta"):  # of what is configured by weights that are mixed, or a word why not
        result = run("plot", str(made.folder), "--figure", figure, "-o", str(picture))
        assert result.code == (0 if method.mixes and method.one_pass else 2), result.err


def test_a_bias_from_alpha_is_what_further_inputs_would_do() -> None:
    rotation = transforms.get("rotation")
    method = methods.get("one4all-alpha")(rotation)
    torch.manual_seed(0)
    net = method.build(lambda: scn.backbones.MLP((1, 4, 4), 3, width=6))
    assert isinstance(net, SCN)
    with torch.no_grad():
        net.theta.copy_(torch.randn_like(net.theta))
    first, *others = net.theta
    columns = torch.stack([other - first for other in others], dim=1)
    plain = net.backbone.get_submodule("layers.1")
    x, params = torch.randn(4, 1, 4, 4), torch.tensor([[70.0]])
    alpha = rotation.encode(params)
    wide = torch.cat([x.flatten(1), alpha.expand(4, -1)], dim=1)
    weight = torch.cat([plain.weight, columns], dim=1)  # type: ignore[list-item]
    hidden = torch.relu(wide @ weight.T + first)
    expected = net.backbone.get_submodule("layers.3")(hidden)
    torch.testing.assert_close(method.outputs(net, x, params), expected)
    assert (
        sum(p.numel() for p in net.parameters())
        == sum(p.numel() for p in scn.backbones.MLP((1, 4, 4), 3, width=6).parameters()) + 2 * 6
    )


def test_without_a_bias_in_the_first_layer_alpha_enters_behind_its_norm_layer() -> None:
    backbone = nn.Sequential(
        nn.Conv2d(1, 4, 3, bias=False), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(16, 3)
    )
    method = methods.get("one4all-alpha")(transforms.get("rotation"))
    assert method.mixed_of(backbone) == ("1.bias",)  # type: ignore[attr-defined]
    with pytest.raises(ScnError, match="no linear layer, convolution or norm layer with a bias"):
        method.mixed_of(nn.Sequential(nn.Flatten(), nn.Linear(16, 3, bias=False)))  # type: ignore[attr-defined]


@pytest.mark.parametrize(("name", "rank"), [("hypernetwork", 64), ("hypernetwork-low-rank", 8)])
def test_all_weights_are_generated_from_alpha(name: str, rank: int) -> None:
    rotation = transforms.get("rotation")
    net = methods.get(name)(rotation).build(lambda: scn.backbones.MLP((1, 4, 4), 3, width=6))
    assert isinstance(net, SCN)
    assert net.dims == rank + 1
    thetas = net.beta(rotation.encode(torch.linspace(0, 359, 200).view(-1, 1))) @ net.theta
    assert torch.linalg.matrix_rank(thetas - thetas.mean(dim=0)) <= rank


def test_film_is_folded_into_the_backbone_itself(small_data: str, tmp_path: Path) -> None:
    made, net = trained("film", small_data, tmp_path / "run")
    plain = made.method().configured(net.eval(), torch.tensor([40.0]))
    assert type(plain) is scn.backbones.MLP
    usual = backbone_of(made)()
    assert [p.shape for p in plain.parameters()] == [p.shape for p in usual.parameters()]
    x = shown(made)
    with torch.no_grad():
        torch.testing.assert_close(plain(x), made.method().outputs(net, x, torch.tensor([[40.0]])))
    report = targets.get("c")(subject_of(made), Options(), tmp_path / "c")
    assert report.facts["macs"] == sum(p.numel() for p in usual.parameters() if p.dim() > 1)


def test_experts_are_told_apart_from_scns_and_have_no_other_map(small_data: str, tmp_path: Path) -> None:
    made = planned("experts", small_data, tmp_path / "run")
    assert made.config.map["name"] == "experts"
    with pytest.raises(ScnError, match="the method experts has a map of its own: leave out `map`"):
        planned("experts", small_data, tmp_path / "other", map="nodes")
    for what in ("map", "subspace"):
        with pytest.raises(ScnError, match=f"the method film has a {what} of its own"):
            planned("film", small_data, tmp_path / "other", **{what: "nodes"})


def test_outputs_are_mixed_and_not_weights(small_data: str, tmp_path: Path) -> None:
    made, net = trained("output-mixture", small_data, tmp_path / "run")
    inner: Any = net.eval().net
    x, params = shown(made, 4), torch.tensor([[40.0], [100.0]])
    beta = inner.beta(made.transform().encode(params))
    single = [inner.answer(x, row) for row in torch.eye(3)]
    expected = torch.cat(
        [sum(b * s[2 * g : 2 * g + 2] for b, s in zip(beta[g], single, strict=True)) for g in (0, 1)]
    )
    torch.testing.assert_close(made.method().outputs(net, x, params), expected)
    cost = cost_of(LoadedRun(made))
    plain = sum(p.numel() for p in backbone_of(made)().parameters() if p.dim() > 1)
    assert cost.operations == 3 * plain
    assert cost.configured == 0


def test_wider_networks_have_as_many_times_the_units(small_data: str, tmp_path: Path) -> None:
    made = planned("wider", small_data, tmp_path / "run")
    assert made.config.backbone["arguments"]["width"] == 2 * SIZES["width"]
    with pytest.raises(ScnError, match="needs a backbone with a width"):
        plan_run(small_data, "rotation", "lenet5", "wider", RECIPE, dims=2)


def test_versions_cover_the_range_and_pooling_forgets_a_turn_by_one_of_them(
    small_data: str, tmp_path: Path
) -> None:
    made, net = trained("ti-pooling", small_data, tmp_path / "run")
    quarters = torch.tensor([[0.0], [90.0], [-180.0], [-90.0]])
    values = evaluate_run(made, net, quarters).values
    assert values.max() - values.min() < 0.03
    augmented: Any = methods.get("augmented")(transforms.get("translation"), terms=RECIPE)
    assert len(augmented.settings()) == 4  # 2 x 2
    assert methods.get("augmented").objection(transforms.get("light")) is not None
    assert (
        methods.get("ti-pooling").objection(transforms.get("rotation-3d"))
        == "what it made cannot be changed again"
    )


def test_the_published_ti_pooling_network_has_the_published_size() -> None:
    net = scn.backbones.get("ti-pooling-cnn")()
    assert sum(p.numel() for p in net.parameters()) == 13_308_170
    pooled = methods.get("ti-pooling")(transforms.get("rotation")).build(lambda: net)
    assert pooled.at == "layers.12"  # the dropout


def test_tent_adapts_norm_layers_and_nothing_else(small_data: str, tmp_path: Path) -> None:
    made, net = trained("tent", small_data, tmp_path / "run")
    before = {name: value.clone() for name, value in net.state_dict().items()}
    adapting = made.method().configured(net.eval(), torch.tensor([40.0]))
    assert isinstance(adapting, Adapting)
    adapting(shown(made, 64))
    after = adapting.net.state_dict()
    changed = {name for name, value in before.items() if not torch.equal(value, after[name])}
    norms = {
        f"{n}.{p}"
        for n, m in net.named_modules()
        if isinstance(m, nn.BatchNorm1d)
        for p in ("weight", "bias")
    }
    assert changed == norms
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    alone = Adapting(net, 1)
    assert alone(shown(made, 3)).shape == (3, 10)  # one input has no statistics of its own here
    with pytest.raises(ScnError, match="no norm layers with weights, and so there is nothing to adapt"):
        plan_run(small_data, "rotation", "mlp", "tent", RECIPE)


def test_an_estimate_is_undone(small_data: str, tmp_path: Path) -> None:
    """With an estimator that is always right it is Inverse."""
    made, net = trained("estimate-and-invert", small_data, tmp_path / "run")
    inner: Any = net.eval()
    angle = torch.tensor([[63.0]])
    inner.estimator.forward = lambda x: made.transform().encode(angle).expand(len(x), -1)
    samples = torch.rand(4, 1, 32, 32)
    changed = made.transform().apply(samples, angle)
    restored = made.normalisation()(made.transform().invert(changed, angle))
    with torch.no_grad():
        torch.testing.assert_close(inner(changed), inner.backbone(restored))
    torch.testing.assert_close(inner.mean, torch.tensor(made.config.normalisation["mean"]))


@pytest.mark.parametrize("name", ["safn", "data-calibrator"])
def test_domains_get_no_labels_of_changed_inputs(name: str) -> None:
    method = methods.get(name)(transforms.get("rotation"), fixed=torch.tensor([90.0]))
    samples = torch.rand(6, 1, 32, 32)
    pairs = method.training_inputs(samples, method.draw(2, torch.Generator()), lambda x: x)
    torch.testing.assert_close(pairs[:, 0], samples)
    torch.testing.assert_close(pairs[1:, 1], samples[:-1].rot90(1, (-2, -1)), atol=1e-4, rtol=0)
    assert not method.needs_labels


def test_the_classifier_of_a_data_calibrator_learns_from_the_source_alone(small_data: str) -> None:
    method = methods.get("data-calibrator")(transforms.get("rotation"))
    net: Any = method.build(lambda: scn.backbones.MLP(width=6))
    x, labels = torch.randn(8, 2, 1, 32, 32), torch.arange(8)
    parts = method.loss(net, x, labels, {})
    parts["calibration"].backward()
    assert all(
        p.grad is None for m in (net.classifier, net.of_pixels, net.of_outputs) for p in m.parameters()
    )
    assert all(p.grad is not None for p in net.generator.parameters())
    net.zero_grad()
    parts = method.loss(net, x, labels, {})
    parts["discrimination"].backward()
    assert all(p.grad is None for m in (net.classifier, net.generator) for p in m.parameters())
    assert (net.generator(x[:, 1]) - x[:, 1]).abs().max() <= 1


def test_an_old_network_with_alpha_beside_its_readings_is_explained(small_data: str, tmp_path: Path) -> None:
    made, _ = trained("one4all", small_data, tmp_path / "run")
    method = methods.get("one4all-alpha")(made.transform())
    with pytest.raises(ScnError, match="earlier scn, which put alpha beside the readings: train it again"):
        method.load(made.model_file, backbone_of(made))


def test_the_comparison_says_what_each_costs(small_data: str, tmp_path: Path) -> None:
    options = ["--data", small_data, "--width", "6", "--epochs", "2", "--batch-size", "32", "--seeds", "1"]
    listed = [
        "--methods",
        "scn,film,ti-pooling,source-only",
        "--dims",
        "3",
        "--set",
        "branches=4",
        "--jobs",
        "1",
    ]
    result = run("compare", *options, *listed, "--step", "90", "-o", str(tmp_path), "--quiet")
    assert result.code == 0, result.err
    assert "counted: the C export does not express this network" in result.out
    rows = {row["method"]: row for row in json.loads((tmp_path / "comparison.json").read_text())["rows"]}
    assert rows["scn"]["exported"]
    assert rows["film"]["exported"]
    assert not rows["ti-pooling"]["exported"]
    assert rows["ti-pooling"]["operations"] > 3 * rows["scn"]["operations"]
    assert rows["scn"]["change"] == 2 * rows["scn"]["inference"]  # two nodes of each weight
    assert rows["source-only"]["labels"] == "unchanged inputs"
    assert rows["scn"]["labels"] == "changed inputs"
    assert [rows[name]["given"] for name in ("scn", "ti-pooling")] == ["alpha", "nothing"]


def test_all_methods_are_those_that_the_task_allows(small_data: str, tmp_path: Path) -> None:
    options = ["--data", small_data, "--width", "6", "--epochs", "1", "--batch-size", "32", "--seeds", "1"]
    result = run("compare", *options, "--methods", "all", "--fit", "flash=1", "-o", str(tmp_path), "--quiet")
    left_out = {line.split()[2] for line in result.err.splitlines() if line.startswith("left out: ")}
    assert left_out == {"tent", "alpha-alone"}
    assert "nothing to adapt" in result.err


@pytest.mark.parametrize(
    ("transform", "names"),
    [
        ("light", ("scn", "film", "one4all-alpha")),
        ("rotation", ("scn", "inverse", "one4all")),
        ("rotation-3d", ("scn", "hypernetwork-low-rank", "one4all")),
    ],
)
def test_few_methods_are_advised(transform: str, names: tuple[str, ...]) -> None:
    assert methods.advised(transforms.get(transform)) == names
    for name in names:
        assert methods.get(name).objection(transforms.get(transform)) is None


@pytest.mark.parametrize("name", ["estimate-and-invert", "data-calibrator"])
def test_a_backbone_that_keeps_no_shape_is_explained(name: str) -> None:
    method = methods.get(name)(transforms.get("rotation"))
    with pytest.raises(ScnError, match="Sequential does not keep it: give it an attribute `shape`"):
        method.build(lambda: nn.Sequential(nn.Flatten(), nn.Linear(16, 3)))
