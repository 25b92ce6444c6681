"""What the paper reports, as facts with their source: published.json beside this file."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from scn.reproduce.evidence import Evidence, NotMeasured, Reached, Values
from scn.reproduce.late_gain import still_learning
from scn.reproduce.parts import FULL
from scn.reproduce.verdicts import FAILS, HOLDS, OPEN, Judgement, circumstances, error_of

NEAR = 0.01  # below a published score: what still counts as reached


@dataclass(frozen=True)
class Published:
    """One published score; `setting` where it is that of one setting."""

    entry: str
    source: str
    task: str
    method: str
    dims: int
    value: float
    setting: tuple[float, ...] | None = None
    parameters: int | None = None

    def ours(self, evidence: Evidence) -> Values:
        """What we measured of the same."""
        if self.setting is None:
            return evidence.score(self.task, self.method, self.dims, fixed=None)
        try:
            return evidence.score(self.task, self.method, self.dims, fixed=list(self.setting))
        except NotMeasured:
            return evidence.under(self.setting, self.task, self.method, self.dims, fixed=None)

    def judge(self, evidence: Evidence) -> Judgement:
        """Whether the published score is reached."""
        try:
            ours, row = self.ours(evidence), evidence.find(self.task, self.method, self.dims)
        except NotMeasured as error:
            return Judgement(OPEN, str(error))
        text = f"{ours} where {self.value:.4f} was published"
        if ours.finite and ours.mean + NEAR - self.value >= 0 and evidence.budget != "smoke":
            return Judgement(HOLDS, text)
        doubt = _doubt(evidence.budget, row)
        if doubt or not ours.finite or ours.mean + NEAR + error_of(ours) >= self.value:
            return Judgement(OPEN, f"{text}; {doubt or 'within the error'}")
        return Judgement(FAILS, f"{text}. {circumstances([row])}")


def _doubt(budget: str, row: Reached) -> str:
    """Why a score below the published one says nothing against it."""
    if budget != FULL:
        return f"{row.epochs} epochs are not the published recipe"
    task_data = row.task.rpartition("/")[2]
    whole = samples().get(task_data)
    if whole is not None and row.samples["train"] < 0.95 * whole[0]:
        return f"{row.samples['train']:,} of {whole[0]:,} training samples are here"
    return still_learning([row])


@functools.cache
def _content() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files("scn.reproduce") / "published.json").read_text())
    return found


def samples() -> dict[str, list[int]]:
    """Training and test samples of the published experiments, by data set."""
    found: dict[str, list[int]] = _content()["samples"]
    return found


def source(entry: str) -> str:
    return str(_content()["entries"].get(entry, {}).get("source", ""))


def ratios(entry: str) -> dict[str, float]:
    """Published ratios of what a plain network costs to what the SCN costs."""
    found: dict[str, float] = _content()["entries"].get(entry, {}).get("ratios", {})
    return found


def scores(entry: str) -> list[Published]:
    """Every published score of an entry."""
    listed = _content()["entries"].get(entry)
    if listed is None:
        return []
    found = []
    for row in listed["rows"]:
        setting = row.get("setting")
        given = {**row, "setting": None if setting is None else tuple(setting)}
        found.append(Published(entry, listed["source"], **given))
    return found
