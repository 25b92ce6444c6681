"""From what was measured to what is said of a claim: it holds, it does not hold, or this budget cannot tell.

A difference decides where it is larger than two standard errors over the seeds. One seed has no spread, and
decides only what is clear. What fails must fail as well if networks went on learning (`late_gain`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from scn.reproduce import late_gain
from scn.reproduce.evidence import Evidence, NotMeasured, Reached, Values
from scn.reproduce.parts import SCN, SMOKE

HOLDS, FAILS, OPEN = "holds", "does not hold", "not decided by this budget"

ERRORS = 2.0  # standard errors that a difference must exceed
ONE_SEED = 0.02  # what a difference of single seeds must exceed


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


def at_least(differences: Values, least: float, said: str) -> Judgement:
    """Whether differences that belong together are on average at least so much."""
    undecided = _unusable(differences)
    if undecided:
        return undecided
    error = error_of(differences)
    text = f"{said}: {differences.mean:+.4f} (error {error:.4f}) where {least:+.3f} is asked for"
    if differences.mean - least > error:
        return Judgement(HOLDS, text)
    return Judgement(FAILS if differences.mean - least < -error else OPEN, text)


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
    inside = [low <= value <= high for value in values.by_seed]
    verdict = HOLDS if all(inside) else OPEN if any(inside) else FAILS
    return Judgement(verdict, f"{said}: {shown} ({_limits(low, high)})")


def limited_each(
    several: Mapping[str, Values], low: float = -math.inf, high: float = math.inf, said: str = ""
) -> Judgement:
    """The same of several networks, by name; where all lie between the limits, the outermost are said."""
    found = all_of(*(limited(values, low, high, f"{name}, {said}") for name, values in several.items()))
    if found.verdict != HOLDS:
        return found
    every = sorted(value for values in several.values() for value in values.by_seed)
    outermost = f"{every[0]:.3g} to {every[-1]:.3g}" if every[0] < every[-1] else f"{every[0]:.3g}"
    return Judgement(HOLDS, f"{said}: {outermost} with {', '.join(several)} ({_limits(low, high)})")


def _limits(low: float, high: float) -> str:
    if math.isinf(low):
        return f"at most {high:g}"
    return f"at least {low:g}" if math.isinf(high) else f"{low:g} to {high:g}"


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
    if found.verdict != OPEN and learned:
        doubt = _doubt(found, check, evidence, rows)
        found = replace(found, verdict=OPEN, why=f"{found.why}; but {doubt}") if doubt else found
    return replace(found, why=f"{found.why}. {circumstances(rows)}")


def _doubt(found: Judgement, check: Check, evidence: Evidence, rows: Sequence[Reached]) -> str:
    """Why a longer training might change a verdict, in words; empty if it would not.

    What fails must fail if SCNs gain more, or all do; what holds must not fail if all do.
    """
    learning, longer = late_gain.still_learning(rows), check(late_gain.trained_on(evidence))
    if found.verdict == HOLDS:
        return learning if longer.verdict == FAILS else ""
    unknown, alone = late_gain.unknown(rows, evidence.budget), check(late_gain.trained_on(evidence, SCN))
    if unknown or longer.verdict != FAILS or alone.verdict != FAILS:
        return unknown or learning or f"{late_gain.GRANTED:g} times the late gain would change that"
    of_scores = {longer.why, alone.why} != {found.why}  # else what was granted plays no part in it
    return "" if of_scores else learning


def circumstances(rows: Sequence[Reached]) -> str:
    """Under which every verdict stands."""
    seeds, epochs = (sorted({value for row in rows for value in found(row)}) for found in (_seeds, _epochs))
    parts = [f"{_range(seeds)} seed(s)", f"{_range(epochs)} epochs", _samples(rows)]
    return ", ".join(part for part in (*parts, late_gain.in_words(rows)) if part)


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
