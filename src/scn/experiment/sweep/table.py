"""The table of a sweep: one row for each run that is finished, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scn import methods
from scn.core.storage import write_atomically
from scn.data import short_name
from scn.experiment.jobs import Job
from scn.runs import Run
from scn.runs.collection import LoadedRun
from scn.runs.labels import arguments
from scn.runs.outcome import Outcome

TABLE = "sweep.csv"
OF_DATA = ("shape", "classes")  # arguments of a backbone that follow from the data


def table_rows(
    jobs: Sequence[Job], found: Mapping[str, Mapping[str, Any]], named: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """What each finished run is and reached, in the order of the jobs; `found` is that by their names.

    Of sizes and recipe there are the values in which the jobs differ, and those that are `named`.
    """
    flat = {job.name: _sizes(job) | job.config.recipe for job in jobs}
    names = dict.fromkeys(name for values in flat.values() for name in values)
    asked = set(named)
    several = [n for n in names if n in asked or len({repr(values.get(n)) for values in flat.values()}) > 1]
    return [
        {
            **_what(job),
            **{name: flat[job.name].get(name) for name in several},
            **found[job.name],
        }
        for job in jobs
        if job.name in found
    ]


def _sizes(job: Job) -> dict[str, Any]:
    known = arguments(Run(Path(), job.config))
    return {name: value for name, value in known.items() if name not in OF_DATA}


def _what(job: Job) -> dict[str, Any]:
    config, kind = job.config, methods.get(job.config.method)
    return {
        "data": short_name(config.data),
        "transform": config.transform,
        "preset": config.preset,
        "backbone": config.backbone.get("name") or config.backbone["class"],
        "objective": config.objective["name"],
        "method": config.method,
        "dims": config.dims if kind.mixes or kind.factors else None,
        "map": config.map["name"] if kind.mixes else None,
        "subspace": config.subspace if kind.mixes else None,
        "fixed": None if config.fixed is None else " ".join(f"{value:g}" for value in config.fixed),
        "seed": config.seed,
    }


def reached(job: Job, outcome: Outcome, folder: Path) -> dict[str, Any]:
    """What is known of a finished run."""
    one = LoadedRun(Run(folder / job.name, job.config))
    return {
        "score": one.score.key,
        "mean": outcome.mean,
        "worst": one.score.worst(outcome.values),
        "validation": one.validation,
        "weights_stored": outcome.stored,
        "weights_used": outcome.used,
        "seconds": round(sum(line["seconds"] for line in one.epochs), 3),
        "run": one.folder.name,
    }


def write_table(rows: Sequence[Mapping[str, Any]], folder: Path) -> Path:
    """sweep.csv, whole or as it was; without rows there is none."""
    path = folder / TABLE
    if rows:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_atomically(path, text.getvalue().encode())
    return path
