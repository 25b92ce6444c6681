"""Carry out a sweep: round by round, what is finished written down at once, and what fails noted.

A grid is one round. A search is several, because what is tried next depends on what was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from scn.core.errors import AlreadyThere
from scn.experiment import engines
from scn.experiment.compare import each_ended, finished, raise_failed, reason
from scn.experiment.jobs import Job
from scn.experiment.lock import alone
from scn.experiment.sweep.file import SweepFile
from scn.experiment.sweep.plan import Combination, plan_sweep
from scn.experiment.sweep.status import FAILED, LOCK
from scn.experiment.sweep.table import TABLE, reached, table_rows, write_table
from scn.runs import write_json
from scn.runs.outcome import Outcome

PATIENCE = 1.0  # seconds: somebody may be looking at the lock


class RunSource(Protocol):
    """Where the runs of a sweep come from."""

    refused: dict[str, str]  # what was left out, and why
    named: Sequence[str]  # the values that a table shows in any case

    def rounds(self) -> Iterator[list[Job]]:
        """The runs of each round; the next is asked for when one is over."""

    def note(self, job: Job, found: dict[str, Any] | Exception) -> bool:
        """Hear what came of a run; whether an error is a result that one can go on with."""

    def best(self) -> tuple[Combination, float] | None:
        """Where something was searched: the best values, and their score on data that were held back."""


class GridRuns:
    """All runs at once."""

    named: Sequence[str] = ()

    def __init__(self, file: SweepFile) -> None:
        planned = plan_sweep(file)
        self.jobs, self.refused = planned.jobs, planned.refused

    def rounds(self) -> Iterator[list[Job]]:
        yield self.jobs

    def note(self, job: Job, found: dict[str, Any] | Exception) -> bool:
        return False

    def best(self) -> None:
        """A grid is a table: nothing was searched."""


def source_of(file: SweepFile, folder: Path, at_once: int) -> RunSource:
    if file.search is None:
        return GridRuns(file)
    from scn.experiment.sweep.trials import Trials  # which needs Optuna

    return Trials(file, file.search, folder, at_once)


class Sweep:
    """One sweep at work in its folder."""

    def __init__(
        self,
        file: SweepFile,
        folder: Path,
        at_once: int | None,
        engine: str = engines.USUAL,
        address: str | None = None,
    ) -> None:
        engines.get(engine, address)
        _require_folder(folder)
        self.folder, self.at_once, self.engine, self.address = folder, at_once, engine, address
        self.source = source_of(file, folder, at_once or engines.cores())
        self.jobs: list[Job] = []
        self.outcomes: dict[str, Outcome] = {}
        self.failed: dict[str, Exception] = {}
        self._found: dict[str, dict[str, Any]] = {}

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While this sweep is at work no other may be in this folder; `--status` may look on."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / LOCK
        path.touch()
        said = (
            f"another sweep is at work in {self.folder}: let it end. `scn sweep --status` says how far it is"
        )
        with alone(path, said, PATIENCE):
            path.write_text(f"{self.at_once or engines.cores()}\n")
            for old in (self.folder / FAILED, *self.folder.glob(f".{TABLE}.*")):  # of one that was killed
                old.unlink(missing_ok=True)
            yield

    def rounds(self) -> Iterator[list[Job]]:
        """The runs of each round; the last is the one in which something failed."""
        for jobs in self.source.rounds():
            self.jobs += jobs
            yield jobs
            if self.failed:
                return

    def carry_out(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        """Each run of a round when it is finished; first those that are already."""
        missing = []
        for job in jobs:
            outcome = finished(self.folder, job)
            if outcome is None:
                missing.append(job)
            else:
                self._keep(job, outcome)
        self.write()
        for job in jobs:
            if job.name in self.outcomes:
                yield job, self.outcomes[job.name]
        if missing:
            yield from self._train(missing)

    def _train(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
        for ended in each_ended(
            jobs, self.folder, at_once=self.at_once, engine=self.engine, address=self.address
        ):
            if ended.result is not None:
                self._keep(ended.job, ended.result)
                self.write()
                yield ended.job, ended.result
            elif not self.source.note(ended.job, reason(ended)):
                self.failed[ended.job.name] = reason(ended)
                reasons = {name: str(error) for name, error in self.failed.items()}
                write_json(self.folder / FAILED, reasons)

    def _keep(self, job: Job, outcome: Outcome) -> None:
        self.outcomes[job.name] = outcome
        self._found[job.name] = reached(job, outcome, self.folder)
        self.source.note(job, self._found[job.name])

    def rows(self) -> list[dict[str, Any]]:
        return table_rows(self.jobs, self._found, self.source.named)

    def write(self) -> Path:
        """The table of everything that is finished."""
        return write_table(self.rows(), self.folder)

    def raise_failed(self) -> None:
        """One error about all runs that failed, if some did."""
        if self.failed:
            raise_failed(self.failed, len(self.jobs))


def _require_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise AlreadyThere(f"{folder} is a file: choose a folder for the runs")
