"""Sweeps: what a file says becomes runs, each once, and what is finished stays whatever happens."""

from __future__ import annotations

import csv
import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from commands import Result, in_this_process, run
from scn import runs
from scn.core.errors import Failed, NotThere, ScnError
from scn.experiment import engines
from scn.experiment.engines import Ended
from scn.experiment.jobs import Job
from scn.experiment.lock import alone, is_taken
from scn.experiment.sweep import Sweep, plan_sweep, read_sweep
from scn.runs.collection import collect
from scn.training.loop import Diverged

SMALL = "epochs = 1\nwidth = 4\nbatch_size = 32"


def written(folder: Path, text: str) -> Path:
    path = folder / "sweep.toml"
    path.write_text(text)
    return path


def file_for(folder: Path, data: str, grid: str, top: str = "step = 90", shared: str = SMALL) -> Path:
    return written(folder, f'{top}\n[all]\ndata = "{data}"\n{shared}\n{grid}\n')


FOUR = '[grid]\nmethod = ["scn", "one4all"]\ndims = [2, 3, 4]'


def sweep(path: Path, folder: Path, *more: str) -> Result:
    return run("sweep", str(path), "-o", str(folder), "--quiet", *more)


def swept(path: Path, folder: Path, *more: str) -> dict[str, Any]:
    with in_this_process():
        result = sweep(path, folder, "--json", *more)
    assert result.code == 0, result.err
    return json.loads(result.out)


def status(path: Path, folder: Path) -> dict[str, Any]:
    result = sweep(path, folder, "--status", "--json")
    assert result.code == 0, result.err
    return json.loads(result.out)


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "sweep.csv").open() as file:
        return list(csv.DictReader(file))


@contextmanager
def after(jobs: int, then: Callable[[Job], Any]) -> Iterator[None]:
    """The engine of this process, in which `then` comes instead of each job after so many."""

    def carried_out(
        work: Callable[[Path, Job], Any], several: Sequence[Job], folder: Path, at_once: int
    ) -> Iterator[Ended[Job, Any]]:
        for number, job in enumerate(several):
            try:
                result = work(folder, job) if number < jobs else then(job)
            except ScnError as error:
                yield Ended(job, error=error)
            else:
                yield Ended(job, result)

    with mock.patch.dict(engines.registry._entries, local=carried_out):
        yield


def failing(job: Job) -> None:
    raise Failed("the disk is full")


# What a file may say


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("data = 'digits'\nepochs = 3", '"data" must stand below [all], or as a list of values below [grid]'),
        ("sedes = 3", 'it has no key "sedes". Did you mean "seeds"?'),
        ("[all]\nlearning_rat = 1", '[all] has no key "learning_rat". Did you mean "learning_rate"?'),
        ("[grid]\nmap_ = ['nodes']", '[grid] has no key "map_". Did you mean "map"?'),
        ("[search]\ntrails = 3", '[search] has no key "trails". Did you mean "trials"?'),
        ("[grid]\ndims = []", "[grid] dims is an empty list"),
        ("[grid]\ndims = 3", "[grid] dims must be a list, but is 3"),
        ("[grid]\ndims = ['3']", "[grid] dims must be a whole number, but is '3'"),
        ("[all]\ndims = true", "[all] dims must be a whole number, but is True"),
        ("[all]\nlearning_rate = 'low'", "[all] learning_rate must be a number"),
        ("[all]\nclamp = 1", "[all] clamp must be true or false"),
        ("[all]\nmethod = 'oneforall'", 'there is no method "oneforall"'),
        ("[grid]\nbackbone = ['mpl']", 'there is no backbone "mpl". Did you mean "mlp"?'),
        ("[grid]\ntransform = ['rotation+spin']", 'there is no transform "spin"'),
        ("[all]\nbackbone = 'mine:Net'", "is code of your own, which is imported only where you allow it"),
        ("[all]\ndims = 3\n[grid]\ndims = [3]", "dims is in [all] and in [grid]"),
        ("seeds = 0", "seeds must be at least 1"),
        ("seeds = [-1]", "seeds must be at least 0, but is -1"),
        ("seeds = 1.5", "seeds must be a whole number, but is 1.5"),
        ("all = 3", "[all] must be a table, but is 3"),
        ("grid = 3", "[grid] must be a table of lists"),
        ("[all", "is not a TOML file"),
        ("[search]\ndims = [1]", "[search] must say how many trials"),
        ("[search]\ntrials = 0\ndims = [1]", "[search] trials must be at least 1"),
        ("[search]\ntrials = 3", "[search] names nothing to search"),
        ("[search]\ntrials = 3\ndims = [2]\nsampler = 'bayes'", '[search] has no sampler "bayes"'),
        ("[search]\ntrials = 3\ndims = [2]\n[grid]\ndims = [3]", "leave out one, or make two files"),
        ("[search]\ntrials = 3\ndims = {low = 3}", "[search] dims must be"),
        ("[search]\ntrials = 3\ndims = {low = 3, high = 2}", "low must be below high"),
        ("[search]\ntrials = 3\nepochs = {low = 0, high = 2, log = true}", "above 0 for log"),
        ("[search]\ntrials = 3\ndims = {low = 3, hihg = 2}", 'has no key "hihg". Did you mean "high"?'),
        ("[search]\ntrials = 3\ntask = ['rotation/mlp/digits']", "scores of several tasks say nothing"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    result = sweep(path, tmp_path / "out")
    assert result.code == 2
    assert result.err.startswith(f"scn: {path}")
    assert message in result.err
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = sweep(tmp_path / "no.toml", tmp_path / "out")
    assert (result.code, result.err) == (2, f"scn: there is no file {tmp_path / 'no.toml'}\n")


# Which runs a file means


def planned(path: Path) -> list[Job]:
    return plan_sweep(read_sweep(path)).jobs


def test_values_that_do_not_concern_a_method_are_not_crossed_with_it(small_data: str, tmp_path: Path) -> None:
    grid = '[grid]\nmethod = ["scn", "experts", "one4all"]\nmap = ["nodes", "learned"]\ndims = [2, 3]'
    jobs = planned(file_for(tmp_path, small_data, grid, "seeds = 2"))
    kinds = [job.config.method for job in jobs]
    assert {name: kinds.count(name) for name in kinds} == {"scn": 8, "experts": 4, "one4all": 2}
    assert len({job.name for job in jobs}) == len(jobs)


def test_lines_that_come_to_the_same_run_are_one(small_data: str, tmp_path: Path) -> None:
    copied = shutil.copy(small_data, tmp_path / "again.npz")
    grids = "[[grid]]\ndims = [2, 3]\n[[grid]]\ndims = [3, 3, 5]\nweight_decay = [0, 0.0]"
    assert len(planned(file_for(tmp_path, small_data, grids))) == 3
    path = written(tmp_path, f'[all]\n{SMALL}\n[grid]\ndata = ["{small_data}", "{copied}"]')
    assert len(planned(path)) == 1


def test_seeds_are_a_number_or_a_list(small_data: str, tmp_path: Path) -> None:
    for said, seeds in (("2", [0, 1]), ("[5, 3, 5]", [5, 3])):
        jobs = planned(file_for(tmp_path, small_data, "", f"seeds = {said}"))
        assert [job.config.seed for job in jobs] == seeds


def test_a_grid_may_have_tasks_with_their_budgets(tmp_path: Path) -> None:
    path = written(
        tmp_path, '[all]\nbudget = "smoke"\ndims = 3\n[grid]\ntask = ["rotation/mlp/digits"]\nepochs = [1, 3]'
    )
    jobs = planned(path)
    assert [job.config.recipe["epochs"] for job in jobs] == [1, 3]
    assert {job.test.samples for job in jobs} == {16}


def test_a_change_that_cannot_be_undone_is_a_reason(small_data: str, tmp_path: Path) -> None:
    grid = '[grid]\nmethod = ["inverse"]\ntransform = ["rotation-3d"]'
    with pytest.raises(ScnError, match="does not work for rotation-3d: it cannot be undone"):
        planned(file_for(tmp_path, small_data, grid))


def test_a_combination_that_cannot_work_is_named_before_anything_is_trained(
    small_data: str, tmp_path: Path
) -> None:
    maps = '[grid]\nmethod = ["scn", "one4all"]\nmap = ["nodes", "categories"]'
    result = sweep(file_for(tmp_path, small_data, maps), tmp_path / "out")
    assert result.code == 2
    assert "method = scn, map = categories cannot work: the map categories" in result.err
    assert "skip_refused = true" in result.err
    assert not (tmp_path / "out").exists()
    found = plan_sweep(read_sweep(file_for(tmp_path, small_data, maps, "skip_refused = true")))
    assert [job.config.method for job in found.jobs] == ["scn", "one4all"]
    ((combination, reason),) = found.refused.items()
    assert combination.endswith("method = scn, map = categories")
    assert reason.startswith("the map categories")


def test_where_everything_is_refused_nothing_is_left(small_data: str, tmp_path: Path) -> None:
    path = file_for(tmp_path, small_data, "[grid]\nbatch_size = [100000]", "skip_refused = true", "")
    with pytest.raises(ScnError, match="no run is left"):
        plan_sweep(read_sweep(path))


def test_keys_are_called_by_their_names_and_not_by_options(tmp_path: Path) -> None:
    path = written(tmp_path, '[all]\ntask = "rotation/mlp/digits"\ndata = "digits"')
    assert 'a task has its own data: leave out "data"' in sweep(path, tmp_path / "out").err


def test_data_that_are_not_there_are_no_reason_to_leave_runs_out(tmp_path: Path) -> None:
    path = written(tmp_path, 'skip_refused = true\n[grid]\ndata = ["digits", "no.npz"]')
    with pytest.raises(NotThere, match=r"no\.npz"):
        plan_sweep(read_sweep(path))


def test_one_run_that_is_tested_in_two_ways_is_a_clash(tmp_path: Path) -> None:
    same = "width = [8]\nepochs = [2]\nbatch_size = [16]\nalphas_per_batch = [8]\ntrain_samples = [64]\n"
    task = f'[[grid]]\ntask = ["rotation/mlp/digits"]\nbudget = ["smoke"]\n{same}'
    path = written(tmp_path, f'{task}[[grid]]\ndata = ["digits"]\n{same}')
    with pytest.raises(ScnError, match="two lines of the sweep are the same run, rotation-mlp-digits-scn"):
        plan_sweep(read_sweep(path))


# What a sweep does


def test_a_sweep_writes_a_row_for_each_run_and_trains_none_twice(small_data: str, tmp_path: Path) -> None:
    path, folder = file_for(tmp_path, small_data, FOUR, "seeds = 2\nstep = 90"), tmp_path / "out"
    found = swept(path, folder)
    rows = table(folder)
    assert len(rows) == len(found["rows"]) == 8
    assert [row["run"] for row in rows] == [row["run"] for row in found["rows"]]
    assert {(row["method"], row["dims"]) for row in rows} == {
        ("scn", "2"),
        ("scn", "3"),
        ("scn", "4"),
        ("one4all", ""),
    }
    first = rows[0]
    scores = [
        float(line.split(",")[-1])
        for line in (folder / first["run"] / "scores.csv").read_text().splitlines()[1:]
    ]
    assert float(first["mean"]) == pytest.approx(sum(scores) / 4)
    assert float(first["worst"]) == pytest.approx(min(scores))
    last = json.loads((folder / first["run"] / "metrics.jsonl").read_text().splitlines()[-1])
    assert float(first["validation"]) == last["validation_accuracy"]
    assert first["weights_used"] == str(1024 * 4 + 4 + 4 * 10 + 10)
    models = {p: p.stat().st_mtime_ns for p in folder.glob("*/model.safetensors")}
    assert len(models) == 8
    with after(0, failing):  # nothing is left to carry out
        again = sweep(path, folder, "--json")
    assert json.loads(again.out)["rows"] == found["rows"]
    assert {p: p.stat().st_mtime_ns for p in folder.glob("*/model.safetensors")} == models
    assert len(collect([folder])) == 8  # what a report of the folder is made of


def test_the_table_has_the_values_in_which_runs_differ(small_data: str, tmp_path: Path) -> None:
    grid = "[grid]\nlearning_rate = [0.001, 0.01]\nwidth = [4, 6]"
    path = file_for(tmp_path, small_data, grid, shared="epochs = 1\nbatch_size = 32\ndims = 2")
    with in_this_process():
        shown = sweep(path, tmp_path / "out").out
    rows = table(tmp_path / "out")
    assert [(row["learning_rate"], row["width"]) for row in rows] == [
        ("0.001", "4"),
        ("0.001", "6"),
        ("0.01", "4"),
        ("0.01", "6"),
    ]
    assert "epochs" not in rows[0]
    assert "learning rate 0.01" in " ".join(shown.split())


def test_each_task_has_a_table_with_the_best_first(small_data: str, tmp_path: Path) -> None:
    grid = '[grid]\ntransform = ["brightness", "contrast"]\nepochs = [1, 12]'
    path = file_for(tmp_path, small_data, grid, "step = 0.9", "width = 8\nbatch_size = 32\ndims = 2")
    with in_this_process():
        shown = sweep(path, tmp_path / "out").out
    first, second = shown.split("contrast on small")
    for part in (first, second):
        assert part.index("epochs 12") < part.index("epochs 1 ")


def test_another_file_finds_the_runs_that_it_shares(small_data: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    swept(file_for(tmp_path, small_data, "[grid]\ndims = [2, 3]"), folder)
    path = file_for(tmp_path, small_data, "[grid]\ndims = [3, 4]")
    assert status(path, folder)["done"] == 1
    swept(path, folder)
    assert len(list(folder.glob("*/model.safetensors"))) == 3
    assert [row["dims"] for row in table(folder)] == ["3", "4"]


def test_data_may_be_moved(small_data: str, tmp_path: Path) -> None:
    one, other = tmp_path / "a" / "small.npz", tmp_path / "b" / "small.npz"
    for path in (one, other):
        path.parent.mkdir()
        shutil.copy(small_data, path)
    first = swept(file_for(tmp_path, str(one), ""), tmp_path / "out")
    one.unlink()
    with after(0, failing):
        again = sweep(file_for(tmp_path, str(other), ""), tmp_path / "out", "--json")
    assert json.loads(again.out) == first


# What happens when something does


def stopping(job: Job) -> None:
    raise KeyboardInterrupt


def test_what_is_finished_stays_when_a_person_stops_it(small_data: str, tmp_path: Path) -> None:
    path, folder = file_for(tmp_path, small_data, FOUR), tmp_path / "out"
    with after(2, stopping):
        stopped = sweep(path, folder)
    assert stopped.code == 130
    assert "the same command goes on" in stopped.err
    assert len(table(folder)) == 2
    (folder / ".sweep.csv.x").touch()  # as of one that was killed while it wrote
    with after(1, stopping):
        sweep(path, folder)
    assert len(table(folder)) == 3
    assert not (folder / ".sweep.csv.x").exists()
    found = status(path, folder)
    assert (found["runs"], found["done"], found["waiting"], found["failed"]) == (4, 3, 1, 0)
    assert found["seconds_left"] > 0
    swept(path, folder)
    assert len(table(folder)) == 4
    assert status(path, folder)["done"] == 4


def test_a_run_that_fails_is_named_and_the_others_are_kept(small_data: str, tmp_path: Path) -> None:
    path, folder = file_for(tmp_path, small_data, FOUR), tmp_path / "out"
    with after(3, failing):
        result = sweep(path, folder)
    assert result.code == 1
    (name,) = json.loads((folder / "failed.json").read_text())
    assert f"1 of 4 runs failed, and the same call goes on with them. {name}: the disk is full" in result.err
    assert len(table(folder)) == 3
    found = status(path, folder)
    assert (found["done"], found["failed"], found["reasons"]) == (3, 1, {name: "the disk is full"})
    assert f"failed: {name}: the disk is full" in sweep(path, folder, "--status").out
    swept(path, folder)
    assert status(path, folder)["failed"] == 0


def test_a_full_disk_leaves_what_is_finished(
    small_data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, folder = file_for(tmp_path, small_data, FOUR), tmp_path / "out"
    real = os.fsync

    def full(handle: int) -> None:
        if len(list(folder.glob("*/scores.csv"))) > 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    with in_this_process():
        result = sweep(path, folder)
    assert result.code == 1
    assert "cannot be written: No space left on device" in result.err
    assert len(table(folder)) == 2
    monkeypatch.undo()
    swept(path, folder)
    assert len(table(folder)) == 4


def test_a_folder_that_is_something_else_is_refused(small_data: str, tmp_path: Path) -> None:
    path = file_for(tmp_path, small_data, "")
    (tmp_path / "file").touch()
    assert "is a file: choose a folder" in sweep(path, tmp_path / "file").err
    swept(path, tmp_path / "out")
    (inner,) = tmp_path.glob("out/*/config.json")
    assert "is a run: choose another folder" in sweep(path, inner.parent).err
    changed = json.loads(inner.read_text()) | {"seed": 7}
    inner.write_text(json.dumps(changed))
    clash = sweep(path, tmp_path / "out")
    assert clash.code == 2
    assert "holds a run with another seed" in clash.err


def test_one_sweep_at_a_time_works_in_a_folder_and_anybody_may_look(small_data: str, tmp_path: Path) -> None:
    path, folder = file_for(tmp_path, small_data, ""), tmp_path / "out"
    assert "there is no sweep in" in sweep(path, folder, "--status").err
    with Sweep(read_sweep(path), folder, 3, "local").alone():
        assert status(path, folder)["at_once"] == 3
        assert "a sweep is at work, 3 side by side" in sweep(path, folder, "--status").out
        second = sweep(path, folder)
        assert second.code == 1
        assert "another sweep is at work in" in second.err
    assert "no sweep is at work" in sweep(path, folder, "--status").out
    assert not list(folder.glob("*/config.json"))  # to look trains nothing


def test_a_lock_ends_with_what_had_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    with alone(path, "taken"):
        assert is_taken(path)
        with pytest.raises(Failed, match="taken"), alone(path, "taken"):
            pass
    assert not is_taken(path)


# Search

RATES = "learning_rate = {low = 1e-4, high = 1e-2, log = true}\ndims = {low = 2, high = 4}"


@pytest.fixture
def optuna() -> Any:
    return pytest.importorskip("optuna", reason="needs optuna (pip install 'scn[sweep]')")


def searching(folder: Path, data: str, said: str, top: str = "step = 90", shared: str = SMALL) -> Path:
    return file_for(folder, data, f"[search]\n{said}", top, shared)


@pytest.mark.usefixtures("optuna")
def test_a_random_search_that_was_stopped_ends_as_one_that_was_not(small_data: str, tmp_path: Path) -> None:
    path = searching(tmp_path, small_data, f'trials = 4\nsampler = "random"\nseed = 3\n{RATES}')
    whole = swept(path, tmp_path / "whole")
    assert len(whole["rows"]) == 4
    with after(2, stopping):
        assert sweep(path, tmp_path / "parts").code == 130
    assert status(path, tmp_path / "parts")["done"] == 2
    parts = swept(path, tmp_path / "parts")
    seconds = {"seconds": 0}
    assert [row | seconds for row in parts["rows"]] == [row | seconds for row in whole["rows"]]
    models = [sorted((tmp_path / f).glob("*/model.safetensors")) for f in ("whole", "parts")]
    assert [p.read_bytes() for p in models[0]] == [p.read_bytes() for p in models[1]]
    assert parts["best"] == whole["best"]


@pytest.mark.usefixtures("optuna")
def test_the_best_of_a_search_is_so_by_the_data_that_were_held_back(small_data: str, tmp_path: Path) -> None:
    path = searching(tmp_path, small_data, f"trials = 3\n{RATES}", "seeds = 2\nstep = 90")
    with in_this_process():
        shown = sweep(path, tmp_path / "out", "--jobs", "2")
        found = json.loads(sweep(path, tmp_path / "out", "--json").out)
    trials: dict[float, list[float]] = {}
    for row in found["rows"]:
        trials.setdefault(row["learning_rate"], []).append(row["validation"])
    assert [len(values) for values in trials.values()] == [2, 2, 2]
    means = {rate: sum(values) / 2 for rate, values in trials.items()}
    assert found["best"]["validation"] == pytest.approx(max(means.values()))
    assert means[found["best"]["values"]["learning_rate"]] == pytest.approx(max(means.values()))
    assert "best, by the data that were held back" in shown.err


@pytest.mark.usefixtures("optuna")
def test_more_trials_go_on_where_fewer_ended(small_data: str, tmp_path: Path) -> None:
    few, folder = searching(tmp_path, small_data, f"trials = 2\n{RATES}"), tmp_path / "out"
    first = swept(few, folder)["rows"]
    more = searching(tmp_path, small_data, f"trials = 3\n{RATES}")
    found = status(more, folder)
    assert (found["runs"], found["done"], found["waiting"]) == (3, 2, 1)
    assert swept(more, folder)["rows"][:2] == first
    assert len(list(folder.glob("*/model.safetensors"))) == 3


@pytest.mark.usefixtures("optuna")
def test_trials_of_the_same_values_are_one_run(small_data: str, tmp_path: Path) -> None:
    path = searching(tmp_path, small_data, 'trials = 6\nsampler = "random"\ndims = [2, 3]')
    rows = swept(path, tmp_path / "out")["rows"]
    assert sorted(row["dims"] for row in rows) == [2, 3]
    assert status(path, tmp_path / "out")["waiting"] == 0


@pytest.mark.usefixtures("optuna")
def test_values_that_cannot_work_or_diverge_end_no_search(small_data: str, tmp_path: Path) -> None:
    said = 'trials = 4\nsampler = "random"\nbatch_size = [32, 100000]'
    shared = "epochs = 1\nwidth = 4\ndims = 2"
    path = searching(tmp_path, small_data, said, "step = 90", shared)
    refused = sweep(path, tmp_path / "out")
    assert refused.code == 2
    assert "batch_size = 100000 cannot work" in refused.err
    path = searching(tmp_path, small_data, said, "step = 90\nskip_refused = true", shared)
    with in_this_process():
        result = sweep(path, tmp_path / "out", "--json")
    assert len(json.loads(result.out)["rows"]) == 1
    assert "left out:" in result.err

    def diverging(job: Job) -> None:
        raise Diverged("the loss became nan")

    path = searching(tmp_path, small_data, f"trials = 3\n{RATES}")
    with after(1, diverging):
        result = sweep(path, tmp_path / "other", "--jobs", "3", "--json")
    assert result.code == 0, result.err
    assert len(json.loads(result.out)["rows"]) == 1
    assert result.err.count("the loss became nan") == 2


@pytest.mark.usefixtures("optuna")
def test_a_trial_that_fails_ends_the_search_and_is_tried_again(small_data: str, tmp_path: Path) -> None:
    path, folder = searching(tmp_path, small_data, f"trials = 3\n{RATES}"), tmp_path / "out"
    with after(0, failing):
        result = sweep(path, folder, "--jobs", "1")
    assert result.code == 1
    assert "1 of 1 runs failed" in result.err
    assert len(swept(path, folder)["rows"]) == 3


def test_a_trial_that_was_killed_before_it_had_all_values_is_none(
    small_data: str, tmp_path: Path, optuna: Any
) -> None:
    path, folder = searching(tmp_path, small_data, f"trials = 2\n{RATES}"), tmp_path / "out"
    swept(path, folder)
    storage = f"sqlite:///{folder / 'search.db'}"
    (name,) = optuna.get_all_study_names(storage)
    begun = optuna.load_study(study_name=name, storage=storage).ask()
    begun.suggest_float("learning_rate", 1e-4, 1e-2, log=True)
    more = searching(tmp_path, small_data, f"trials = 3\n{RATES}")
    assert status(more, folder)["done"] == 2
    assert len(swept(more, folder)["rows"]) == 3


@pytest.mark.usefixtures("optuna")
def test_a_search_needs_data_that_were_held_back(small_data: str, tmp_path: Path) -> None:
    path = searching(tmp_path, small_data, f"trials = 2\n{RATES}", shared=f"{SMALL}\nvalidation_share = 0.0")
    result = sweep(path, tmp_path / "out")
    assert result.code == 2
    assert "a search judges by data that were held back, but validation_share is 0" in result.err


@pytest.mark.usefixtures("optuna")
def test_a_folder_may_have_any_name(small_data: str, tmp_path: Path) -> None:
    path, folder = searching(tmp_path, small_data, f"trials = 1\n{RATES}"), tmp_path / "a b?c#d%20"
    swept(path, folder)
    assert (folder / "search.db").is_file()
    assert status(path, folder)["done"] == 1


def test_a_search_without_optuna_says_what_to_install(
    small_data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    result = sweep(searching(tmp_path, small_data, f"trials = 2\n{RATES}"), tmp_path / "out")
    assert result.code == 2
    assert "pip install 'scn[sweep]'" in result.err


# Drill

KILLS, EPOCHS = 5, 100


def started(path: Path, folder: Path) -> subprocess.Popen[bytes]:
    code = "from scn.cli.main import main; main()"
    call = [sys.executable, "-c", code, "sweep", str(path), "-o", str(folder), "--jobs", "2", "--quiet"]
    return subprocess.Popen(call, stdout=subprocess.DEVNULL)


def epochs_of(folder: Path) -> int:
    """That all runs have behind them."""
    return sum(path.read_text().count("\n") for path in folder.glob("*/metrics.jsonl"))


def kill_at_work(path: Path, folder: Path, epochs: int) -> None:
    """Start a sweep, and kill it when it has trained so much; what was begun before may begin anew."""
    process, before = started(path, folder), epochs_of(folder)
    while abs(epochs_of(folder) - before) < epochs:
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    time.sleep(1.0)  # its workers end with it


def without_time(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return [row | {"seconds": ""} for row in rows]


@pytest.mark.slow
def test_a_sweep_that_is_killed_again_and_again_ends_as_one_that_was_not(
    small_data: str, tmp_path: Path
) -> None:
    """Killed at random moments, without a chance to write anything; the same command goes on each time."""
    shared = f"epochs = {EPOCHS}\nwidth = 8\nbatch_size = 32"
    path = file_for(tmp_path, small_data, "[grid]\ndims = [2, 3, 4]", "seeds = 4\nstep = 90", shared)
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    assert started(path, calm).wait() == 0
    for _ in range(KILLS):
        kill_at_work(path, killed, random.randrange(2 * EPOCHS))
    assert started(path, killed).wait() == 0
    names = [row["run"] for row in table(killed)]
    assert len(set(names)) == len(names) == 12
    assert sorted(p.name for p in killed.iterdir() if runs.is_run(p)) == sorted(names)
    assert without_time(table(killed)) == without_time(table(calm))
    for name in names:
        assert (killed / name / "metrics.jsonl").read_text().count("\n") == EPOCHS
        for file in ("model.safetensors", "scores.csv", "evaluation.json"):
            assert (killed / name / file).read_bytes() == (calm / name / file).read_bytes()
