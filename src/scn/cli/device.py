"""`scn device`: a run's C code on an emulated processor, checked against torch and measured."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.table import Table

from scn import methods, runs
from scn.cli.allow import AllowOption
from scn.cli.code import (
    AlphaOption,
    DoubleBufferOption,
    InferenceOption,
    OwnBackboneOption,
    StateOption,
    ThetaOption,
    WeightsInOption,
    WeightsOption,
    code_options,
    fixed_params,
)
from scn.device import targets
from scn.device.cycles import CORES, Core
from scn.device.emulate import PHASES
from scn.device.estimate import Assumptions, assumptions
from scn.device.measure import DeviceRow, keep, measure
from scn.export import subject_of
from scn.runs import backbone_of

SamplesOption = Annotated[
    int | None,
    typer.Option(help="Test samples under each setting; by default 200, or all if there are fewer.", min=1),
]
SettingsOption = Annotated[int, typer.Option(help="Settings of the transform.", min=1)]
KeepOption = Annotated[
    Path | None, typer.Option("--keep", help="Keep C code, programs and outputs in this folder.")
]
ClockOption = Annotated[float | None, typer.Option(help="To estimate time: MHz.")]
CyclesOption = Annotated[float | None, typer.Option(help="To estimate time.")]
CurrentOption = Annotated[float | None, typer.Option(help="To estimate energy: mA.")]
VoltageOption = Annotated[float | None, typer.Option(help="To estimate energy: V.")]


def command(
    context: typer.Context,
    run: Annotated[list[Path], typer.Argument(help="Run folders; any method.")],
    target: Annotated[str, typer.Option(help=f"One of {', '.join(targets.TARGETS)}.")] = targets.DEFAULT,
    theta: ThetaOption = None,
    weights: WeightsOption = "float32",
    inference: InferenceOption = "float",
    state: StateOption = "static",
    double_buffer: DoubleBufferOption = False,
    weights_in: WeightsInOption = "code",
    alpha: AlphaOption = None,
    samples: SamplesOption = None,
    settings: SettingsOption = 8,
    clock: ClockOption = None,
    cycles_per_instruction: CyclesOption = None,
    current: CurrentOption = None,
    voltage: VoltageOption = None,
    backbone: OwnBackboneOption = None,
    allow: AllowOption = None,
    keep_files: KeepOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No messages on standard error.")] = False,
) -> None:
    """Build the C code of runs for a processor, run it in an emulator, and measure it.

    Every prediction is compared with that of torch. Instructions are counted by phase: hypernet (the
    configuration network), configure (the mixing) and infer; cycles of a Cortex-M4 or M3 are estimated. Flash
    and RAM are what the network adds to a program; RAM includes the stack at its deepest. Time and energy are
    only estimated, by --clock and --cycles-per-instruction, --current and --voltage. Writes device.json into
    each run folder. Needs a cross-compiler and QEMU, and says which packages; it installs nothing.

    Examples: scn device runs/scn-d3 runs/one4all --target cortex-m4f

    scn device runs/scn-d3 --weights int8 --inference int8 --clock 64 --cycles-per-instruction 1.3
    """
    torch.set_num_threads(1)
    guess = assumptions(clock, cycles_per_instruction, current, voltage)
    chosen = targets.get(target)
    chosen.require()
    options, params = code_options(context.params), fixed_params(alpha)
    notes = Console(stderr=True, quiet=quiet, soft_wrap=True)
    rows = []
    for folder in run:
        opened = runs.read(folder)
        factory = backbone_of(opened, backbone)
        mixes = methods.get(opened.config.method).mixes
        subject = subject_of(opened, None, params if mixes else None, factory)
        with tempfile.TemporaryDirectory(prefix="scn-device-") as scratch:
            place = Path(scratch) if keep_files is None else keep_files / subject.name
            row = measure(
                subject, options, chosen, place,
                samples=samples, settings=settings, name=str(folder), note=notes.print,
            )  # fmt: skip
        rows.append(row)
        notes.print(f"wrote {keep(folder, row)}")
    if as_json:
        print(json.dumps(_content(rows, guess)))
    else:
        _show(rows, guess, chosen)


def _content(rows: list[DeviceRow], guess: Assumptions | None) -> dict[str, Any]:
    content: list[dict[str, Any]] = [row.to_json() for row in rows]
    if guess is not None:
        for row in content:
            counted = row["instructions"] or {}
            row["estimate"] = {
                "assumptions": asdict(guess),
                "milliseconds": {phase: guess.milliseconds(n) for phase, n in counted.items()},
                "microjoules": {phase: guess.microjoules(n) for phase, n in counted.items()},
            }
    return {"target": rows[0].target, "rows": content}


def _show(rows: list[DeviceRow], guess: Assumptions | None, target: targets.Target) -> None:
    first = rows[0]
    options = ", ".join(f"{name} {value}" for name, value in first.options.items())
    table = Table(title=f"{target.name}: {target.processor}\n{options}", title_justify="left")
    for name in ("run", "flash", "weights", "RAM", "stack", *PHASES, *(columns := _compared(rows))):
        table.add_column(name, justify="left" if name == "run" else "right")
    for row in rows:
        counts = row.instructions or {}
        table.add_row(
            row.name,
            *(f"{value:,}" for value in (row.flash, row.weights, row.ram, row.stack)),
            *(f"{counts[phase]:,}" if phase in counts else "-" for phase in PHASES),
            *(shown(row) for shown in columns.values()),
        )
    console = Console(width=150)
    console.print(table)
    scores = dict.fromkeys(next(iter(row.scores)) for row in rows)
    print(
        f"bytes and instructions (means over all calls); {first.inputs:,} inputs, {first.settings} settings; "
        f"{' and '.join(scores)} on these inputs alone"
    )
    if target.core is not None:
        _show_cycles(rows, CORES[target.core])
    if guess is not None:
        _show_estimate(rows, guess)


def _show_cycles(rows: list[DeviceRow], core: Core) -> None:
    print(
        f"\nestimated cycles of a call, not measured, by the table of {core.document}, without wait states:"
    )
    for row in rows:
        cycles = ", ".join(f"{phase} {count:,}" for phase, count in (row.estimated_cycles or {}).items())
        print(f"  {row.name}  {cycles}")


def _compared(rows: list[DeviceRow]) -> dict[str, Callable[[DeviceRow], str]]:
    """Columns about what the device gave, as far as a row has something for them."""

    def shown(value: float | None, form: str) -> str:
        return "-" if value is None else format(value, form)

    columns: dict[str, Callable[[DeviceRow], str]] = {
        "max difference": lambda row: f"{row.max_difference:.1e}"
    }
    if any(row.agreement is not None for row in rows):
        columns["same class"] = lambda row: shown(row.agreement, ".2%")
    if any(row.max_prediction_difference is not None for row in rows):
        columns["in units"] = lambda row: shown(row.max_prediction_difference, ".1e")
    for key in dict.fromkeys(next(iter(row.scores)) for row in rows):
        columns[key] = lambda row, key=key: shown(row.scores.get(key), ".4f")  # type: ignore[misc]
    return columns


def _show_estimate(rows: list[DeviceRow], guess: Assumptions) -> None:
    print(f"\nestimated from the instructions, not measured, {guess}:")
    for row in rows:
        for phase, count in (row.instructions or {}).items():
            energy = guess.microjoules(count)
            spent = "" if energy is None else f", {energy:.4g} uJ"
            print(f"  {row.name}  {phase:<10} about {guess.milliseconds(count):.4g} ms{spent}")
