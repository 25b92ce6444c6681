"""How long an epoch takes here: the table that `scn reproduce list` plans with.

Writes src/scn/reproduce/seconds.json. For every task and size of the paper's figures, seconds of an epoch on
one core with one base model and with the most, by our recipe and by the published one. What is measured is
kept; `python benchmarks/epochs.py --anew` begins from nothing. Needs the data: `SCN_DATA_DIR`.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from scn import data, reproduce
from scn.core.errors import ScnError
from scn.reproduce import costs
from scn.reproduce.plan import Wanted, wanted

TABLE = Path(reproduce.__file__).parent / "seconds.json"


def processor() -> str:
    """What the machine calls its processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"one core of {names[0] if names else platform.processor() or 'an unknown processor'}"


def sizes() -> dict[str, list[Wanted]]:
    """What is to be timed: by task, size and budget, an SCN of the smallest and of the largest D."""
    found: dict[str, list[Wanted]] = {}
    for entry in reproduce.ENTRIES.values():
        for budget in ("cpu", "full"):
            for one in wanted(entry, budget, 1):
                key = costs.key_of(one.part.task, one.part.width, one.part.depth, budget)
                found.setdefault(key, []).append(one)
    return found


def smoke() -> dict[str, float]:
    """Processor time of all entries with the smallest budget, and how many models they have."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("reproduce", "all", "--budget", "smoke", "-o", folder, "--quiet")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", "from scn.cli.main import main; main()", *words], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": round(taken, 1), "models": costs.cost(reproduce.ENTRIES.values(), "smoke").models}


def main() -> None:
    torch.set_num_threads(1)
    table: dict[str, Any] = {"machine": "", "samples": {}, "epochs": {}, "smoke": {}}
    if TABLE.is_file() and "--anew" not in sys.argv:
        table = json.loads(TABLE.read_text())
    table["machine"] = f"{processor()} ({os.cpu_count()} in all)"
    table["reference"] = round(costs.reference(), 4)
    for key, several in sizes().items():
        dims = sorted({one.dims for one in several})
        if key in table["epochs"]:
            continue
        chosen, ends = several[0].chosen, dict.fromkeys((1, max(dims[-1], 2)))
        try:
            table["epochs"][key] = {d: round(costs.seconds_of_epoch(chosen, d), 3) for d in ends}
            table["samples"][chosen.data] = data.load(chosen.data).counts["train"]
        except ScnError as error:
            print(f"{key}: skipped ({error})")
            continue
        print(f"{key}: {table['epochs'][key]}", flush=True)
        TABLE.write_text(json.dumps(table, indent=1) + "\n")
    table["smoke"] = table["smoke"] or smoke()
    table["epochs"] = {key: value for key, value in table["epochs"].items() if key in sizes()}
    TABLE.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
