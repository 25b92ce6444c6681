"""`scn sweep`: many runs that a file describes."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import torch
import typer

from scn.cli.allow import AllowOption
from scn.cli.compare import AddressOption, EngineOption, JobsOption, show
from scn.cli.progress import comparison_progress, duration
from scn.experiment import engines
from scn.experiment.compare import describe, entitle
from scn.experiment.jobs import Job
from scn.experiment.sweep import Status, Sweep, read_sweep, status_of
from scn.objectives import Score
from scn.runs import Run
from scn.runs.labels import task_of
from scn.runs.outcome import Row, table


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="What is to be run.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The folder for all runs; by default runs/FILE.")
    ] = None,
    status: Annotated[bool, typer.Option("--status", help="Say how far it is, and train nothing.")] = False,
    jobs: JobsOption = None,
    engine: EngineOption = engines.USUAL,
    address: AddressOption = None,
    allow: AllowOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")] = False,
) -> None:
    """Train every run of a grid, or search for the best values, as a file says, and write one table.

    Runs that are there already are not trained again, so the same command goes on where it was stopped.
    Writes sweep.csv after every run.

    Examples: scn sweep examples/sweep.toml -o runs/sweep
    scn sweep examples/sweep.toml -o runs/sweep --status
    """
    torch.set_num_threads(1)
    folder = output or Path("runs") / file.stem
    said = read_sweep(file)
    if status:
        show_status(status_of(said, folder), as_json)
        return
    sweep = Sweep(said, folder, jobs, engine, address)
    try:
        with sweep.alone():
            carry_out(sweep, quiet)
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        raise
    finally:
        for name, reason in sweep.source.refused.items():
            print(f"left out: {name} ({reason})", file=sys.stderr)
    if sweep.outcomes:
        show_found(sweep, as_json)
    sweep.raise_failed()


def carry_out(sweep: Sweep, quiet: bool) -> None:
    """All rounds, with progress on standard error."""
    for jobs in sweep.rounds():
        scores = {job.name: _score(job) for job in jobs}
        with comparison_progress(jobs, sweep.folder, quiet, "sweep") as say:
            for job, outcome in sweep.carry_out(jobs):
                say(job.name, scores[job.name].text(outcome.mean))


def show_found(sweep: Sweep, as_json: bool) -> None:
    """Table or JSON on standard output; where it stands, and what is best, on standard error."""
    best = sweep.source.best()
    if as_json:
        found = None if best is None else {"values": best[0], "validation": best[1]}
        print(json.dumps({"rows": sweep.rows(), "best": found, "failed": sorted(sweep.failed)}))
    else:
        finished = [job for job in sweep.jobs if job.name in sweep.outcomes]
        tasks: dict[tuple[str, ...], list[Job]] = {}
        for job in finished:
            tasks.setdefault(tuple(task_of(Run(sweep.folder, job.config)).values()), []).append(job)
        for several in tasks.values():
            _show_task(sweep, several)
    print(f"wrote {sweep.write()}", file=sys.stderr)
    if best is not None:
        values = ", ".join(f"{name} = {value}" for name, value in best[0].items())
        print(f"best, by the data that were held back ({best[1]:.4g}): {values}", file=sys.stderr)


def _show_task(sweep: Sweep, jobs: Sequence[Job]) -> None:
    """One task: mean and deviation over seeds, the best first."""
    score = _score(jobs[0])
    rows = table([sweep.outcomes[job.name] for job in jobs], score)

    def rank(row: Row) -> float:
        return -row.mean if score.higher_is_better else row.mean

    title = entitle(describe(jobs), max(row.seeds for row in rows))
    show(sorted(rows, key=rank), score, title)


def _score(job: Job) -> Score:
    return Run(Path(), job.config).objective().score


def show_status(found: Status, as_json: bool) -> None:
    if as_json:
        counts = {"done": len(found.done), "begun": len(found.begun), "failed": len(found.failed)}
        print(json.dumps({"runs": found.total, **asdict(found), **counts, "reasons": found.failed}))
        return
    left = "" if found.seconds_left is None else f", about {duration(found.seconds_left)} left"
    print(
        f"{found.total} runs: {len(found.done)} done, {len(found.begun)} begun, {found.waiting} waiting, "
        f"{len(found.failed)} failed{left if len(found.done) < found.total else ''}"
    )
    for name, reason in found.failed.items():
        print(f"failed: {name}: {reason}")
    if found.at_once:
        print(f"a sweep is at work, {found.at_once} side by side")
    elif len(found.done) < found.total:
        print("no sweep is at work: the same command without --status goes on")
