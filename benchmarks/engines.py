"""What an engine costs beside the work: seconds for a job that does nothing, and for a small run.

The start of processes, and of Ray, is left out: a job is timed from the end of the one before it. Then twelve
equal runs by one worker and by two, starts included. That ratio means something only where two processors are
free; the seconds of processors beside it show on any machine whether workers are in each other's way.
"""

from __future__ import annotations

import itertools
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scn import transforms
from scn.experiment import engines
from scn.experiment.compare import carry_out, compare
from scn.experiment.jobs import Evaluation, Job, plan_jobs
from scn.experiment.plan import plan_run
from scn.training.recipe import Recipe

JOBS = 12
LIMITS = {"local": 0.3, "ray": 2.0}  # seconds for each job
SHARE = 0.6  # of the time of one worker, for two


def nothing(folder: Path, job: int) -> int:
    return job


def small_runs(epochs: int) -> list[Job]:
    rotation = transforms.get("rotation")
    make = partial(plan_run, "digits", "rotation", "mlp", recipe=Recipe(epochs=epochs), sizes={"width": 8})
    return plan_jobs(make, rotation, ["one4all"], [1], range(JOBS), Evaluation(rotation.grid(4)))


def between(ends: Iterator[Any]) -> float:
    """Median seconds from one job's end to the next one's."""
    times = [time.perf_counter() for _ in ends]
    return statistics.median(later - former for former, later in itertools.pairwise(times))


def in_new_folder(work: Callable[[Path], float]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return work(Path(folder))


def overhead(name: str, jobs: list[Job], plain: float) -> None:
    """Seconds of an engine for each job, beside those of the work itself."""
    engine = engines.get(name)
    empty = in_new_folder(lambda folder: between(engine(nothing, range(JOBS), folder, 1)))
    trained = in_new_folder(lambda folder: between(compare(jobs, folder, at_once=1, engine=name)))
    print(f"  {name:<8} a job that does nothing {empty:.3f}   limit {LIMITS[name]}")
    print(f"  {name:<8} a small run {trained:.3f}, of itself {plain:.3f}: {trained - plain:+.3f}")


def seconds(jobs: list[Job], workers: int) -> tuple[float, float]:
    """Of the clock, and of the processors."""
    began, used = time.perf_counter(), _used()
    with tempfile.TemporaryDirectory() as folder:
        list(compare(jobs, Path(folder), at_once=workers))
    return time.perf_counter() - began, _used() - used


def _used() -> float:
    """Seconds of processors of workers that have ended."""
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


def main() -> None:
    jobs = small_runs(epochs=5)
    plain = in_new_folder(lambda folder: between(map(partial(carry_out, folder), jobs)))
    print("overhead of engines (seconds for each job)")
    for name in LIMITS:
        if name != "ray" or find_spec("ray") is not None:
            overhead(name, jobs, plain)
    (one, worked), (two, both) = (seconds(small_runs(epochs=100), workers) for workers in (1, 2))
    print(f"\n{JOBS} equal runs: one worker {one:.1f} s, two {two:.1f} s: {two / one:.2f}   limit {SHARE}")
    print(f"  seconds of processors {worked:.1f} and {both:.1f}: {both / worked:.2f}")


if __name__ == "__main__":
    main()
