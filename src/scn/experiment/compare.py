"""Compare methods on one task: many runs, side by side in processes, and one table of them.

Every run has a folder of its own, so a comparison that was interrupted, or is asked for again with more
methods, trains only what is missing.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from scn import data, methods, runs
from scn.core.errors import AlreadyThere
from scn.experiment.train import train
from scn.methods import Method
from scn.runs import Run, RunConfig, backbone_of
from scn.runs.collection import LoadedRun
from scn.runs.evaluation import evaluate_run
from scn.runs.outcome import Outcome
from scn.runs.scores import table_file, write_scores
from scn.transforms import Transform

ONE4ONE_SETTINGS = 5


@dataclass(frozen=True)
class Job:
    """One run of a comparison."""

    name: str
    config: RunConfig


@dataclass(frozen=True)
class Exam:
    """What every run is tested on."""

    settings: Tensor  # (N, P)
    samples: int = 0  # of the test data, 0 for all


def plan(
    make: Callable[..., RunConfig],
    transform: Transform,
    names: Sequence[str] | None,
    dims: Sequence[int],
    seeds: range,
) -> list[Job]:
    """Every run of the comparison; `make(method, dims=..., fixed=...)` gives the configuration of one.

    Without names, all methods that can deal with the transform.
    """
    if names is None:
        able = [name for name in methods.registry if methods.get(name).objection(transform) is None]
        names = sorted(able, key=lambda name: not methods.get(name).mixes)
    jobs: dict[int, list[Job]] = {seed: [] for seed in seeds}
    for name in dict.fromkeys(names):
        variants = _variants(methods.get(name), transform, dims)
        base = make(name, **variants[0][1])
        own = seeds[:1] if methods.get(name).needs_fixed else seeds  # one network for each setting is enough
        for seed, (label, changes) in itertools.product(own, variants):
            full = "-".join(part for part in (name, label, f"seed{seed}") if part)
            jobs[seed].append(Job(full, replace(base, seed=seed, **changes)))
    return [job for several in jobs.values() for job in several]


def _variants(
    kind: type[Method], transform: Transform, dims: Sequence[int]
) -> list[tuple[str, dict[str, Any]]]:
    """What a method is trained with beside its seed: a label for the folder, and what is configured."""
    if kind.mixes:
        return [(f"d{d}", {"dims": d}) for d in dict.fromkeys(dims)]
    if not kind.needs_fixed:
        return [("", {})]
    middles = (torch.arange(ONE4ONE_SETTINGS) + 0.5) / ONE4ONE_SETTINGS
    settings = [p.low + (p.high - p.low) * middles for p in transform.parameters]
    rows = torch.stack(settings, dim=1).tolist()
    return [("_".join(f"{v:g}" for v in row), {"fixed": row}) for row in rows]


def open_run(folder: Path, config: RunConfig) -> Run:
    """The run of a job: a new one, or the one that is there, if it is the same."""
    if not (folder / "config.json").exists():
        return runs.create(folder, config)
    run = runs.read(folder)
    old = replace(run.config, recipe=run.recipe().to_json())  # with what recipes have had since
    ours, theirs = (json.loads(json.dumps(asdict(c))) for c in (config, old))
    for key in ours.keys() - {"versions", "source"}:
        if ours[key] != theirs[key]:
            inner = [k for k in ours[key] if ours[key][k] != theirs[key].get(k)] if key == "recipe" else []
            raise AlreadyThere(
                f"{folder} holds a run with another {inner[0] if inner else key}: choose another folder"
            )
    return run


def carry_out(folder: Path, job: Job, backbone: str | None, test: Exam) -> Outcome:
    """Train and evaluate one run, as far as that is not done yet."""
    torch.set_num_threads(1)
    run = open_run(folder / job.name, job.config)
    factory = backbone_of(run, backbone)
    if not run.is_trained:
        train(run, factory, prefetch=False)
    method = run.method()
    settings = test.settings if method.fixed is None else method.fixed.view(1, -1)
    if not _is_evaluated(run, len(settings), test.samples):
        found = evaluate_run(run, run.network(factory), settings, samples=test.samples or None)
        write_scores(run.folder, found, method.transform)
    return LoadedRun(run, backbone=backbone).outcome


def _is_evaluated(run: Run, settings: int, samples: int) -> bool:
    """Whether the run was evaluated under so many settings on so many samples, 0 for all."""
    if not table_file(run.folder).is_file():
        return False
    facts = LoadedRun(run).stored("").facts
    count = data.load(run.config.data).counts["test"]
    return (facts.get("settings"), facts["samples"]) == (settings, min(samples or count, count))


def compare(
    jobs: Sequence[Job], folder: Path, test: Exam, *, backbone: str | None = None
) -> Iterator[tuple[Job, Outcome]]:
    """Carry out all jobs, as many side by side as there are cores; yields each when it is done."""
    folder.mkdir(parents=True, exist_ok=True)
    for job in jobs:  # before any work: refuse a folder with other runs
        open_run(folder / job.name, job.config)
    workers = max(1, min(os.cpu_count() or 1, len(jobs)))
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=spawn, initializer=_end_with_parent) as pool:
        waiting = {pool.submit(carry_out, folder, job, backbone, test): job for job in jobs}
        try:
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _end_with_parent() -> None:
    """Workers would otherwise go on for hours when the command is killed. Their checkpoints stay."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        sentinel = parent.sentinel
        threading.Thread(target=lambda: (wait([sentinel]), os._exit(1)), daemon=True).start()
