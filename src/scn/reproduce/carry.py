"""An entry from its runs to its folder: figures, table, evidence and verdicts.

FOLDER/models/RUN/           every run, under the name of its content, for all entries
FOLDER/ENTRY/*.png, *.csv    the figures and what they show
FOLDER/ENTRY/table.md, .csv  our values beside the published ones
FOLDER/ENTRY/verdict.*       what holds, and why
FOLDER/ENTRY/evidence.json   everything that was measured, of which runs
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scn import runs
from scn.core.errors import AlreadyThere, ScnError
from scn.core.storage import write_atomically
from scn.reproduce import pages
from scn.reproduce.draw import draw, write_csv
from scn.reproduce.entries import ENTRIES
from scn.reproduce.evidence import Evidence, gather
from scn.reproduce.parts import BUDGETS, PaperEntry
from scn.reproduce.plan import PlannedRun

MODELS, EVIDENCE = "models", "evidence.json"
VERSION = 2  # of what is measured and drawn: to be raised when that changes


@dataclass(frozen=True)
class Finished:
    """What came of an entry."""

    evidence: Evidence
    folder: Path
    seconds: float  # that measuring and drawing took; 0 where all was there

    def to_json(self) -> dict[str, Any]:
        found = pages.verdicts(self.evidence)
        return {
            "entry": self.evidence.entry,
            "budget": self.evidence.budget,
            "folder": str(self.folder),
            **found,
        }


def models_in(folder: Path) -> Path:
    return folder / MODELS


def read_evidence(folder: Path, entry: str) -> tuple[Evidence, str] | None:
    """What was measured for an entry, and the key of what it was measured of; none if nothing was.

    What another version measured does not count: the runs are there, and it is measured anew.
    """
    path = folder / entry / EVIDENCE
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text())
        if content.get("version") != VERSION:
            return None
        return Evidence.from_json(content), content["key"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ScnError(
            f"{path} cannot be read ({error!r}): remove it, and the same command makes it anew"
        ) from error


def all_evidence(folder: Path) -> dict[str, Evidence]:
    """What was measured for every entry that was done in this folder."""
    found = {name: read_evidence(folder, name) for name in ENTRIES}
    return {name: one[0] for name, one in found.items() if one is not None}


def key_of(entry: PaperEntry, budget: str, planned: Sequence[PlannedRun]) -> str:
    """What evidence depends on: the runs by content, and what is measured of them."""
    names = [one.job.name for one in planned]
    tests = [[len(one.job.test.settings), one.job.test.samples] for one in planned]
    said = [VERSION, entry.name, budget, entry.figures, entry.measures, names, tests]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def missing(planned: Sequence[PlannedRun], folder: Path) -> list[PlannedRun]:
    """The runs that are not trained yet."""
    return [
        one for one in planned if not runs.Run(models_in(folder) / one.job.name, one.job.config).is_trained
    ]


def require_room(entry: PaperEntry, budget: str, folder: Path) -> None:
    """Refuse to put the result of a shorter budget in the place of a longer one's."""
    order, found = list(BUDGETS), read_evidence(folder, entry.name)
    if found is not None and order.index(found[0].budget) > order.index(budget):
        raise AlreadyThere(
            f"{folder / entry.name} holds the result of the budget {found[0].budget}, which {budget} would "
            "replace: choose another folder"
        )


def finish(entry: PaperEntry, budget: str, planned: Sequence[PlannedRun], folder: Path) -> Finished:
    """Measure and draw an entry whose runs are all there, as far as that is not done; then judge it."""
    began, place, key = time.monotonic(), folder / entry.name, key_of(entry, budget, planned)
    known = read_evidence(folder, entry.name)
    if known is not None and known[1] == key:
        evidence, taken = known[0], 0.0
    else:
        require_room(entry, budget, folder)
        place.mkdir(parents=True, exist_ok=True)
        evidence = gather(entry.name, budget, entry.measures, planned, models_in(folder))
        draw(entry, planned, models_in(folder), place)
        _write(place / EVIDENCE, evidence.to_text(key, VERSION))
        taken = time.monotonic() - began
    write_csv(place / "table.csv", pages.table_rows(evidence))
    _write(place / "table.md", pages.table_page(entry, evidence))
    runs.write_json(place / "verdict.json", pages.verdicts(evidence))
    _write(place / "verdict.md", pages.verdict_page(entry, evidence))
    return Finished(evidence, place, taken)


def _write(path: Path, text: str) -> None:
    write_atomically(path, text.encode())
