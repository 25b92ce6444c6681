"""Scores over settings: what an evaluation found, as a table in the run folder and in memory.

scores.csv has a row for each setting: its params, its alpha, and the score under the name of its key.
evaluation.json beside it says what was measured on which data. Version 0.1 wrote accuracy.csv.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.core.storage import write_atomically
from scn.objectives import Score
from scn.transforms import Transform

ENOUGH = 10  # samples that were measured near a setting: fewer say nothing about it
STEM, FORMER_STEM = "scores", "accuracy"


@dataclass(frozen=True)
class Scores:
    """values[i] is the score under params[i] (alpha[i] as the network saw it)."""

    params: Tensor  # (N, P)
    values: Tensor  # (N,)
    score: Score
    alpha: Tensor | None = None  # (N, S)
    counts: Tensor | None = None  # (N,): how many samples were under each setting, if that differs
    facts: dict[str, Any] = field(default_factory=dict)  # what it was measured on

    @property
    def mean(self) -> float:
        """Over all samples; as it was written, where settings were left out since."""
        if "mean" in self.facts:
            return float(self.facts["mean"])
        weights = torch.ones_like(self.values) if self.counts is None else self.counts.to(self.values)
        return ((self.values * weights).sum() / weights.sum()).item()

    def summary(self) -> dict[str, float]:
        """Lowest and highest are of settings with enough samples."""
        values = self.with_enough().values
        return {"mean": self.mean, "min": values.min().item(), "max": values.max().item()}

    def with_enough(self) -> Scores:
        """Without the settings that too few samples were measured near, unless that is all of them."""
        if self.counts is None or not (self.counts >= ENOUGH).any():
            return self
        kept = self.counts >= ENOUGH
        return replace(
            self,
            params=self.params[kept],
            values=self.values[kept],
            alpha=None if self.alpha is None else self.alpha[kept],
            counts=self.counts[kept],
            facts={**self.facts, "mean": self.mean},
        )


def table_file(folder: Path, suffix: str = "") -> Path:
    """Where the table of an evaluation is; of an old run, where it was."""
    path, former = (folder / f"{stem}{suffix}.csv" for stem in (STEM, FORMER_STEM))
    return former if former.is_file() and not path.is_file() else path


def suffixes(folder: Path, kind: str) -> list[str]:
    """The suffixes that begin with `kind` of all evaluations in a folder."""
    stems = [p.stem for stem in (STEM, FORMER_STEM) for p in sorted(folder.glob(f"{stem}{kind}*.csv"))]
    return list(dict.fromkeys(s.removeprefix(STEM).removeprefix(FORMER_STEM) for s in stems))


def write_scores(folder: Path, scores: Scores, transform: Transform, suffix: str = "") -> Path:
    """Write the table and its summary; `suffix` keeps a special evaluation apart."""
    assert scores.alpha is not None
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    names = [p.name for p in transform.parameters]
    alphas = [f"alpha_{i}" for i in range(1, transform.alpha_dim + 1)]
    writer.writerow([*names, *alphas, scores.score.key])
    columns = (scores.params.tolist(), scores.alpha.tolist(), scores.values.tolist())
    for params, alpha, value in zip(*columns, strict=True):
        writer.writerow(f"{v:.9g}" for v in (*params, *alpha, value))
    path = folder / f"{STEM}{suffix}.csv"
    write_atomically(path, table.getvalue().encode())
    facts = {**scores.facts, "score": scores.score.key, **scores.summary()}
    write_atomically(folder / f"evaluation{suffix}.json", (json.dumps(facts, indent=2) + "\n").encode())
    (folder / f"{FORMER_STEM}{suffix}.csv").unlink(missing_ok=True)
    return path


def read_scores(folder: Path, transform: Transform, score: Score, suffix: str = "") -> Scores:
    """What `write_scores` wrote, or an error that names the command which writes it anew."""
    path = table_file(folder, suffix)
    count = len(transform.parameters)
    try:
        with path.open(newline="") as file:
            rows = [[float(value) for value in row] for row in list(csv.reader(file))[1:]]
        values = torch.tensor(rows, dtype=torch.float64)
        facts = json.loads((folder / f"evaluation{suffix}.json").read_text())
        _require_whole(values, facts, score, transform.measured)
        counts = torch.tensor(facts["counts"]) if "counts" in facts else None
        return Scores(values[:, :count], values[:, -1], score, values[:, count:-1], counts, facts)
    except (ValueError, IndexError, FileNotFoundError) as error:
        raise ScnError(f"{path} cannot be read ({error}): `scn evaluate {folder}` writes it anew") from error


def _require_whole(values: Tensor, facts: Any, score: Score, measured: bool) -> None:
    """Refuse a table that was cut, or holds what is no score."""
    if not isinstance(facts, dict) or not isinstance(facts.get("samples"), int):
        raise ScnError("what it was measured on is not said beside it")
    asked = len(values) if measured else facts.get("settings", len(values))
    expected = len(facts.get("counts", [])) or asked  # settings without a sample have no row
    if len(values) != expected:
        raise ScnError(f"it has {len(values)} rows instead of {expected}")
    if not score.possible(values[:, -1]):
        limits = " to ".join("any" if v is None else f"{v:g}" for v in (score.lowest, score.highest))
        raise ScnError(f"it holds values of {score.label} that are not from {limits}")
