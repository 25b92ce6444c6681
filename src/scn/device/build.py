"""Compile a network for a target, and read from the result what it takes of the memory.

Two programs are built: the harness, which runs the network over a file of inputs, and a minimal program,
whose size over that of a program that does nothing is what the network takes.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scn.core.errors import Failed
from scn.device.targets import FIRMWARE, Target

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wdouble-promotion", "-Wshadow", "-Werror")
HARNESS = ("-std=gnu99", "-Wall", "-Wextra", "-Werror")


@dataclass(frozen=True)
class Code:
    """C code of a network, and how the harness calls it.

    The sizes are those that subject.h defines; `alphas` and `dims` are 0 where nothing is configured.
    """

    name: str
    sources: tuple[Path, ...]
    include: tuple[Path, ...]
    header: str  # the text of subject.h
    inputs: int
    outputs: int
    alphas: int = 0
    dims: int = 0
    input_type: str = "<f4"
    flags: tuple[str, ...] = STRICT


@dataclass(frozen=True)
class Footprint:
    """Bytes that the network adds to a program. `flash` = `weights` + `code`; `static` is of the RAM."""

    flash: int
    weights: int
    code: int
    static: int


def build(code: Code, target: Target, folder: Path) -> tuple[Path, Footprint]:
    """The program that measures, and what the network takes of the memory. Files go into `folder`."""
    target.require()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "subject.h").write_text(code.header)
    places = [f"-I{place}" for place in (folder, FIRMWARE, *code.include)]
    network = [
        _compile(target, (*code.flags, *places), source, folder / f"network-{source.stem}.o")
        for source in code.sources
    ]
    board = [
        _compile(target, (*HARNESS, *places), FIRMWARE / file, folder / f"{file}.o") for file in target.board
    ]
    harness = _compile(target, (*HARNESS, *places), FIRMWARE / "harness.c", folder / "harness.o")
    program = _link(target, [harness, *network, *board], folder / "harness.elf")
    sizes = {}
    for name, defines in {"nothing": (), "minimal": ("-DSUBJECT",)}.items():
        main = _compile(target, (*HARNESS, *places, *defines), FIRMWARE / "minimal.c", folder / f"{name}.o")
        sizes[name] = _sizes(target, _link(target, [main, *network, *board], folder / f"{name}.elf"))
    flash, static = (sizes["minimal"][i] - sizes["nothing"][i] for i in range(2))
    weights = _constants(target, folder / "minimal.elf") - _constants(target, folder / "nothing.elf")
    return program, Footprint(flash, weights, flash - weights, static)


def _compile(target: Target, flags: Sequence[str], source: Path, output: Path) -> Path:
    return _run(target.compiler, *target.flags, *flags, "-c", source, "-o", output)


def _link(target: Target, objects: Sequence[Path], output: Path) -> Path:
    return _run(target.compiler, *target.flags, *objects, *target.linking, "-o", output)


def _run(*command: str | Path) -> Path:
    """Run a tool whose last argument is the file it makes."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"{command[0]} failed:\n{' '.join(map(str, command))}\n{done.stderr.strip()}")
    return Path(command[-1])


def _sizes(target: Target, program: Path) -> tuple[int, int]:
    """Bytes of flash (code, constants, initial values of data) and of RAM (data, whether initial or zero)."""
    out = subprocess.run([target.tool("size"), program], capture_output=True, text=True, check=True).stdout
    text, data, zero = (int(value) for value in out.splitlines()[1].split()[:3])
    return text + data, data + zero


def _constants(target: Target, program: Path) -> int:
    """Bytes of all named constants: the weights, their scales and tables."""
    command = [target.tool("nm"), "--print-size", "--defined-only", "--radix=d", str(program)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines()]
    return sum(int(row[1]) for row in rows if len(row) == 4 and row[2] in "rR")
