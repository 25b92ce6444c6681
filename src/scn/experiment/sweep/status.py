"""How far a sweep is, without touching it: for a person who looks while it is at work, or afterwards."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scn import runs
from scn.core.errors import NotThere, ScnError
from scn.experiment import engines
from scn.experiment.jobs import Job
from scn.experiment.lock import is_taken
from scn.experiment.sweep.file import SweepFile
from scn.experiment.sweep.plan import plan_sweep
from scn.runs import Run
from scn.runs.collection import LoadedRun

LOCK = ".sweep"  # held while a sweep is at work; says how many runs it has side by side
FAILED = "failed.json"  # why runs of the last sweep failed, by their names


@dataclass(frozen=True)
class Status:
    """How many runs there are of each kind, and for how long it will go on."""

    done: list[str]
    begun: list[str]
    failed: dict[str, str]  # and why
    waiting: int
    at_once: int  # how many are trained side by side; 0 where no sweep is at work
    seconds_left: float | None  # None before anything is known

    @property
    def total(self) -> int:
        return len(self.done) + len(self.begun) + len(self.failed) + self.waiting


def status_of(file: SweepFile, folder: Path) -> Status:
    """Of the sweep of this file in this folder."""
    if not folder.is_dir():
        raise NotThere(f"there is no sweep in {folder}: `scn sweep {file.path} -o {folder}` begins it")
    jobs, to_come = _jobs_of(file, folder)
    reasons = _failures(folder)
    done = [job.name for job in jobs if _is_done(folder / job.name)]
    rest = [job for job in jobs if job.name not in set(done)]
    failed = {job.name: reasons[job.name] for job in rest if job.name in reasons}
    begun = [job.name for job in rest if job.name not in failed and runs.is_run(folder / job.name)]
    at_work = is_taken(folder / LOCK)
    at_once = _at_once(folder / LOCK)
    return Status(
        done,
        begun,
        failed,
        len(rest) - len(failed) - len(begun) + to_come,
        at_once if at_work else 0,
        _seconds_left(jobs, folder, to_come, at_once),
    )


def _jobs_of(file: SweepFile, folder: Path) -> tuple[list[Job], int]:
    """The runs that are known, and how many will come that are not yet."""
    if file.search is None:
        return plan_sweep(file).jobs, 0
    from scn.experiment.sweep.trials import Trials  # which needs Optuna

    return Trials(file, file.search, folder, 1).known()


def _is_done(folder: Path) -> bool:
    """Trained, and its table is whole."""
    if not runs.is_run(folder):
        return False
    one = LoadedRun(runs.read(folder))
    try:
        return one.run.is_trained and len(one.table.params) > 0
    except ScnError:
        return False


def _failures(folder: Path) -> dict[str, str]:
    path = folder / FAILED
    found: dict[str, str] = json.loads(path.read_text()) if path.is_file() else {}
    return found


def _at_once(lock: Path) -> int:
    """What the sweep that is or was at work here has side by side."""
    said = lock.read_text().strip() if lock.is_file() else ""
    return int(said) if said.isdecimal() else engines.cores()


def _seconds_left(jobs: Sequence[Job], folder: Path, to_come: int, at_once: int) -> float | None:
    """By what an epoch has taken so far."""
    if not jobs:
        return None
    asked = [int(job.config.recipe["epochs"]) for job in jobs]
    found = [LoadedRun(Run(folder / job.name, job.config)) for job in jobs]
    lines = [_epochs(one) for one in found]
    seconds = [second for several in lines for second in several]
    if not seconds:
        return None
    left = sum(asked) * (1 + to_come / len(jobs)) - len(seconds)
    return max(0.0, left) * sum(seconds) / len(seconds) / at_once


def _epochs(one: LoadedRun) -> list[float]:
    """The seconds of each epoch that a run has behind it."""
    path = one.run.metrics_file
    return [line["seconds"] for line in one.epochs] if path.is_file() and path.stat().st_size else []
