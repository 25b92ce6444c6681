"""Estimated cycles of each phase: the emulator's record of what it ran, by a core's table of costs.

QEMU prints each block of instructions when it first meets it, and a line for every time that it runs one.
The harness reads its counter before and after each call, so the record says where a phase begins and ends.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from scn.core.errors import Failed
from scn.device.build import Code
from scn.device.cycles import CORES, cost_of_block
from scn.device.emulate import MOST_SECONDS, Group, write_inputs
from scn.device.targets import Target

RECORD = ("-d", "in_asm,exec,nochain")
CALLS = {"ticks_of_beta": "hypernet", "ticks_of_mix": "configure", "ticks_of_infer": "infer"}
NOTHING = "ticks_of_empty"
COUNTER = "board_ticks"
WORDS = 24  # where the text of an instruction begins in a line, behind its address and its words


@dataclass
class Record:
    """Blocks of instructions by their address, and how often one followed another in each phase."""

    blocks: dict[int, list[str]] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)
    steps: dict[str, Counter[tuple[int, int]]] = field(default_factory=dict)

    def instructions(self, phase: str) -> int:
        return sum(len(self.blocks[here]) * n for (here, _), n in self.steps.get(phase, Counter()).items())

    def cycles(self, phase: str, core: str) -> int:
        found = self.steps.get(phase, Counter())
        return sum(
            n * cost_of_block(CORES[core], self.blocks[here], taken=there != self.ends[here])
            for (here, there), n in found.items()
        )


def estimated_cycles(program: Path, code: Code, target: Target, group: Group) -> dict[str, int] | None:
    """Of one call of each phase, for the first input of a group; None for a core without a table."""
    if target.core is None:
        return None
    folder = program.parent / "trace"
    folder.mkdir(exist_ok=True)
    write_inputs(folder / "in.bin", code, [Group(group.alpha, group.x[:1])])
    record = _recorded(target, folder, program)
    nothing = record.cycles(NOTHING, target.core)
    return {
        phase: record.cycles(call, target.core) - nothing
        for call, phase in CALLS.items()
        if call in record.steps
    }


def _recorded(target: Target, folder: Path, program: Path) -> Record:
    command = [word for word in target.emulator if word != "-icount" and not word.startswith("shift=")]
    command = [*command[:-1], *RECORD, command[-1], str(program.resolve())]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=folder, stdin=quiet, stdout=quiet, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stderr is not None
        record = read(run.stderr)
        code = run.wait(MOST_SECONDS)
    if code:
        raise Failed(f"the emulator of {target.name} ended with code {code} while it was recorded")
    return record


def read(lines: Iterable[str]) -> Record:
    """The record in what the emulator printed. Of each phase the first call counts."""
    record, block, start = Record(), list[str](), 0
    call, readings, before, function = "", 0, 0, ""
    for line in lines:
        if line.startswith("Trace"):
            here, name = _ran(line)
            if name.startswith("ticks_of_") and name != call:
                call, readings = name, 0
            readings += name == COUNTER != function
            if before:
                record.steps.setdefault(call, Counter())[before, here] += 1
            before, function = here if call and readings == 1 else 0, name
        elif line.startswith("IN:"):
            block = []
        elif line.startswith("0x"):
            address, words = int(line[:10], 16), line[len("0x00000000:") : WORDS].split()
            if not block:
                start = address
                record.blocks[start] = block
            block.append(line[WORDS:].strip())
            record.ends[start] = address + 2 * len(words)
    return record


def _ran(line: str) -> tuple[int, str]:
    """The address of the block that ran, and the function that it is in."""
    places, function = line.split("[")[1].split("]")
    return int(places.split("/")[1], 16), function.strip()
