"""What networks still gained at the end of their training, and what they might gain if they went on.

The gain of one run is rough, because few samples are held back for validation; so that of a method is taken
over all its runs of a task. A longer training gains more than the last fifth did: of rotation D=8 has 0.8555
after 60 epochs, whose last fifth gave 0.0025, and 0.866 with the best map after 400. So each is granted five
times as much as it gained, and a verdict must stand that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scn.reproduce.evidence import Evidence, Reached
from scn.reproduce.parts import FULL, SCN

STILL_LEARNING = 0.002  # of the validation score, in the last fifth of the training
GRANTED = 5.0


def of_method(rows: Sequence[Reached], task: str, method: str) -> float | None:
    """The mean over all runs of a method; none where it is not known."""
    known = [
        (row.late_gain, len(row.runs) or len(row.seeds))
        for row in rows
        if (row.task, row.method) == (task, method) and row.late_gain is not None
    ]
    runs = sum(count for _, count in known)
    return sum(gain * count for gain, count in known) / runs if runs else None


def gains(rows: Sequence[Reached]) -> dict[tuple[str, str], float | None]:
    """Of every task and method."""
    kinds = dict.fromkeys((row.task, row.method) for row in rows)
    return {kind: of_method(rows, *kind) for kind in kinds}


def unknown(rows: Sequence[Reached], budget: str) -> str:
    """Why nothing can be said of the end of these trainings; empty if it can."""
    if budget == FULL or None not in gains(rows).values():
        return ""
    return f"whether {min(row.epochs for row in rows)} epochs were enough is not known"


def still_learning(rows: Sequence[Reached]) -> str:
    """That networks had not come to their end, in words; empty if they had."""
    most = max((gain for gain in gains(rows).values() if gain is not None), default=0.0)
    if most <= STILL_LEARNING:
        return ""
    return f"networks still gained up to {most:.3f} in the last fifth of their training"


def trained_on(found: Evidence, *only: str) -> Evidence:
    """What would be measured if all, or only these methods, had gone on and gained what is granted."""
    rows = [row if only and row.method not in only else _granted(row, found.rows) for row in found.rows]
    return replace(found, rows=rows)


def _granted(row: Reached, rows: Sequence[Reached]) -> Reached:
    more = GRANTED * max(of_method(rows, row.task, row.method) or 0.0, 0.0)
    means, worst, *values = (
        [value + more for value in known] for known in (row.means, row.worst, *row.values)
    )
    return replace(row, means=means, worst=worst, values=values)


def in_words(rows: Sequence[Reached]) -> str:
    """What SCNs and the others still gained, at most."""
    parts = []
    for name, mixed in (("SCNs", True), ("others", False)):
        known = [g for (_, method), g in gains(rows).items() if (method == SCN) is mixed and g is not None]
        if known:
            parts.append(f"{name} {max(known):+.4f}")
    return f"late gain of {', '.join(parts)}" if parts else "late gain not known"
