"""Runs are named after their content: the same content has the same name, another one has another."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scn.experiment.plan import plan_run
from scn.experiment.store import content_key, run_name
from scn.runs import RunConfig
from scn.training.recipe import Recipe


def planned(data: str = "digits", method: str = "scn", **more: Any) -> RunConfig:
    return plan_run(data, "rotation", "mlp", method, Recipe(epochs=3), **({"dims": 3} | more))


def test_the_same_content_has_the_same_key() -> None:
    assert content_key(planned()) == content_key(planned())
    assert len(content_key(planned())) == 64


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"dims": 4},
        {"method": "film"},
        {"preset": "paper"},
        {"fixed": [10.0]},
        {"subspace": "low-rank:2"},
        {"map": {"name": "experts"}},
        {"checksum": "another"},
        {"objective": {"name": "regression"}},
        {"normalisation": {"mean": (0.5,), "deviation": (0.5,)}},
        {"source": {"epochs": [2]}},
    ],
)
def test_whatever_decides_the_result_changes_the_key(change: dict[str, Any]) -> None:
    config = planned()
    assert content_key(replace(config, **change)) != content_key(config)


def test_every_value_of_the_recipe_changes_the_key() -> None:
    config = planned()
    keys = {content_key(replace(config, recipe={**config.recipe, name: "x"})) for name in config.recipe}
    assert len(keys | {content_key(config)}) == len(config.recipe) + 1


def test_what_computes_changes_the_key_and_what_does_not_leaves_it() -> None:
    config = planned()
    for name, changes in (("scn", True), ("torch", True), ("python", False), ("numpy", False)):
        other = replace(config, versions={**config.versions, name: "0.0.1"})
        assert (content_key(other) != content_key(config)) == changes


def test_data_are_known_by_what_they_hold(small_data: str, tmp_path: Path) -> None:
    moved = tmp_path / "moved.npz"
    shutil.copy(small_data, moved)
    assert content_key(planned(small_data)) == content_key(planned(str(moved)))
    assert content_key(planned(small_data)) != content_key(planned())


def test_equal_numbers_are_equal_however_they_are_written() -> None:
    config = planned()
    whole, broken = ({**config.recipe, "weight_decay": zero} for zero in (0, 0.0))
    assert content_key(replace(config, recipe=whole)) == content_key(replace(config, recipe=broken))


@pytest.mark.parametrize(
    ("said", "readable"),
    [
        ({"map": "nodes"}, "scn-nodes-d3-seed0"),
        ({"map": "nodes", "subspace": "factored:4"}, "scn-nodes-factored.4-d3-seed0"),
        ({"method": "one4all", "seed": 2}, "one4all-seed2"),
        ({"method": "one4one", "fixed": [30.0]}, "one4one-30-seed0"),
        ({"method": "wider", "dims": 2}, "wider-2x-seed0"),
    ],
)
def test_a_name_says_what_the_run_is_and_ends_in_its_key(said: dict[str, Any], readable: str) -> None:
    config = planned(**said)
    assert run_name(config) == f"rotation-mlp-digits-{readable}-{content_key(config)[:10]}"


def test_a_name_is_one_folder_whatever_the_parts_are_called(tmp_path: Path) -> None:
    config = replace(planned(), transform="my.parts:Turn/+blur", data="a:b", backbone={"class": "x" * 300})
    (tmp_path / run_name(config)).mkdir()
    assert len(list(tmp_path.iterdir())) == 1
