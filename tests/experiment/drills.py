"""Sweeps of small runs that are disturbed: who is killed, and what must be equal at the end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from scn import transforms
from scn.experiment.compare import compare
from scn.experiment.jobs import Evaluation, Job, plan_jobs
from scn.experiment.plan import plan_run
from scn.training.recipe import Recipe

EQUAL = ("model.safetensors", "scores.csv", "config.json")  # metrics say how long an epoch took
KILLS = 5


def die(folder: Path, job: str) -> str:
    """Sent to other machines: this module imports nothing that they do not have."""
    if job == "die":
        os._exit(9)
    return job


def small_jobs(data: str, count: int, epochs: int = 3) -> list[Job]:
    """Runs that differ in their seeds."""
    recipe = Recipe(epochs=epochs, batch_size=32)
    make = partial(plan_run, data, "rotation", "mlp", recipe=recipe, sizes={"width": 4})
    rotation = transforms.get("rotation")
    return plan_jobs(make, rotation, ["scn"], [2], range(count), Evaluation(rotation.grid(4)))


def carried_out(jobs: Sequence[Job], folder: Path, **how: object) -> list[str]:
    """The names of the runs in the order in which they ended."""
    return [job.name for job, _ in compare(jobs, folder, **how)]  # type: ignore[arg-type]


def contents(folder: Path) -> dict[str, bytes]:
    """What must not depend on how often a run was tried, nor where."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for name in EQUAL
        for path in folder.glob(f"*/{name}")
    }


def descendants(pid: int) -> dict[int, str]:
    """The processes that this one has started, and they in turn, with their commands."""
    lines = subprocess.run(
        ["ps", "-ww", "-eo", "pid,ppid,stat,args"], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 3) for line in lines.stdout.splitlines()[1:]]
    below: dict[int, str] = {}
    parents = {pid}
    while parents:
        found = {int(row[0]): row[3] for row in rows if int(row[1]) in parents and row[2][0] != "Z"}
        below |= found
        parents = set(found)
    return below


def at_work(pid: int, command: str) -> list[int]:
    return [found for found, args in descendants(pid).items() if command in args]


@contextmanager
def workers_killed(command: str) -> Iterator[list[int]]:
    """Meanwhile workers of this process are killed at random moments; yields who was."""
    over, killed = threading.Event(), list[int]()

    def kill() -> None:
        while len(killed) < KILLS and not over.wait(random.uniform(0.0, 1.5)):
            alive = at_work(os.getpid(), command)
            if alive:
                killed.append(random.choice(alive))
                os.kill(killed[-1], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def wait_for(something: Callable[[], object], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not something():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)
