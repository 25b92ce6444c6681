"""From what was measured to what is said of a claim: it holds, it does not hold, or this budget cannot tell.

A difference decides where it is larger than two standard errors over the seeds. One seed has no spread, and
decides only what is clear. What is still learning can hold, but does not fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from scn.reproduce.entries import FULL, SMOKE
from scn.reproduce.evidence import Evidence, NotMeasured, Reached, Values

HOLDS, FAILS, OPEN = "holds", "does not hold", "not decided by this budget"

ERRORS = 2.0  # standard errors that a difference must exceed
ONE_SEED = 0.02  # what a difference of single seeds must exceed
STILL_LEARNING = 0.002  # of the validation score, in the last fifth of the training


@dataclass(frozen=True)
class Judgement:
    """What is said of one claim, and why."""

    verdict: str
    why: str

    @property
    def open(self) -> bool:
        return self.verdict == OPEN


Check = Callable[[Evidence], Judgement]


def error_of(*several: Values) -> float:
    """How far a difference (or one value) may be off by chance."""
    if any(len(values.by_seed) < 2 for values in several):
        return ONE_SEED
    return ERRORS * math.sqrt(sum(values.std**2 / len(values.by_seed) for values in several))


def above(left: Values, right: Values, *, least: float = 0.0, said: str = "") -> Judgement:
    """Whether the left is more than the right, by at least so much."""
    undecided = _unusable(left, right)
    if undecided:
        return undecided
    difference, error = left.mean - right.mean, error_of(left, right)
    words = f"{said}: " if said else ""
    text = f"{words}{left} against {right}, a difference of {difference:+.4f} (error {error:.4f})"
    text += f" where {least:+.3f} is asked for" if least else ""
    if difference - least > error:
        return Judgement(HOLDS, text)
    return Judgement(FAILS if difference - least < -error else OPEN, text)


def level(left: Values, right: Values, within: float, said: str = "") -> Judgement:
    """Whether two are equal but for so much."""
    undecided = _unusable(left, right)
    if undecided:
        return undecided
    difference, error = left.mean - right.mean, error_of(left, right)
    words = f"{said}: " if said else ""
    text = f"{words}{left} against {right}, {difference:+.4f} apart (error {error:.4f}, limit {within:g})"
    if abs(difference) - error > within:
        return Judgement(FAILS, text)
    return Judgement(HOLDS if abs(difference) + error <= within else OPEN, text)


def limited(values: Values, low: float = -math.inf, high: float = math.inf, said: str = "") -> Judgement:
    """Whether a quantity of which every seed gives an exact value lies between limits, for every seed."""
    undecided = _unusable(values)
    if undecided:
        return undecided
    shown = ", ".join(f"{value:.3g}" for value in values.by_seed)
    limits = " to ".join("any" if math.isinf(v) else f"{v:g}" for v in (low, high))
    inside = [low <= value <= high for value in values.by_seed]
    verdict = HOLDS if all(inside) else OPEN if any(inside) else FAILS
    return Judgement(verdict, f"{said}: {shown} (limits {limits})")


def all_of(*parts: Judgement) -> Judgement:
    """A claim of several parts holds if all do, and fails if one does."""
    if not parts:
        return Judgement(OPEN, "nothing was measured")
    verdicts = [part.verdict for part in parts]
    verdict = FAILS if FAILS in verdicts else OPEN if OPEN in verdicts else HOLDS
    telling = [part for part in parts if part.verdict == verdict] if verdict != HOLDS else list(parts)
    return Judgement(verdict, "; ".join(part.why for part in telling))


def _unusable(*several: Values) -> Judgement | None:
    if all(values.finite for values in several):
        return None
    return Judgement(OPEN, "a value is missing or not a number")


def judge(check: Check, evidence: Evidence, tasks: Sequence[str], learned: bool = True) -> Judgement:
    """What a check says, as far as this budget can, with seeds, epochs, samples and the late gain.

    learned: whether what is claimed depends on how far networks have learned.
    """
    rows = [row for row in evidence.rows if row.task in tasks]
    if not rows:
        return Judgement(OPEN, "nothing was measured")
    if evidence.budget == SMOKE:
        return Judgement(OPEN, "the budget smoke only shows that everything fits together")
    try:
        found = check(evidence)
    except NotMeasured as error:
        return Judgement(OPEN, str(error))
    learning = still_learning(rows, evidence.budget) if learned else ""
    if found.verdict == FAILS and learning:
        found = replace(found, verdict=OPEN, why=f"{found.why}; but {learning}")
    return replace(found, why=f"{found.why}. {circumstances(rows)}")


def still_learning(rows: Sequence[Reached], budget: str) -> str:
    """Why networks may not have come to their end, in words; empty if they have."""
    gains = [row.late_gain for row in rows if row.late_gain is not None]
    if gains and max(gains) > STILL_LEARNING:
        return f"networks still gained up to {max(gains):.3f} in the last fifth of their training"
    if budget != FULL and len(gains) < len(rows):
        return f"whether {min(row.epochs for row in rows)} epochs were enough is not known"
    return ""


def circumstances(rows: Sequence[Reached]) -> str:
    """Under which every verdict stands."""
    seeds, epochs = (sorted({value for row in rows for value in found(row)}) for found in (_seeds, _epochs))
    parts = [f"{_range(seeds)} seed(s)", f"{_range(epochs)} epochs", _samples(rows)]
    gains = [row.late_gain for row in rows if row.late_gain is not None]
    parts.append(f"late gain at most {max(gains):+.4f}" if gains else "late gain not known")
    return ", ".join(part for part in parts if part)


def _seeds(row: Reached) -> list[int]:
    return [len(row.seeds)]


def _epochs(row: Reached) -> list[int]:
    return [row.epochs]


def _range(values: Sequence[int]) -> str:
    return f"{values[0]}" if values[0] == values[-1] else f"{values[0]} to {values[-1]}"


def _samples(rows: Sequence[Reached]) -> str:
    """What was trained and tested on; of large tables the least of each."""
    used = {name: min(row.samples[name] for row in rows) for name in ("train", "test")}
    return f"{used['train']:,} / {used['test']:,} samples" + (
        " or more" if len({str(r.samples) for r in rows}) > 1 else ""
    )
