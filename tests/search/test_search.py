"""Finding the setting from the input itself, on a network that was really trained for it."""

from __future__ import annotations

import copy
import json
import re
import shutil
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from commands import run as scn_command
from scn import SCN, data, methods, runs, search, transforms
from scn.backbones import MLP
from scn.core.maps import Map
from scn.core.registry import backbones
from scn.data import to_float
from scn.experiment.plan import plan_run
from scn.experiment.train import train
from scn.objectives import Classification
from scn.runs import Run, backbone_of
from scn.search import Found, Tracker, train_estimator
from scn.search.estimator import KEPT
from scn.search.study import ChangedInputs, average_undone, draw_inputs, known_outputs, mean_score, study
from scn.training.recipe import Recipe

SAMPLES = 448


def trained(folder: Path, mapped: str = "learned", **changes: float) -> Run:
    recipe = Recipe(epochs=40, batch_size=64).changed(**changes)
    run = runs.create(folder, plan_run("digits", "rotation", "mlp", "scn", recipe, dims=8, map=mapped))
    train(run, backbone_of(run), device="cpu", prefetch=False)
    return run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("search") / "run", evidence_weight=0.5)


@pytest.fixture(scope="module")
def net(run: Run) -> SCN:
    found = run.network()
    assert isinstance(found, SCN)
    return found.eval()


def batches(run: Run, size: int) -> ChangedInputs:
    return draw_inputs(run, size, SAMPLES)


def accuracy(logits: Tensor, labels: Tensor) -> float:
    return mean_score(Classification(), logits, labels)


@pytest.mark.parametrize(
    ("name", "shape"), [("mlp", (1, 32, 32)), ("lenet5", (1, 32, 32)), ("m5", (1, 8000))]
)
@pytest.mark.parametrize("count", [1, 5])
def test_a_bank_answers_like_each_configured_network(name: str, shape: tuple[int, ...], count: int) -> None:
    net = SCN(backbones.get(name)(shape=shape, classes=4), alpha_dim=2, dims=3).eval()
    alpha, x = torch.randn(count, 2), torch.randn(3, *shape)
    answers = net.bank(alpha)(x)
    assert answers.shape == (count, 3, 4)
    for row, answer in zip(alpha, answers, strict=True):
        torch.testing.assert_close(answer, net.configure(row).eval()(x), rtol=1e-4, atol=1e-5)


def test_a_bank_divides_what_is_too_much_for_one_go(net: SCN, monkeypatch: pytest.MonkeyPatch) -> None:
    bank, x = net.bank(torch.randn(12, 2)), torch.randn(9, 1, 32, 32)
    at_once = bank(x)
    monkeypatch.setattr("scn.core.bank.AT_ONCE", 12 * 1024 * 2)
    torch.testing.assert_close(bank(x), at_once)


def test_distance_goes_the_shorter_way_round_a_circle() -> None:
    rotation, translation = transforms.get("rotation"), transforms.get("translation")
    angles = torch.tensor([[350.0], [90.0], [0.0]])
    torch.testing.assert_close(
        rotation.distance(angles, torch.tensor([10.0])) * 360, torch.tensor([20.0, 80.0, 10.0])
    )
    ends = translation.distance(torch.tensor([-8.0, 0.0]), torch.tensor([8.0, 2.0]))
    assert ends.item() == 1.0, "the largest of both, as a share of the range"


@pytest.mark.parametrize("method", ["grid", "refine", "coarse-to-fine"])
def test_a_batch_tells_its_angle(run: Run, net: SCN, method: str) -> None:
    shown = batches(run, 8)
    found = search.get(method)(net, run.transform())(shown.x, len(shown.params))
    apart = 360 * run.transform().distance(found.params, shown.params)
    assert apart.median() < 6
    known = accuracy(known_outputs(net, shown, run.transform()), shown.labels)
    assert accuracy(found.logits, shown.labels) > known - 0.02
    asked_again = net(shown.x, run.transform().encode(found.params))
    torch.testing.assert_close(found.logits, asked_again, rtol=1e-3, atol=1e-3)


def test_a_network_with_nodes_is_searched_too(tmp_path: Path) -> None:
    """Its evidence leans towards the nodes, 45 degrees apart: the angle is found less exactly than by a
    learned map, but the nearer node is."""
    run = trained(tmp_path / "run", "nodes", evidence_weight=0.5, epochs=20)
    net, shown = run.network().eval(), batches(run, 8)
    assert isinstance(net, SCN)
    found = search.get("grid")(net, run.transform())(shown.x, len(shown.params))
    known = accuracy(known_outputs(net, shown, run.transform()), shown.labels)
    assert (360 * run.transform().distance(found.params, shown.params)).median() < 45 / 2
    assert accuracy(found.logits, shown.labels) > known - 0.05


def test_groups_are_searched_each_for_itself(run: Run, net: SCN) -> None:
    shown, way = batches(run, 4), search.Refine(net, run.transform())
    together = way(shown.x[:20], groups=5)
    alone = [way(part) for part in shown.x[:20].split(4)]
    torch.testing.assert_close(together.params, torch.cat([f.params for f in alone]), atol=0.05, rtol=0)


def test_refining_lowers_the_doubt(run: Run, net: SCN) -> None:
    shown, transform = batches(run, 4), run.transform()
    refined = search.Refine(net, transform, steps=12, newton=3)
    before, after = refined.start(shown.x, len(shown.params)), refined(shown.x, len(shown.params))
    first, last = (refined.doubts(found.logits, len(shown.params)) for found in (before, after))
    assert (last <= first + 1e-5).all()
    assert (last < first - 0.01).float().mean() > 0.8, "15 degrees off is far from the bottom"
    assert after.evaluations == 12 + 3 + 1


def test_refining_works_in_two_dimensions() -> None:
    """A bowl whose bottom is known: the mixture is made to depend on the distance to one place."""

    class Bowl(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(1))

        def forward(self, x: Tensor) -> Tensor:
            return torch.stack([self.weight.expand(len(x)), torch.zeros(len(x))], dim=1)

    class Place(Map):
        bounded = False

        def forward(self, alpha: Tensor) -> Tensor:
            far = (alpha - torch.tensor([0.3, -0.2])).square().sum(dim=-1, keepdim=True)
            return torch.cat([4 - far, far - 3], dim=-1)

    transform = transforms.get("translation")
    net = SCN(Bowl(), alpha_dim=2, dims=2)
    with torch.no_grad():
        net.theta.copy_(torch.tensor([[1.0], [0.0]]))
    net.map = Place(net.map.space, 2)
    found = search.Refine(net, transform, steps=4, newton=4)(torch.zeros(2, 1))
    bottom = found.params[0] / 8
    torch.testing.assert_close(bottom, torch.tensor([0.3, -0.2]), atol=0.02, rtol=0)


@pytest.mark.parametrize(("exact", "hops"), [(False, 100), (True, 8)])
def test_basin_hopping_finds_the_valley_that_the_grid_finds(
    run: Run, net: SCN, exact: bool, hops: int
) -> None:
    x = batches(run, 16).x[:16]
    hopping = search.BasinHopping(net, run.transform(), hops=hops, exact=exact, doubt="evidence")
    found, by_grid = hopping(x), search.Grid(net, run.transform())(x)
    assert found.evaluations > hops
    assert 360 * run.transform().distance(found.params, by_grid.params).item() < 10


def test_four_mounting_positions_are_told_apart(run: Run, net: SCN) -> None:
    images, _ = data.load("digits").split("test")
    transform, positions = run.transform(), torch.tensor([[0.0], [90.0], [180.0], [270.0]])
    truth = positions.repeat(28, 1)
    x = run.normalisation()(transform.apply(to_float(images[:448]), truth))
    found = search.search(net, x, transform, "candidates", groups=112, candidates=positions)
    assert found.evaluations == 4
    assert (found.params == truth).float().mean() > 0.97


def test_coarse_to_fine_keeps_to_its_budget_and_says_how_far_off_it_may_be(run: Run, net: SCN) -> None:
    shown = batches(run, 16)
    rough, fine = (search.CoarseToFine(net, run.transform(), budget=b) for b in (24, 48))
    found = [way(shown.x, len(shown.params)) for way in (rough, fine)]
    assert found[0].evaluations <= 24
    assert found[1].evaluations <= 48
    rougher, finer = (part.error for part in found)
    assert rougher is not None
    assert finer is not None
    assert (finer < rougher).all()
    assert (rougher <= 360 / 12).all()
    with pytest.raises(ValueError, match="budget of 3 is too small for 1 parameter"):
        search.CoarseToFine(net, run.transform(), budget=3)


def test_an_estimator_finds_the_angle_alone_and_as_a_start(run: Run, net: SCN) -> None:
    images, _ = data.load("digits").split("train")
    transform, normalise = run.transform(), run.normalisation()
    estimator = search.train_estimator(
        images, transform, lambda x, p: normalise(transform.apply(to_float(x), p)), steps=600
    )
    shown, alone = batches(run, 8), search.Estimated(net, transform, estimator)
    found = alone(shown.x, len(shown.params))
    assert found.evaluations == 1
    assert 360 * transform.distance(found.params, shown.params).median() < 10
    refined = search.Refine(net, transform, start=alone)(shown.x, len(shown.params))
    doubts = [alone.doubts(part.logits, len(shown.params)).mean() for part in (refined, found)]
    assert doubts[0] < doubts[1]


def found_with(doubts: list[float], batch: int = 1) -> Found:
    candidates = torch.arange(0, 360, 10.0).view(-1, 1)
    values = torch.tensor(doubts).view(-1, 1)
    return Found(candidates[:1], torch.zeros(batch, 10), len(candidates), values, candidates)


def test_every_explanation_of_an_ambiguous_input_is_returned_with_its_weight(net: SCN) -> None:
    way = search.Grid(net, transforms.get("rotation"))
    doubts = [5.0] * 36
    doubts[3], doubts[4], doubts[21] = 0.0, 0.5, 0.0  # 30 degrees, with a flank at 40, and 210 degrees
    params, weights = way.explanations(found_with(doubts))
    assert params.flatten().tolist() == [30.0, 210.0]
    assert weights.sum().item() == pytest.approx(1)
    assert weights[0] > weights[1] > 0.3
    params, weights = way.explanations(found_with(doubts, 20))
    assert weights[1].item() == pytest.approx(0.5, abs=0.01), "the flank has lost, the two ends have not"
    doubts[21] = 4.0
    params, _ = way.explanations(found_with(doubts, 4))
    assert params.flatten().tolist() == [30.0]


def test_one_valley_of_two_parameters_is_one_explanation() -> None:
    transform = transforms.get("translation")
    way = search.Grid(SCN(MLP(), alpha_dim=2, dims=2), transform)
    valley = (way.candidates - torch.tensor([2.0, -3.0])).square().sum(dim=1, keepdim=True) / 4.5
    found = Found(way.candidates[:1], torch.zeros(1, 10), len(valley), valley, way.candidates)
    params, weights = way.explanations(found)
    assert params.tolist() == [[2.0, -3.0]]
    assert weights.tolist() == [1.0]


@pytest.mark.parametrize("drift", [0.0, 0.5, 2.0, 5.0, 12.0])
def test_a_belief_spreads_as_fast_as_the_setting_may_drift(net: SCN, drift: float) -> None:
    tracker = Tracker(net, transforms.get("rotation"), drift=drift, jump=0.0)
    offset = tracker.search.offset(tracker.candidates.unsqueeze(0), tracker.candidates.unsqueeze(1))
    moved = (tracker.move * offset.squeeze(-1).square()).sum(dim=1).sqrt()
    torch.testing.assert_close(moved, torch.full_like(moved, drift), rtol=0.02, atol=1e-4)
    torch.testing.assert_close(tracker.move.sum(dim=1), torch.ones(len(tracker.move)))


def test_a_belief_at_the_end_of_a_range_moves_to_where_the_setting_may() -> None:
    transform = transforms.get("scaling")
    tracker = Tracker(SCN(MLP(), transform.alpha_dim, dims=2), transform, drift=0.3, jump=0.0)
    tracker.belief = torch.eye(len(tracker.belief))[0]
    tracker(torch.full((1, 32, 32), float("nan")))
    torch.testing.assert_close(tracker.belief, tracker.move[0])
    assert tracker.belief.sum().item() == pytest.approx(1)


def test_a_tracker_takes_one_input_at_a_time(net: SCN) -> None:
    tracker = Tracker(net, transforms.get("rotation"), drift=1.0)
    assert tracker(torch.rand(1, 32, 32)).logits is not None
    with pytest.raises(ValueError, match="one input at a time, but got a batch of 2"):
        tracker(torch.rand(2, 1, 32, 32))
    with pytest.raises(ValueError, match="drift must be one number"):
        Tracker(net, transforms.get("rotation"), drift=[1.0, 2.0])


def test_a_bank_works_under_autocast_and_lets_the_backbone_refuse_an_input(net: SCN) -> None:
    x, alpha = torch.rand(3, 1, 32, 32), torch.randn(12, 2)
    exact = net.bank(alpha)(x)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(net.bank(alpha)(x).float(), exact, rtol=0.1, atol=0.3)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        net.bank(alpha)(torch.rand(3, 1, 28, 28))


def test_refining_a_grid_of_one_value_stays_finite() -> None:
    transform = transforms.get("scaling")
    way = search.Refine(SCN(MLP(), transform.alpha_dim, dims=2), transform, steps=1)
    assert torch.isfinite(way(torch.rand(2, 1, 32, 32)).params).all()


def stream(run: Run, angles: Tensor) -> tuple[Tensor, Tensor]:
    images, labels = data.load("digits").split("test")
    chosen = torch.randint(len(images), (len(angles),), generator=torch.Generator().manual_seed(0))
    x = run.transform().apply(to_float(images[chosen]), angles.view(-1, 1))
    return run.normalisation()(x), labels[chosen]


def test_the_tracker_follows_a_drift_and_recovers_from_a_jump(run: Run, net: SCN) -> None:
    walk = torch.randn(240, generator=torch.Generator().manual_seed(1)) * 2
    walk[120] = 150.0
    angles = walk.cumsum(0) % 360
    x, labels = stream(run, angles)
    tracker = Tracker(net, run.transform(), drift=2.0)
    tracked = [tracker(sample) for sample in x]
    apart = 360 * run.transform().distance(torch.stack([t.params for t in tracked]), angles.view(-1, 1))
    assert apart[10:120].median() < 6
    assert apart[135:].median() < 6
    outputs = torch.stack([t.logits for t in tracked if t.logits is not None])
    with torch.no_grad():
        known = net(x, run.transform().encode(angles.view(-1, 1)))
    assert accuracy(outputs[10:], labels[10:]) > accuracy(known[10:], labels[10:]) - 0.03


def test_the_tracker_mixes_weights_only_when_that_pays(run: Run, net: SCN) -> None:
    x, _ = stream(run, torch.full((60,), 75.0))
    tracker = Tracker(net, run.transform(), drift=0.5, jump=0.001)
    tracked = [tracker(sample) for sample in x]
    assert tracked[0].reconfigured
    assert sum(t.reconfigured for t in tracked[20:]) <= 4
    assert tracked[-1].spread < tracked[0].spread
    assert not tracked[-1].lost


def test_an_input_with_nan_is_skipped_and_does_no_harm(run: Run, net: SCN) -> None:
    x, _ = stream(run, torch.full((12,), 200.0))
    tracker = Tracker(net, run.transform(), drift=1.0)
    for sample in x[:10]:
        before = tracker(sample)
    spoilt = x[10].clone()
    spoilt[0, 3, 3] = float("nan")
    skipped = tracker(spoilt)
    assert skipped.logits is None
    assert not skipped.reconfigured
    assert run.transform().distance(skipped.params, before.params).item() * 360 < 2
    assert torch.isfinite(tracker.belief).all()
    assert tracker(x[11]).logits is not None


def test_a_tracker_that_knows_nothing_says_that_it_is_lost(run: Run, net: SCN) -> None:
    spoilt = torch.full((1, 32, 32), float("nan"))
    assert Tracker(net, run.transform(), drift=1.0)(spoilt).lost


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_images_are_searched_without_an_error(run: Run, net: SCN, value: float) -> None:
    found = search.search(net, torch.full((2, 1, 32, 32), value), run.transform(), "refine")
    assert torch.isfinite(found.params).all()
    assert torch.isfinite(found.logits).all()


def test_bad_input_is_named(run: Run, net: SCN) -> None:
    transform, way = run.transform(), search.Grid(net, run.transform())
    with pytest.raises(ValueError, match="not finite"):
        way(torch.full((1, 1, 32, 32), float("nan")))
    with pytest.raises(ValueError, match="3 inputs cannot be shared out over 2 groups"):
        way(torch.zeros(3, 1, 32, 32), groups=2)
    with pytest.raises(ValueError, match="no candidates"):
        search.Candidates(net, transform, torch.zeros(0, 1))
    with pytest.raises(TypeError, match="needs an SCN"):
        search.Grid(MLP(), transform)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"entropy.*evidence|evidence.*entropy"):
        search.Grid(net, transform, doubt="entrpy")
    with pytest.raises(ValueError, match="no search method"):
        search.search(net, torch.zeros(1, 1, 32, 32), transform, "gird")
    with pytest.raises(ValueError, match="jump is a probability"):
        Tracker(net, transform, drift=1.0, jump=1.5)
    empty = copy.copy(transform)
    empty.parameters = ()
    with pytest.raises(ValueError, match="no parameters"):
        search.Grid(net, empty)


def test_test_time_augmentation_is_a_mean_over_the_candidates_undone(run: Run) -> None:
    transform, raw = run.transform(), torch.rand(3, 1, 32, 32)
    plain, candidates = MLP().eval(), torch.tensor([[0.0], [90.0]])
    averaged = average_undone(plain, raw, transform, candidates, lambda x: x)
    turned = transform.invert(raw, torch.tensor([90.0]))
    expected = (plain(raw).softmax(dim=1) + plain(turned).softmax(dim=1)) / 2
    torch.testing.assert_close(averaged, expected)


def test_the_command_reports_each_batch_size(run: Run, tmp_path: Path) -> None:
    rival = runs.create(
        tmp_path / "rival", plan_run("digits", "rotation", "mlp", "one4all", Recipe(epochs=2, batch_size=64))
    )
    train(rival, backbone_of(rival), device="cpu", prefetch=False)
    result = scn_command(
        "search", str(run.folder), "--batch-size", "1,8", "--steps", "36", "--samples", "200",
        "--beside", str(rival.folder), "--json",
    )  # fmt: skip
    assert result.code == 0, result.err
    assert "warning" not in result.err
    rows = json.loads(result.out)["rows"]
    assert [row["batch_size"] for row in rows] == [1, 8]
    assert [row["evaluations"] for row in rows] == [36, 36]
    assert rows[1]["accuracy"] > rows[1]["beside"]["one4all"] + 0.05
    assert {"accuracy", "known_accuracy", "seconds"} <= set(rows[0])
    assert (run.folder / "search-grid.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_keeps_an_estimator_with_the_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(run.folder, tmp_path / "run")
    train_briefly = partial(search.train_estimator, steps=60)  # so that there is much left to refine
    monkeypatch.setattr("scn.search.train_estimator", train_briefly)
    for seed in range(3):
        others = ("--batch-size", "8", "--samples", "160", "--seed", str(seed), "--json")
        first = scn_command("search", str(folder), *others, "--method", "estimator")
        again = scn_command("search", str(folder), *others, "--method", "refine", "--start", "estimator")
        assert ("training an estimator" in first.err) == (seed == 0)
        assert "training an estimator" not in again.err
        alone, refined = (json.loads(result.out)["rows"][0] for result in (first, again))
        assert alone["off"] < 10
        assert alone["evaluations"] == 1
        assert refined["evaluations"] == 3
        assert refined["off"] < alone["off"]


def test_the_command_follows_a_stream(run: Run) -> None:
    result = scn_command("search", str(run.folder), "--stream", "200", "--drift", "2", "--json")
    assert result.code == 0, result.err
    summary = json.loads(result.out)
    assert summary["inputs"] == 200
    assert summary["jumps"] == 4
    assert summary["recovered"] >= 0.75
    assert summary["accuracy"] > summary["known_accuracy"] - 0.05
    assert (run.folder / "search-stream.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_evaluates_without_being_told_the_setting(run: Run) -> None:
    told = scn_command("evaluate", str(run.folder), "--step", "60", "--json")
    found = scn_command("evaluate", str(run.folder), "--step", "60", "--invariant", "--json")
    assert found.code == 0, found.err
    assert abs(json.loads(found.out)["mean"] - json.loads(told.out)["mean"]) < 0.02
    assert (run.folder / "scores-invariant-grid-16.csv").is_file()


def test_a_short_stream_has_no_jumps_to_recover_from(run: Run) -> None:
    result = scn_command("search", str(run.folder), "--stream", "50", "--json")
    assert result.code == 0, result.err
    assert json.loads(result.out)["recovered"] is None


def test_options_of_an_invariant_evaluation_need_it(run: Run) -> None:
    result = scn_command("evaluate", str(run.folder), "--batch-size", "4")
    assert result.code == 2
    assert "for --invariant" in result.err


def test_a_run_that_was_not_trained_for_search_is_warned_of(tmp_path: Path) -> None:
    blind = trained(tmp_path / "blind", epochs=10)
    result = scn_command("search", str(blind.folder), "--batch-size", "1", "--samples", "100")
    assert result.code == 0, result.err
    assert "was not trained for a search" in result.err
    assert "% of inputs have less doubt at the right setting" in result.err
    assert "--evidence-weight" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "grid", "--budget", "9"), "grid takes no --budget"),
        (("--method", "candidates"), "candidates needs --candidates"),
        (("--method", "refine", "--start", "luck"), "starts on a grid or at an estimator"),
        (("--drift", "2"), "--drift is for a --stream"),
        (("--stream", "50", "--method", "estimator"), "leave out --method"),
        (("--stream", "50", "--samples", "9"), "a --stream takes no --samples"),
        (("--samples", "5", "--batch-size", "16"), "a batch size must be from 1 to 5"),
        (("--method", "candidates", "--candidates", ";"), "needs settings of angle"),
        (("--batch-size", "0"), "--batch-size must be at least 1"),
        (("--batch-size", "100000"), "a batch size must be from 1 to"),
        (("--objective", "hope"), "there is no measure of doubt"),
    ],
)
def test_wrong_usage_of_the_command(run: Run, arguments: tuple[str, ...], message: str) -> None:
    result = scn_command("search", str(run.folder), *arguments)
    assert result.code == 2
    assert message in result.err


def test_a_plain_network_has_nothing_to_search(tmp_path: Path) -> None:
    rigid = runs.create(
        tmp_path / "rigid", plan_run("digits", "rotation", "mlp", "one4all", Recipe(epochs=1, batch_size=64))
    )
    train(rigid, backbone_of(rigid), device="cpu", prefetch=False)
    result = scn_command("search", str(rigid.folder))
    assert result.code == 2
    assert "is a one4all" in result.err


def test_every_method_that_trains_for_search_keeps_its_terms_as_means() -> None:
    method = methods.get("scn")(
        transforms.get("rotation"), Recipe(evidence_weight=0.5, entropy_weight=0.2), 3
    )
    net = method.build(MLP)
    x, y = torch.randn(4, 1, 32, 32), torch.tensor([0, 1, 2, 3])
    alphas = method.alphas(transforms.get("rotation").sample(2), torch.Generator().manual_seed(0))
    once = method.loss(net, x, y, alphas)
    twice = method.loss(net, x.repeat_interleave(2, 0), y.repeat_interleave(2), alphas)
    torch.testing.assert_close(once, twice, rtol=1e-4, atol=1e-5)


def test_a_study_measures_the_same_inputs_whatever_the_method(run: Run, net: SCN) -> None:
    shown = batches(run, 16)
    rows = [
        study(way(net, run.transform()), shown, 16, run.objective()) for way in (search.Grid, search.Refine)
    ]
    assert rows[0].known == rows[1].known
    assert rows[1].entropy == pytest.approx(rows[0].entropy, abs=0.05)


@pytest.mark.slow
def test_an_estimator_reads_the_speed_of_sound_and_soon() -> None:
    """From a summary of the sound: the samples themselves would leave it as good as guessing."""
    generator = torch.Generator().manual_seed(0)
    pitches = 0.05 + 0.1 * torch.rand(300, 1, generator=generator)
    waves = torch.sin(torch.arange(4000) * pitches) * torch.rand(300, 1, generator=generator)
    samples = (32767 * waves).to(torch.int16).unsqueeze(1)
    speed = transforms.get("speed")
    asked: list[int] = []

    def shown(x: torch.Tensor, params: torch.Tensor) -> torch.Tensor:
        asked.append(len(x))
        return speed.apply(to_float(x), params)

    counted: list[range] = []

    def count(steps: range) -> range:
        counted.append(steps)
        return steps

    estimator = train_estimator(samples[:250], speed, shown, steps=600, progress=count)
    assert counted == [range(600)]
    assert sum(asked) <= 1 + KEPT  # changing sound is what takes long
    params = speed.sample(50, generator)
    grid = speed.grid(200)
    alpha = estimator(speed.apply(to_float(samples[250:]), params)).detach()
    found = grid[torch.cdist(alpha, speed.encode(grid)).argmin(dim=1)]
    assert speed.distance(found, params).median() < 0.05  # a guess is off by a quarter


def test_training_an_estimator_shows_progress(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(run.folder, tmp_path / "run")
    monkeypatch.setattr("scn.search.train_estimator", partial(search.train_estimator, steps=50))
    monkeypatch.setattr("scn.cli.progress.LINE_SECONDS", 0.0)
    result = scn_command("search", str(folder), "--method", "estimator", "--batch-size", "8")
    assert result.code == 0, result.err
    assert re.search(r"training an estimator of the setting: 50%, about \d+ s left", result.err)
