"""One or all entries, from what is missing to what holds; stopped at any time, the same call goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scn.core.errors import ScnError
from scn.experiment.compare import is_carried_out
from scn.experiment.jobs import Job
from scn.reproduce.carry import Finished, finish, key_of, models_in, read_evidence, require_room
from scn.reproduce.parts import PaperEntry
from scn.reproduce.plan import PlannedRun, plan
from scn.runs.outcome import Outcome

Carry = Callable[[Sequence[Job], Path], Iterator[tuple[Job, Outcome]]]


@dataclass(frozen=True)
class Undone:
    """An entry that could not be done, and why."""

    entry: str
    reason: str


def reproduce(
    several: Sequence[PaperEntry], budget: str, folder: Path, carry: Carry, seeds: int | None = None
) -> Iterator[Finished | Undone]:
    """Every entry as soon as its runs are there; `carry` trains and tests the jobs it is given.

    What cannot be done, for lack of data or of a compiler, keeps no other entry from its end.
    """
    plans: dict[str, list[PlannedRun]] = {}
    for entry in several:
        try:
            require_room(entry, budget, folder)
            plans[entry.name] = plan(entry, budget, seeds)
        except (ScnError, OSError) as error:
            yield Undone(entry.name, str(error))
    waiting = [entry for entry in several if entry.name in plans]
    to_do = {entry.name: _to_do(entry, budget, plans[entry.name], folder) for entry in waiting}
    jobs = list({job.name: job for found in to_do.values() for job in found.values()}.values())
    failed = ""
    ended = _ended(carry, jobs, models_in(folder)) if jobs else iter(())
    while True:
        for entry in [entry for entry in waiting if not to_do[entry.name]]:
            waiting.remove(entry)
            yield _finished(entry, budget, plans[entry.name], folder)
        try:
            name = next(ended)
        except StopIteration:
            break
        except (ScnError, OSError) as error:
            failed = str(error)
            break
        for found in to_do.values():
            found.pop(name, None)
    for entry in waiting:
        yield Undone(entry.name, failed or "its runs came to no end: the same command goes on")


def _ended(carry: Carry, jobs: Sequence[Job], models: Path) -> Iterator[str]:
    for job, _ in carry(jobs, models):
        yield job.name


def _to_do(entry: PaperEntry, budget: str, planned: Sequence[PlannedRun], folder: Path) -> dict[str, Job]:
    """The jobs of an entry that are not done; none where what was measured of them is there."""
    known = read_evidence(folder, entry.name)
    if known is not None and known[1] == key_of(entry, budget, planned):
        return {}
    models = models_in(folder)
    return {one.job.name: one.job for one in planned if not is_carried_out(models, one.job)}


def _finished(
    entry: PaperEntry, budget: str, planned: Sequence[PlannedRun], folder: Path
) -> Finished | Undone:
    try:
        return finish(entry, budget, planned, folder)
    except (ScnError, OSError) as error:
        return Undone(entry.name, str(error))
