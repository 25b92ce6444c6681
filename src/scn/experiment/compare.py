"""Compare methods on one task: many runs, side by side, and one table of them.

Every run has a folder of its own, so a comparison that was interrupted, or is asked for again with more
methods, trains only what is missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from scn import runs
from scn.core.errors import AlreadyThere, Failed, ScnError
from scn.core.registry import allow, allowed
from scn.data import short_name
from scn.experiment import engines
from scn.experiment.jobs import Job
from scn.experiment.train import epochs_trained, train
from scn.runs import Run, RunConfig, backbone_of
from scn.runs.collection import LoadedRun
from scn.runs.evaluation import evaluate_run
from scn.runs.outcome import Outcome
from scn.runs.scores import table_file, write_scores


def open_run(folder: Path, config: RunConfig) -> Run:
    """The run of a job: a new one, or the one that is there, if it is the same."""
    if not runs.is_run(folder):
        return runs.create(folder, config)
    run = runs.read(folder)
    method = run.method()  # with what recipes have had since
    since = {**run.recipe().to_json(), "base_noise": method.noise, "together": method.together}
    old = replace(run.config, recipe=since)
    ours, theirs = (json.loads(json.dumps(asdict(c))) for c in (config, old))
    for key in sorted(ours.keys() - {"versions", "format"}, key=lambda key: key == "recipe"):
        if ours[key] != theirs[key]:
            raise AlreadyThere(f"{folder} {_difference(key, ours[key], theirs[key])}: choose another folder")
    return run


def _difference(key: str, ours: Any, theirs: Any) -> str:
    """How the run that is there differs from the one that is asked for."""
    if key == "source":
        return f"holds a run that was {_origin(theirs)}, where one is asked for that was {_origin(ours)}"
    if key == "map":
        return f"holds a run with another map ({theirs['name']}, not {ours['name']})"
    inner = [name for name in ours if ours[name] != theirs.get(name)] if key == "recipe" else []
    return f"holds a run with another {inner[0] if inner else key}"


def _origin(source: dict[str, Any]) -> str:
    """Where a network comes from, as the source in its configuration has it."""
    if "imported" in source:
        return f"imported from {source['imported']}"
    if "epochs" in source:
        ends = ", ".join(map(str, source["epochs"]))
        return f"trained on after it had ended at {ends} epochs"
    return "trained in one go"


def carry_out(folder: Path, job: Job) -> Outcome:
    """Train and evaluate one run, as far as that is not done yet."""
    torch.set_num_threads(1)
    run, test = open_run(folder / job.name, job.config), job.test
    factory = backbone_of(run)
    if not run.is_trained:
        train(run, factory, prefetch=False)
    method = run.method()
    settings = test.settings if method.fixed is None else method.fixed.view(1, -1)
    if not _is_evaluated(run, len(settings), test.samples):
        found = evaluate_run(run, run.network(factory), settings, samples=test.samples or None)
        write_scores(run.folder, found, method.transform)
    return LoadedRun(run, job.more).outcome


def is_carried_out(folder: Path, job: Job) -> bool:
    """Whether a job is done: trained, and tested as it asks."""
    run = Run(folder / job.name, job.config)
    settings = 1 if job.config.fixed is not None else len(job.test.settings)
    return run.is_trained and _is_evaluated(run, settings, job.test.samples)


def _carry_out_allowed(names: frozenset[str], folder: Path, job: Job) -> Outcome:
    """In a worker, where what a person named for the command is allowed too."""
    with allow(*names):
        return carry_out(folder, job)


def _is_evaluated(run: Run, settings: int, samples: int) -> bool:
    """Whether the run was evaluated under so many settings on so many samples, 0 for all."""
    if not table_file(run.folder).is_file():
        return False
    facts, count = LoadedRun(run).stored("").facts, run.config.samples["test"]
    return (facts.get("settings"), facts["samples"]) == (settings, min(samples or count, count))


def compare(
    jobs: Sequence[Job],
    folder: Path,
    *,
    at_once: int | None = None,
    engine: str = engines.USUAL,
) -> Iterator[tuple[Job, Outcome]]:
    """Carry out all jobs, as many side by side as there are processors; yields each when it is done.

    A run that fails does not keep the others from their end; the error then names it.
    """
    carried_out_by = engines.get(engine)
    _require_place(jobs, folder)
    work = partial(_carry_out_allowed, allowed())
    failed: dict[str, Exception] = {}
    for ended in carried_out_by(work, jobs, folder, min(at_once or engines.cores(), len(jobs))):
        if ended.result is None:
            failed[ended.job.name] = ended.error or Failed("it came to no result")
        else:
            yield ended.job, ended.result
    if failed:
        _raise(failed, len(jobs))


def _require_place(jobs: Sequence[Job], folder: Path) -> None:
    """Before any work: refuse a folder that is something else, or holds other runs."""
    if folder.exists() and not folder.is_dir():
        raise AlreadyThere(f"{folder} is a file: choose a folder for the runs")
    if runs.is_run(folder):
        raise AlreadyThere(f"{folder} is a run: choose another folder for the comparison")
    for job in jobs:
        if runs.is_run(folder / job.name):
            open_run(folder / job.name, job.config)
    folder.mkdir(parents=True, exist_ok=True)


def _raise(failed: dict[str, Exception], count: int) -> None:
    """One error about all runs that failed; a fault of the program as it is, with the name of the run."""
    for name, error in failed.items():
        if not isinstance(error, ScnError | OSError):
            error.add_note(f"in the run {name}")
            raise error
    reasons = "; ".join(f"{name}: {error}" for name, error in failed.items())
    raise Failed(f"{len(failed)} of {count} runs failed, and the same call goes on with them. {reasons}")


def progress(jobs: Sequence[Job], folder: Path) -> dict[str, int]:
    """How many epochs each run that has begun has behind it."""
    found = {job.name: epochs_trained(folder / job.name) for job in jobs}
    return {name: epochs for name, epochs in found.items() if epochs is not None}


def describe(jobs: Sequence[Job]) -> dict[str, Any]:
    """What is compared on what: the head of comparison.json."""
    config, test = jobs[0].config, jobs[0].test
    limits = {"train": config.recipe["train_samples"], "test": test.samples}
    samples = {name: min(limits.get(name) or count, count) for name, count in config.samples.items()}
    return {
        "data": short_name(config.data),
        "score": Run(Path(), config).objective().score.key,
        "samples": samples,
        "transform": config.transform,
        "preset": config.preset,
    }


def entitle(facts: dict[str, Any], seeds: int) -> str:
    """The same in a line."""
    counts = ", ".join(f"{count:,} {name}" for name, count in facts["samples"].items())
    return f"{facts['transform']} on {facts['data']} ({counts}), preset {facts['preset']}, {seeds} seed(s)"
