"""The map and the subspace of a planned run: what suits the change, where nodes stand, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from commands import run
from scn import runs, transforms
from scn.core.errors import ScnError
from scn.core.maps import Experts, Nodes
from scn.core.network import SCN
from scn.experiment.choice import choose
from scn.experiment.plan import plan_run
from scn.methods import SubspaceConfigurable
from scn.methods import get as method
from scn.runs import RunConfig
from scn.training.recipe import Recipe

SMALL = ("--data", "digits", "--epochs", "1", "--width", "8", "--quiet")


def plan(transform: str = "rotation", dims: int = 8, **more: Any) -> RunConfig:
    return plan_run("digits", transform, "mlp", more.pop("method", "scn"), Recipe(), dims=dims, **more)


@pytest.mark.parametrize(
    ("transform", "dims", "expected"),
    [
        ("rotation", 8, "nodes"),
        ("rotation", 1, "nodes"),
        ("rotation", 7, "nodes"),
        ("scaling", 5, "nodes"),
        ("translation", 9, "nodes"),
        ("translation", 6, "nodes"),
        ("translation", 5, "learned"),  # fits no grid
        ("translation", 3, "learned"),
        ("rotation+scaling", 8, "nodes"),
        ("rotation+scaling", 10, "learned"),
        ("rotation-3d", 8, "learned"),
        ("light", 8, "nodes"),
    ],
)
def test_the_usual_map_follows_from_the_kind_of_change(transform: str, dims: int, expected: str) -> None:
    assert SubspaceConfigurable.usual_map(transforms.get(transform), dims) == expected


@pytest.mark.parametrize(
    ("transform", "weights", "expected"),
    [
        ("rotation", {"evidence_weight": 0.5}, "fourier"),
        ("rotation", {"entropy_weight": 0.3, "wrong_entropy_weight": 0.3}, "fourier"),
        ("rotation", {}, "nodes"),
        ("scaling", {"evidence_weight": 0.5}, "nodes"),  # only circles were measured
    ],
)
def test_an_angle_that_is_to_be_found_gets_fourier_series(
    transform: str, weights: dict[str, float], expected: str
) -> None:
    planned = plan_run("digits", transform, "mlp", "scn", Recipe(**weights), dims=5)  # type: ignore[arg-type]
    assert planned.map["name"] == expected
    named = plan_run("digits", transform, "mlp", "scn", Recipe(**weights), dims=5, map="learned")  # type: ignore[arg-type]
    assert named.map["name"] == "learned"


def test_a_transform_that_does_not_say_what_its_alpha_are_gets_the_learned_map() -> None:
    class Unknown(transforms.Translation):
        def encodings(self) -> Any:
            return None

    assert SubspaceConfigurable.usual_map(Unknown(), 8) == "learned"
    placed = SubspaceConfigurable(Unknown(), Recipe(), 8, map={"name": "nodes"})
    with pytest.raises(
        ScnError, match=r"does not say what its alpha are: give it encodings\(\) or space\(\)"
    ):
        placed.make_map()
    assert SubspaceConfigurable(Unknown(), Recipe(), 8).make_map().dims == 8


def test_every_transform_has_a_usual_map_that_can_be_made() -> None:
    for name in transforms.registry:
        for dims in (1, 2, 3, 4, 8, 16):
            transform = transforms.get(name)
            usual = SubspaceConfigurable.usual_map(transform, dims)
            made = SubspaceConfigurable(transform, Recipe(), dims, map={"name": usual}).make_map()
            beta = made(transform.encode(transform.sample(10)))
            torch.testing.assert_close(beta.sum(dim=-1), torch.ones(10))


def test_what_a_person_names_goes_before_what_is_usual() -> None:
    assert plan().map == {"name": "nodes"}
    assert plan(map="learned").map == {"name": "learned"}
    assert plan(map="experts", subspace="factored:16").subspace == "factored:16"


def test_the_recipe_of_the_paper_has_the_published_map() -> None:
    assert choose(recipe="paper").map == "learned"
    assert choose(recipe="paper", map="nodes").map == "nodes"
    assert choose().map is None
    task = "rotation/mlp/fashion-mnist"
    assert choose(task=task, budget="paper").map == "learned"
    assert choose(task=task, budget="cpu").map is None
    assert choose(task=task, budget="paper", map="experts").map == "experts"


def test_base_models_with_a_place_start_alike_and_learned_ones_apart() -> None:
    assert (plan().recipe["base_noise"], plan().recipe["together"]) == (0.05, 0.5)
    assert (plan(map="learned").recipe["base_noise"], plan(map="learned").recipe["together"]) == (0, 0)
    assert (
        plan_run("digits", "rotation", "mlp", "scn", Recipe(base_noise=0.1), dims=3).recipe["base_noise"]
        == 0.1
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"map": "node"}, 'there is no map "node"'),
        (
            {"map": "nodes", "transform": "translation", "dims": 7},
            "7 base models do not fit a grid .* dims=6 or 8",
        ),
        ({"map": "fourier", "transform": "translation", "dims": 7}, "do not fit a grid"),
        ({"map": "categories"}, "categories is for the number of a category"),
        ({"map": "own:Map"}, "only where you allow it"),
        ({"subspace": "factored:1000"}, "finds no wide layer"),
        ({"subspace": "small"}, "there is no subspace 'small'"),
        ({"method": "one4all", "map": "nodes"}, "one4all mixes no base models: leave out `map`"),
        ({"method": "one4all", "subspace": "factored:8"}, "mixes no base models: leave out `subspace`"),
    ],
)
def test_what_cannot_be_planned_is_explained(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ScnError, match=message):
        plan(**more)


def readings(folder: Path, light: np.ndarray) -> str:
    rng, count = np.random.default_rng(0), len(light)
    arrays: dict[str, Any] = {}
    for split in ("train", "test"):
        arrays[f"x_{split}"] = rng.integers(0, 1000, (count, 3)).astype(np.int16)
        arrays[f"y_{split}"] = (arrays[f"x_{split}"][:, 0] > 500).astype(np.uint8)
        arrays[f"params_{split}"] = light.astype(np.float32).reshape(-1, 1)
    np.savez(folder / "mine.npz", **arrays)
    return str(folder / "mine.npz")


def planned_map(data: str, name: str | None, dims: int, **changes: Any) -> dict[str, Any]:
    recipe = Recipe(batch_size=64).changed(**changes)
    return plan_run(data, "light", "mlp", "scn", recipe, dims=dims, map=name).map


def test_nodes_stand_at_quantiles_of_what_a_sensor_measured(tmp_path: Path) -> None:
    light = 10 * np.exp(np.random.default_rng(0).beta(2, 5, 400) * np.log(76))
    data = readings(tmp_path, light)
    found = planned_map(data, None, 5)
    alpha = transforms.get("light").encode(torch.tensor(light).float().unsqueeze(1)).flatten()
    assert found["name"] == "nodes"
    expected = torch.quantile(alpha, torch.linspace(0, 1, 5)).tolist()
    assert found["positions"] == pytest.approx(expected, abs=1e-6)
    nearest = planned_map(data, "experts", 4)
    assert nearest["positions"] == pytest.approx(np.quantile(alpha, [0.125, 0.375, 0.625, 0.875]), abs=1e-5)
    mapped = Nodes((transforms.get("light").space() or ())[:1], 5, positions=found["positions"])
    assert mapped(alpha.unsqueeze(1)).mean(dim=0).min() > 0.05  # none is idle
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(("name", "dims"), [("learned", 4), ("fourier", 4), ("nodes", 1)])
def test_other_maps_have_no_positions(name: str, dims: int, tmp_path: Path) -> None:
    assert planned_map(readings(tmp_path, np.linspace(10, 760, 200)), name, dims) == {"name": name}


def test_readings_of_a_few_values_leave_nodes_at_equal_distances(tmp_path: Path) -> None:
    light = np.repeat([10.0, 100.0, 760.0], 100)
    assert planned_map(readings(tmp_path, light), "nodes", 8) == {"name": "nodes"}
    assert planned_map(readings(tmp_path, np.full(200, 50.0)), "nodes", 2) == {"name": "nodes"}
    outlier = np.concatenate([np.linspace(10, 700, 190), np.full(10, 2000.0)])
    found = planned_map(readings(tmp_path, outlier), "nodes", 4, clamp=True)
    assert found["positions"][-1] == pytest.approx(1)


def test_a_run_at_quantiles_is_trained_read_evaluated_and_resumed(tmp_path: Path) -> None:
    light = 10 * np.exp(np.random.default_rng(0).beta(2, 5, 300) * np.log(76))
    folder = tmp_path / "run"
    small = ("--batch-size", "64", "--epochs", "1", "--width", "4", "--dims", "3", "--quiet")
    data = readings(tmp_path, light)
    made = run("train", "--data", data, "--transform", "light", *small, "-o", str(folder))
    assert made.code == 0, made.err
    opened = runs.read(folder)
    net = opened.method().load(folder / "model.safetensors", runs.backbone_of(opened))
    assert isinstance(net, SCN)
    assert net.map.arguments()["positions"] == opened.config.map["positions"]
    assert run("evaluate", str(folder), "--quiet").code == 0
    longer = run("train", "--resume", str(folder), "--epochs", "2", "--quiet")
    assert longer.code == 0, longer.err
    assert runs.read(folder).config.map == opened.config.map


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--map", "nods"), 'there is no map "nods". Did you mean "nodes"'),
        (("--map", "own.module:Map"), 'the map "own.module:Map" cannot be imported'),
        (("--map", "nodes", "--transform", "translation", "--dims", "5"), "choose dims=4 or 6"),
        (("--subspace", "factored"), "there is no subspace 'factored': say one of full, factored:R"),
        (("--subspace", "factored:400"), "finds no wide layer"),
        (("--subspace", "shared:nothing*"), "shares no parameter"),
        (("--method", "one4all", "--map", "nodes"), "mixes no base models: leave out"),
        (("--method", "one4all", "--subspace", "factored:8"), "mixes no base models: leave out"),
        (("--map", "categories"), "categories is for the number of a category"),
    ],
)
def test_a_wrong_choice_is_one_line_and_leaves_nothing(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    result = run("train", *SMALL, *words, "-o", str(tmp_path / "run"))
    assert result.code == 2
    assert message in result.err
    assert len(result.err.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_the_choice_is_kept_in_the_run_and_bases_in_use_are_counted(tmp_path: Path) -> None:
    chosen = ("--map", "experts", "--dims", "16", "--subspace", "factored:16")
    made = run("train", *SMALL, *chosen, "-o", str(tmp_path / "run"))
    assert made.code == 0, made.err
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (config["map"], config["subspace"]) == ({"name": "experts"}, "factored:16")
    (line,) = [json.loads(text) for text in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert line["active_bases"] == 16
    assert line["effective_bases"] > 15
    opened = runs.read(tmp_path / "run")
    net = opened.method().load(tmp_path / "run" / "model.safetensors", runs.backbone_of(opened))
    assert isinstance(net, SCN)
    assert type(net.map) is Experts
    assert net.compact is not None
    resumed = run("train", "--resume", str(tmp_path / "run"), "--map", "nodes")
    assert resumed.code == 2
    assert "leave out --map" in resumed.err


def test_a_run_with_a_map_of_a_newer_version_is_explained(tmp_path: Path) -> None:
    folder = runs.create(tmp_path / "run", plan()).folder
    content = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**content, "map": {"name": "splines"}}))
    result = run("evaluate", str(folder))
    assert result.code != 0
    resumed = run("train", "--resume", str(folder), "--quiet")
    assert resumed.code == 2
    assert 'there is no map "splines"' in resumed.err


def test_methods_that_mix_nothing_have_no_map() -> None:
    assert method("one4all").usual_map(transforms.get("rotation"), 8) == "learned"
    assert plan(method="one4all", dims=1).map == {"name": "learned"}
