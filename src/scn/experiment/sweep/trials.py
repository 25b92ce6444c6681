"""A search: Optuna proposes what to try, and is told what came of it.

Its study stands in the folder of the sweep, so a search that was killed goes on: a trial that was begun is
ended, as the run that it is. Judged are the data that were held back, never those of the test. What a random
search tries depends on its seed and the number of the trial alone.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from scn.core.errors import Failed, ScnError
from scn.experiment.jobs import Job
from scn.experiment.store import COMPUTED_BY, DIGITS
from scn.experiment.sweep.file import OF_TASK, Range, SearchPlan, SweepFile
from scn.experiment.sweep.plan import Combination, Refused, concerned, each_once, jobs_of
from scn.runs import Run, versions
from scn.training.loop import Diverged

if TYPE_CHECKING:
    import optuna

STUDY = "search.db"
BEGUN, ENDED, GIVEN_UP = "RUNNING", "COMPLETE", "PRUNED"  # as Optuna calls them
Trial = tuple[int, Combination]  # its number, and its values


class Trials:
    """The runs of a search, a few trials at a time."""

    def __init__(self, file: SweepFile, search: SearchPlan, folder: Path, at_once: int) -> None:
        self.optuna = _optuna()
        self.file, self.search, self.path = file, search, folder / STUDY
        self.refused: dict[str, str] = {}
        self.named: Sequence[str] = list(search.over)
        self.side_by_side = search.trials if search.sampler == "random" else -(-at_once // len(file.seeds))
        self._open: dict[int, list[Job]] = {}  # trials that are to be told of, by their numbers
        self._judged: dict[str, float] = {}  # by the name of the run, higher is better

    def rounds(self) -> Iterator[list[Job]]:
        """First what was tried before, then as many new trials as there is work for, until all are there."""
        given: set[str] = set()
        trials = self._tried()
        while True:
            planned = self._planned(trials)
            self._open |= planned
            jobs = [job for job in _all(planned) if job.name not in given]
            given |= {job.name for job in jobs}
            if jobs:
                yield jobs
            self._tell_all()
            missing = self.search.trials - self._count()
            if missing <= 0:
                return
            trials = [self._ask() for _ in range(min(self.side_by_side, missing))]

    def note(self, job: Job, found: dict[str, Any] | Exception) -> bool:
        """A training whose loss is no number is a result too: such values are no good."""
        if isinstance(found, Exception):
            if not isinstance(found, Diverged):
                return False
            self.refused[job.name] = str(found)
            self._judged[job.name] = math.nan
        else:
            score = Run(Path(), job.config).objective().score
            self._judged[job.name] = found["validation"] * (1 if score.higher_is_better else -1)
        self._tell_all()
        return True

    def known(self) -> tuple[list[Job], int]:
        """The runs of trials that were begun, and how many the others will be."""
        all_names = self.optuna.get_all_study_names(self._url) if self.path.is_file() else []
        if self._name not in all_names:
            return [], self.search.trials * len(self.file.seeds)
        trials = [trial for trial in self._in(BEGUN, ENDED) if trial.params.keys() == self.search.over.keys()]
        jobs = _all(self._planned([(trial.number, trial.params) for trial in trials]))
        return jobs, max(0, self.search.trials - self._count()) * len(self.file.seeds)

    def best(self) -> tuple[Combination, float] | None:
        """The values of the best trial and what they reached; None where scores cannot be compared."""
        if not self._in(ENDED) or set(OF_TASK) & self.search.over.keys():
            return None
        found = self.study.best_trial
        return found.params, abs(found.value or 0.0)

    @cached_property
    def study(self) -> optuna.Study:
        with self._written():
            return self.optuna.create_study(
                storage=self._url, study_name=self._name, direction="maximize", load_if_exists=True
            )

    @property
    def _url(self) -> str:
        from sqlalchemy import URL

        return URL.create("sqlite", database=str(self.path)).render_as_string()

    @cached_property
    def _name(self) -> str:
        """Another name for whatever makes scores of trials differ; more of the same trials go on."""
        by = {name: version for name, version in versions().items() if name in COMPUTED_BY}
        said = [self.file.shared, self.file.seeds, asdict(replace(self.search, trials=0)), by]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:DIGITS]

    def _in(self, *states: str) -> list[optuna.trial.FrozenTrial]:
        chosen = tuple(self.optuna.trial.TrialState[state] for state in states)
        return self.study.get_trials(deepcopy=False, states=chosen)

    def _count(self) -> int:
        return len(self._in(BEGUN, ENDED, GIVEN_UP))

    def _tried(self) -> list[Trial]:
        """What an earlier call tried. A trial that was killed before it had all its values is none."""
        for trial in self._in(BEGUN):
            if trial.params.keys() != self.search.over.keys():
                self.study.tell(trial.number, state=self.optuna.trial.TrialState.FAIL)
        return [(trial.number, trial.params) for trial in self._in(ENDED, BEGUN)]

    def _ask(self) -> Trial:
        """The next trial. Its random numbers are its own, so that they do not depend on what was before."""
        number = len(self.study.get_trials(deepcopy=False))
        drawn = int(np.random.SeedSequence((self.search.seed, number)).generate_state(1)[0])
        samplers = self.optuna.samplers
        kind = samplers.RandomSampler if self.search.sampler == "random" else samplers.TPESampler
        self.study.sampler = kind(seed=drawn)
        with self._written():
            asked = self.study.ask({name: _distribution(each) for name, each in self.search.over.items()})
            return asked.number, asked.params

    def _planned(self, trials: Sequence[Trial]) -> dict[int, list[Job]]:
        """The runs of each of these trials, none of one that cannot work."""
        found: dict[int, list[Job]] = {}
        for number, params in trials:
            try:
                found[number] = self._jobs(params)
            except Refused as error:
                if not self.file.skip_refused:
                    raise
                self.refused[error.combination] = error.reason
                found[number] = []
        return found

    def _jobs(self, params: Combination) -> list[Job]:
        jobs = jobs_of(self.file, concerned({**self.file.shared, **params}), self.search.over)
        for config in (job.config for job in jobs):
            share = config.recipe["validation_share"]
            if not config.samples.get("val") and not round(share * config.samples["train"]):
                raise ScnError(
                    f"{self.file.path}: a search judges by data that were held back, but validation_share is "
                    f"{share:g}: say more"
                )
        return jobs

    def _tell_all(self) -> None:
        """Tell of every trial whose runs are judged; of one without runs or numbers, that it is no good."""
        states = self.optuna.trial.TrialState
        for number, jobs in list(self._open.items()):
            values = [self._judged.get(job.name) for job in jobs]
            if None in values:
                continue
            mean = sum(value for value in values if value is not None) / max(len(values), 1)
            with self._written():
                if not values or math.isnan(mean):
                    self.study.tell(number, state=states.PRUNED, skip_if_finished=True)
                else:
                    self.study.tell(number, mean, skip_if_finished=True)
            del self._open[number]

    @contextmanager
    def _written(self) -> Iterator[None]:
        """A full disk is no fault of ours."""
        from sqlalchemy.exc import SQLAlchemyError

        try:
            yield
        except (SQLAlchemyError, self.optuna.exceptions.StorageInternalError) as error:
            reason = str(error.__cause__ or error).splitlines()[0]
            raise Failed(f"{self.path} cannot be written: {reason}") from error


def _all(planned: Mapping[int, list[Job]]) -> list[Job]:
    """The runs of several trials, each once."""
    return each_once(job for jobs in planned.values() for job in jobs)


def _distribution(said: list[Any] | Range) -> optuna.distributions.BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if not isinstance(said, Range):
        return CategoricalDistribution(said)
    if isinstance(said.low, int) and isinstance(said.high, int):
        return IntDistribution(said.low, said.high, log=said.log)
    return FloatDistribution(said.low, said.high, log=said.log)


def _optuna() -> ModuleType:
    try:
        import optuna
    except ImportError as error:
        raise ScnError("a sweep with a [search] needs Optuna: pip install 'scn[sweep]'") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
