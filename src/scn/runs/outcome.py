"""What runs reached, and the table of it: one row for each method, D and variant over its seeds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from scn.core.storage import write_atomically
from scn.objectives import Score


@dataclass(frozen=True)
class Outcome:
    """What one run reached."""

    method: str
    dims: int
    seed: int
    stored: int  # weights, of all base models and of what configures them
    used: int  # weights of the plain network that makes a prediction
    settings: list[list[float]]  # that it was tested under, with enough samples each
    values: list[float]  # its score under each of them
    mean: float
    more: str = ""  # what tells it from others with the same method and D, such as its map
    late_gain: float | None = None  # of the validation score in the last fifth of the training


@dataclass(frozen=True)
class Row:
    """One line of the table: a method (with D) over its seeds."""

    method: str
    dims: int
    mean: float
    std: float
    worst: float  # the worst score under any setting, as a mean over seeds
    seeds: int
    parameters: int  # stored
    inference: int  # used for one prediction
    settings: int = 0  # that the worst was chosen from: those with enough samples
    more: str = ""
    late_gain: float | None = None  # as a mean over the runs: how far it still was from its end


def table(outcomes: Sequence[Outcome], score: Score) -> list[Row]:
    """One row for each method, D and variant: the mean over seeds and its standard deviation."""
    rows = []
    for method, dims, more in dict.fromkeys((o.method, o.dims, o.more) for o in outcomes):
        same = [o for o in outcomes if (o.method, o.dims, o.more) == (method, dims, more)]
        seeds = sorted({o.seed for o in same})
        means = torch.tensor([_mean([o.mean for o in same if o.seed == s]) for s in seeds])
        worst = _mean([score.worst(v for o in same if o.seed == s for v in o.values) for s in seeds])
        rows.append(
            Row(
                method,
                dims,
                means.mean().item(),
                means.std().item() if len(seeds) > 1 else 0.0,
                worst,
                len(seeds),
                same[0].stored,
                same[0].used,
                len({tuple(setting) for o in same for setting in o.settings}),
                more,
                _mean(gains) if (gains := [o.late_gain for o in same if o.late_gain is not None]) else None,
            )
        )
    return rows


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def write_comparison(rows: Sequence[dict[str, Any]], folder: Path, facts: dict[str, Any]) -> Path:
    """comparison.json: the table of all runs in a folder, and what they were tested on.

    It is for other programs: nothing here reads it, because every run says what it reached.
    """
    path = folder / "comparison.json"
    content = {**facts, "rows": list(rows)}
    write_atomically(path, (json.dumps(content, indent=2) + "\n").encode())
    return path
