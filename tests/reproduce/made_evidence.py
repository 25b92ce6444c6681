"""Evidence by hand: rows with the scores that a test wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scn import methods
from scn.reproduce.evidence import Evidence, Reached
from scn.reproduce.parts import ROTATION


def row(method: str, *means: float, dims: int = 1, task: str = ROTATION, **more: Any) -> Reached:
    """Runs with these scores, one for each seed; as if they had learned all they could."""
    given: dict[str, Any] = {
        "map": "learned" if methods.get(method).mixes else "",
        "configurable": "*",
        "sizes": {"width": 32, "depth": 1},
        "fixed": None,
        "for_search": False,
        "seeds": list(range(len(means))),
        "worst": list(means),
        "settings": [[0.0]],
        "values": [[mean] for mean in means],
        "stored": 100,
        "used": 100,
        "epochs": 20,
        "late_gain": 0.0,
        "seconds": 1.0,
        "samples": {"train": 60_000, "test": 10_000},
        "of": {"train": 60_000, "test": 10_000},
        "preset": "default",
        "runs": [],
        "facts": {},
    }
    return Reached(task=task, method=method, dims=dims, means=list(means), **{**given, **more})


def evidence(*rows: Reached, budget: str = "cpu", entry: str = "rotation") -> Evidence:
    return Evidence(entry, budget, list(rows))


def scns(scores: Mapping[int, Sequence[float]], task: str = ROTATION, **more: Any) -> list[Reached]:
    """SCNs with the published map of an angle's cosine and sine, by D."""
    return [
        row("scn", *means, dims=dims, task=task, **{"stored": dims * 100 + 64 * 3 + 65 * dims, **more})
        for dims, means in scores.items()
    ]
