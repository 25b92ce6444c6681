"""`scn export --search` on a run that was trained for it: C finds what `scn search` finds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor

from commands import run as scn_command
from generated import OK, Program, shared
from needs import tool
from scn import data, runs, search
from scn.core.network import SCN
from scn.data import to_float
from scn.experiment.plan import plan_run
from scn.experiment.search import estimator_of
from scn.experiment.train import train
from scn.runs import Run, backbone_of
from scn.search import Search
from scn.search.stream import walk
from scn.search.study import draw_inputs, inputs_of
from scn.training.recipe import Recipe
from searched import ALIKE, Searcher
from value_runs import make_runs

ANGLES = torch.tensor([[0.0], [90.0], [180.0], [270.0]])


def trained(folder: Path, epochs: int = 6, **changes: float) -> Run:
    recipe = Recipe(epochs=epochs, batch_size=64).changed(**changes)
    run = runs.create(folder, plan_run("digits", "rotation", "mlp", "scn", recipe, dims=4))
    train(run, backbone_of(run), device="cpu", prefetch=False)
    return run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("run") / "finder", evidence_weight=0.5)


@pytest.fixture(scope="module")
def with_estimator(run: Run) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search.estimator.train_estimator, "__defaults__", (60, 0))  # steps, seed
        estimator_of(run)
    return run


def exported(run: Run, folder: Path, text: str, *options: str) -> Searcher:
    """By the command, compiled."""
    done = scn_command("export", str(run.folder), "--to", "c", "-o", str(folder), "--search", text, *options)
    assert done.code == 0, done.err
    assert "warning" not in done.err
    library = shared([folder / "finder.c"], folder / "libfinder.so", tool("gcc"), "-std=c99", "-O2")
    return Searcher(Program(library, "finder", 10, folder / "finder.c"), 1, 2)


def network(run: Run) -> SCN:
    net = run.network()
    assert isinstance(net, SCN)
    return net.eval()


def inputs(run: Run, count: int) -> Tensor:
    """Test samples (count, ...), each under a setting of its own; the test split as often as it takes."""
    drawn = [draw_inputs(run, 1, seed=seed).x for seed in range(1 + count // 450)]
    return torch.cat(drawn)[:count]


def check(way: Search, c: Searcher, x: Tensor, size: int = 1) -> None:
    """C names what Python names, but for ties; and these are less than one in a hundred."""
    groups = x.split(size)
    found = [way(part) for part in groups]
    same = 0
    for own, part in zip(found, groups, strict=True):
        params, _ = c.found(part)
        if torch.equal(params, own.params[0]):
            same += 1
            continue
        doubts = own.doubts[:, 0]
        mine = doubts[(own.candidates == params).all(dim=1)]
        assert mine.min() - doubts.min() <= ALIKE * max(1.0, doubts.abs().max().item())
    assert same >= 0.99 * len(groups)
    assert len({float(own.params) for own in found}) > 3


LENGTHS = [150, pytest.param(1000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("options", [(), ("--theta", "row")], ids=["ram", "row"])
def test_a_grid_finds_what_python_finds(
    run: Run, count: int, options: tuple[str, ...], tmp_path: Path
) -> None:
    c = exported(run, tmp_path, "grid:72", *options)
    way = search.Grid(network(run), run.transform(), 72)
    x = inputs(run, count)
    check(way, c, x)
    check(way, c, x[: len(x) // 5 * 5], 5)


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("doubt", ["evidence", "entropy"])
def test_candidates_find_what_python_finds(run: Run, count: int, doubt: str, tmp_path: Path) -> None:
    c = exported(run, tmp_path, f"candidates:0,90,180,270:by={doubt}")
    check(search.Candidates(network(run), run.transform(), ANGLES, doubt), c, inputs(run, count))


@pytest.mark.parametrize("count", LENGTHS)
def test_a_tracker_believes_what_python_believes(run: Run, count: int, tmp_path: Path) -> None:
    c = exported(run, tmp_path, "tracker:72:drift=3:jump=0.02")
    track = search.Tracker(network(run), run.transform(), 3.0, 0.02, 72)
    angles, jumps = walk(track, count, torch.tensor([3.0]), torch.Generator().manual_seed(0))
    assert len(jumps) > 1
    images = to_float(data.load("digits").split("test")[0]).repeat(3, 1, 1, 1)[:count]
    x, lost = inputs_of(run, images, angles), 0
    for one in x.split(1):
        now = track(one)
        status, params, spread, is_lost = c.track(one)
        assert status == OK
        assert run.transform().distance(params, now.params) <= 1e-4
        assert abs(spread - now.spread) <= 0.01 * now.spread + 0.01
        lost += int(is_lost != now.lost)
    assert lost <= 0.01 * count


@pytest.mark.parametrize("count", LENGTHS)
def test_an_estimator_finds_what_python_finds(with_estimator: Run, count: int, tmp_path: Path) -> None:
    """A tie is an alpha half way between two settings."""
    run = with_estimator
    c, transform, x = exported(run, tmp_path, "estimator"), run.transform(), inputs(run, count)
    estimator = estimator_of(run)
    way = search.Estimated(network(run), transform, estimator)
    with torch.no_grad():
        said = estimator(x).double()
    found = torch.stack([c.found(one)[0] for one in x.split(1)])
    theirs = way(x, len(x)).params
    same = (found == theirs).all(dim=1)
    apart = [(transform.encode(params).double() - said).square().sum(dim=1) for params in (found, theirs)]
    assert ((apart[0] - apart[1]).abs() <= 1e-5)[~same].all()
    assert same.double().mean() >= 0.98  # torch looks alphas up by a product of matrices, in float32
    assert len(theirs.unique()) > 20


def test_the_command_says_what_is_searched(run: Run, tmp_path: Path) -> None:
    arguments = ("export", str(run.folder), "--to", "c", "-o", str(tmp_path), "--json", "--search")
    facts = json.loads(scn_command(*arguments, "grid").out)
    assert facts["search"] == {"way": "grid", "candidates": 72, "doubt": "evidence"}
    facts = json.loads(scn_command(*arguments, "tracker:24:by=entropy").out)
    assert facts["search"] == {"way": "tracker", "candidates": 24, "doubt": "entropy", "jump": 0.01}
    assert "net.c" not in [path.name for path in tmp_path.iterdir()]


def test_a_run_that_was_not_trained_for_it_is_warned_of(tmp_path: Path) -> None:
    plain = trained(tmp_path / "plain", 1)
    done = scn_command("export", str(plain.folder), "--to", "c", "-o", str(tmp_path), "--search", "grid:8")
    assert done.code == 0
    assert "warning" in done.err
    assert "--evidence-weight 0.5" in done.err


WRONG = {
    "gird": 'Did you mean "grid"',
    "grid:many": "whole numbers",
    "grid:0": "at least 1",
    "grid:8:9": "does not know",
    "grid:drift=3": "drift",
    "grid:by=clarity": "measure of doubt",
    "candidates": "candidates",
    "candidates:0,north": "numbers separated by commas",
    "candidates:0,1;2": "settings of",
    "candidates:0;nan": "finite",
    "tracker:jump=2": "jump is a probability",
    "tracker:drift=-1": "drift must be",
    "tracker:drift=1,2": "drift must be",
    "tracker:jump=0.1,0.2": "one number",
    "estimator": "--method estimator",
    "estimator:7": "does not know",
    "estimator:by=entropy": "estimator",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_words_are_refused_in_a_sentence(text: str, tmp_path: Path, run: Run) -> None:
    run.estimator_file.unlink(missing_ok=True)
    folder = tmp_path / "out"
    done = scn_command("export", str(run.folder), "--to", "c", "-o", str(folder), "--search", text)
    assert done.code != 0
    assert WRONG[text] in " ".join(done.err.split()), done.err
    assert "Traceback" not in done.err
    assert not folder.exists()


def test_a_search_is_for_classes(tmp_path: Path) -> None:
    values = make_runs(tmp_path / "runs") / "scn"
    arguments = ("--to", "c", "-o", str(tmp_path / "out"), "--search", "grid")
    done = scn_command("export", str(values), *arguments)
    assert done.code != 0
    assert "probabilities of classes" in " ".join(done.err.split())


def test_a_search_is_for_networks_that_are_configured(tmp_path: Path) -> None:
    run = runs.create(tmp_path / "all", plan_run("digits", "rotation", "mlp", "one4all", Recipe(epochs=1)))
    train(run, backbone_of(run), device="cpu", prefetch=False)
    arguments = ("--to", "c", "-o", str(tmp_path / "out"), "--search", "grid")
    done = scn_command("export", str(run.folder), *arguments)
    assert done.code != 0
    assert "nothing to configure" in " ".join(done.err.split())


def test_what_no_search_helps_is_told_before_an_estimator_is_asked_for(tmp_path: Path) -> None:
    recipe = Recipe(epochs=1, batch_size=256)
    plain = runs.create(tmp_path / "plain", plan_run("digits", "rotation", "mlp", "one4all", recipe))
    train(plain, backbone_of(plain), device="cpu", prefetch=False)
    done = scn_command(
        "export", str(tmp_path / "plain"), "--to", "c", "-o", str(tmp_path / "c"), "--search", "estimator"
    )
    assert (done.code, "has nothing to configure" in done.err) == (2, True), done.err
    assert "scn search" not in done.err


def test_a_grid_of_two_parameters_that_no_memory_holds_is_one_sentence(tmp_path: Path) -> None:
    recipe = Recipe(epochs=1, batch_size=256)
    two = runs.create(tmp_path / "two", plan_run("digits", "rotation+scaling", "mlp", "scn", recipe, dims=2))
    train(two, backbone_of(two), device="cpu", prefetch=False)
    done = scn_command(
        "export", str(two.folder), "--to", "c", "-o", str(tmp_path / "c"), "--search", "grid:1000"
    )
    assert (done.code, "choose at most 70 steps" in done.err) == (2, True), done.err
