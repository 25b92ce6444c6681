"""The paper's entries: tasks that exist, figures that exist, times that are known; all of them in small."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from commands import run
from needs import emulated, real_data
from scn import methods
from scn.experiment.tasks import TASKS
from scn.plots.figures import FIGURES
from scn.reproduce import costs
from scn.reproduce.entries import ENTRIES
from scn.reproduce.facts import FACTS
from scn.reproduce.parts import BUDGETS
from scn.reproduce.plan import wanted
from scn.reproduce.verdicts import OPEN


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_names_what_there_is(name: str) -> None:
    entry = ENTRIES[name]
    assert {part.task for part in entry.parts} <= TASKS.keys()
    assert {method for part in entry.parts for method in part.methods} <= set(methods.registry)
    assert set(entry.figures) <= FIGURES.keys()
    assert set(entry.measures) <= FACTS.keys()


@pytest.mark.parametrize("budget", BUDGETS)
def test_every_entry_has_runs_in_every_budget(budget: str) -> None:
    for entry in ENTRIES.values():
        found = list(wanted(entry, budget))
        assert found, entry.name
        assert {one.part.task for one in found} == {part.task for part in entry.parts}, entry.name


def test_longer_budgets_train_more_and_the_table_of_times_knows_all() -> None:
    counted = [costs.cost(ENTRIES.values(), budget) for budget in BUDGETS]
    assert counted[0].models < counted[1].models < counted[2].models
    assert 0 < (counted[1].seconds or 0) < (counted[2].seconds or 0)
    assert "not measured, because there was none" in costs.on_paper()[-1]


def test_the_usual_size_is_shared_by_width_and_depth_and_by_the_rotation() -> None:
    of_rotation = {one.key for one in wanted(ENTRIES["rotation"], "full")}
    usual = [one for one in wanted(ENTRIES["capacity"], "full") if one.chosen.data == "fashion-mnist"]
    shared = [one for one in usual if not one.chosen.sizes]
    assert shared
    assert {one.key for one in shared if one.method == "scn"} <= of_rotation


@pytest.mark.parametrize("name", ENTRIES)
def test_networks_that_stand_side_by_side_are_trained_for_equally_long(name: str) -> None:
    epochs: dict[str, set[int]] = {}
    for one in wanted(ENTRIES[name], "cpu"):
        epochs.setdefault(one.part.task, set()).add(one.chosen.recipe.epochs)
    assert all(len(found) == 1 for found in epochs.values())


def test_list_says_every_entry(tmp_path: Path) -> None:
    result = run("reproduce", "list", "--budget", "full", "-o", str(tmp_path / "nowhere"))
    assert result.code == 0, result.err
    assert all(name in result.out for name in ENTRIES)
    assert "GPU: not measured" in result.out


def test_every_entry_works_at_the_smallest_budget(tmp_path: Path) -> None:
    if "SCN_DATA_DIR" not in os.environ:
        real_data("fashion-mnist")
    emulated("cortex-m4f")
    for entry in ENTRIES.values():
        for part in entry.parts:
            real_data(TASKS[part.task].data)
    result = run("reproduce", "all", "--budget", "smoke", "-o", str(tmp_path), "--json", "--quiet")
    assert result.code == 0, result.err
    rows = {row["entry"]: row for row in json.loads(result.out)["rows"]}
    assert rows.keys() == ENTRIES.keys()
    assert {claim["verdict"] for row in rows.values() for claim in row["claims"]} == {OPEN}
    for name, entry in ENTRIES.items():
        for figure in entry.figures:
            assert list((tmp_path / name).glob(f"{figure}*.png")), f"{name} {figure}"
