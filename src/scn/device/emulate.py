"""Run a built harness over inputs, in an emulator or directly, and read back all outputs and their cost."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from scn.core.errors import Failed, ScnError
from scn.device.build import Code
from scn.device.targets import Target

Array = np.ndarray[Any, Any]

MOST_SECONDS = 3600
WINDOW = 65536  # bytes of the stack that the harness paints
ENDINGS = {
    3: "it could not open a file",
    4: "a file ended too early",
    5: "the processor reported a fault",
    6: "the blob of its weights was refused",
}
PHASES = ("hypernet", "configure", "infer")


@dataclass(frozen=True)
class Group:
    """Inputs (N, ...) under one alpha (S,), which is empty where nothing is configured."""

    alpha: Array
    x: Array


@dataclass(frozen=True)
class DeviceOutputs:
    """What the device gave for all groups, and what that took.

    Instructions: (G,) for `hypernet` (the configuration network) and `configure` (the mixing alone), (N,) for
    `infer`; without the first two where nothing is configured, and None where the target cannot count. Stack:
    bytes at its deepest, by phase.
    """

    outputs: Array  # (N, O)
    beta: Array  # (G, D)
    instructions: dict[str, Array] | None
    stack: dict[str, int]


def emulate(program: Path, code: Code, target: Target, groups: Sequence[Group]) -> DeviceOutputs:
    """The outputs for all inputs. The files in.bin and out.bin are beside the program."""
    folder = program.parent
    write_inputs(folder / "in.bin", code, groups)
    (folder / "out.bin").unlink(missing_ok=True)
    command = [*target.emulator, program.name] if target.emulator else [str(program.resolve())]
    done = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=MOST_SECONDS, check=False
    )
    if done.returncode:
        reason = ENDINGS.get(done.returncode, done.stderr.decode(errors="replace").strip())
        raise Failed(f"{code.name} failed on {target.name} with code {done.returncode}: {reason}")
    found = _read_outputs(folder / "out.bin", code, target, groups)
    if target.ticks_per_instruction == 0:
        return _counted_by_callgrind(found, program, code, groups)
    return found


def write_inputs(path: Path, code: Code, groups: Sequence[Group]) -> None:
    """The file that the harness reads."""
    with path.open("wb") as file:
        file.write(np.array(len(groups), "<u4").tobytes())
        for group in groups:
            x = np.ascontiguousarray(group.x.reshape(len(group.x), -1), code.input_type)
            if group.alpha.shape != (code.alphas,) or x.shape[1] != code.inputs:
                raise ScnError(
                    f"{code.name} takes {code.alphas} alpha and {code.inputs} inputs, but was given "
                    f"{group.alpha.size} and {x.shape[1]}"
                )
            file.write(group.alpha.astype("<f4").tobytes())
            file.write(np.array(len(x), "<u4").tobytes())
            file.write(x.tobytes())


def _read_outputs(path: Path, code: Code, target: Target, groups: Sequence[Group]) -> DeviceOutputs:
    raw, place = path.read_bytes(), 4  # after the ticks of nothing, which the harness took off already

    def take(kind: Any, count: int) -> Array:
        nonlocal place
        dtype = np.dtype(kind)
        found = np.frombuffer(raw, dtype, count, place)
        place += dtype.itemsize * count
        return found

    inference = [("status", "<u4"), ("ticks", "<u4"), ("outputs", "<f4", (code.outputs,))]
    configured, beta, inferences = [], [], []
    for group in groups:
        configured.append(take("<u4", 3))
        beta.append(take("<f4", code.dims))
        inferences.append(take(inference, len(group.x)))
    stack, overflowed = take("<u4", 3), take("<u4", 1)[0]
    inferred = np.concatenate(inferences)
    refused = [int(row[0]) for row in configured if row[0]] + inferred["status"][
        inferred["status"] > 0
    ].tolist()
    if refused:
        raise Failed(f"{code.name} on {target.name} refused an input with status {refused[0]}")
    if overflowed:
        raise Failed(f"{code.name} takes more instructions than the counter of {target.name} can hold")
    if stack.max() >= WINDOW:
        raise Failed(f"{code.name} uses at least {WINDOW} bytes of stack on {target.name}")
    hypernet, mixing = np.array(configured)[:, 1:].T
    ticks = {"hypernet": hypernet, "configure": mixing} if code.alphas else {}
    ticks["infer"] = inferred["ticks"]
    scale = target.ticks_per_instruction
    counted = {name: np.rint(t / scale).astype(int) for name, t in ticks.items()} if scale else None
    return DeviceOutputs(
        inferred["outputs"], np.array(beta), counted, dict(zip(PHASES, stack.tolist(), strict=True))
    )


def _counted_by_callgrind(
    found: DeviceOutputs, program: Path, code: Code, groups: Sequence[Group]
) -> DeviceOutputs:
    """The same with instructions of the first input, counted by valgrind where it is installed."""
    if shutil.which("valgrind") is None:
        return found
    folder = program.parent
    write_inputs(folder / "in.bin", code, [Group(groups[0].alpha, groups[0].x[:1])])
    nothing = _collected(program, "ticks_of_empty") // 2  # the harness calls it twice
    functions = {"hypernet": "beta", "configure": "mix", "infer": "infer"}
    instructions = {
        phase: np.array([_collected(program, f"ticks_of_{function}") - nothing])
        for phase, function in functions.items()
        if code.alphas or function == "infer"
    }
    return replace(found, instructions=instructions)


def _collected(program: Path, function: str) -> int:
    """Instructions within one function of the program and what it calls."""
    command = [
        *("valgrind", "--tool=callgrind", f"--toggle-collect={function}", "--callgrind-out-file=counted"),
        str(program.resolve()),
    ]
    done = subprocess.run(command, cwd=program.parent, capture_output=True, text=True, check=False)
    found = re.search(r"^(?:summary|totals): (\d+)", (program.parent / "counted").read_text(), re.MULTILINE)
    if done.returncode or found is None:
        raise Failed(f"valgrind failed: {done.stderr.strip()}")
    return int(found[1])
