"""`scn export`: a trained network as code for a device."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from torch import Tensor

from scn import runs, web  # noqa: F401  (web enters itself as a target)
from scn.cli.allow import AllowOption
from scn.cli.code import (
    AlphaOption,
    DoubleBufferOption,
    FollowsOption,
    GuardOption,
    InferenceOption,
    InputOption,
    OwnBackboneOption,
    PackageOption,
    StateOption,
    ThetaOption,
    WeightsInOption,
    WeightsOption,
    code_options,
    fixed_params,
)
from scn.cli.searching import SearchOption, parsed
from scn.cli.words import as_options
from scn.experiment.device_search import device_search, untrained
from scn.export import Options, Report, Subject, package_of, sensors, subject_of, targets
from scn.export.search_plan import Plan
from scn.runs import backbone_of

SensorOption = Annotated[
    str | None, typer.Option(help=f"Of C code: write an adapter beside it: {', '.join(sensors.SENSORS)}.")
]
LoseOption = Annotated[
    float, typer.Option(help="Score that a setting may cost before the sensor's adapter configures anew.")
]
BesideOption = Annotated[
    Path | None,
    typer.Option("--beside", help="Of a page: a second run, such as one4all, shown beside the first."),
]


def command(
    context: typer.Context,
    run: Annotated[Path, typer.Argument(help="The run folder.")],
    to: Annotated[str, typer.Option("--to", help=f"The target: {', '.join(targets)}.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write to.")],
    name: Annotated[
        str | None, typer.Option(help="The name of the network in the code; by default the run's folder.")
    ] = None,
    theta: ThetaOption = None,
    alpha: AlphaOption = None,
    weights: WeightsOption = "float32",
    inference: InferenceOption = "float",
    state: StateOption = "static",
    double_buffer: DoubleBufferOption = False,
    weights_in: WeightsInOption = "code",
    follows: FollowsOption = None,
    sensor: SensorOption = None,
    beside: BesideOption = None,
    sensor_input: InputOption = None,
    lose: LoseOption = Options.lose,
    guard: GuardOption = None,
    package: PackageOption = None,
    search: SearchOption = None,
    backbone: OwnBackboneOption = None,
    allow: AllowOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Write a trained network as code for another place.

    c: one header, one source file, and one that CMake includes. blob: the weights alone, for firmware whose
    C was exported with --weights-in blob or storage. onnx: the whole SCN, and the network configured for
    --alpha, by default the first setting of the grid. arduino: a library, for PlatformIO as well, with
    examples for four boards; esp-idf: a component; zephyr: a module. Of these three the C files and the
    manifests were tested, the examples against stubs alone, and nothing on a board.
    web: a page that runs the network itself (on a phone the camera is its input, the tilt its setting), and
    the network as a WebAssembly module for pages of one's own; it needs clang and wasm-ld.

    Examples: scn export runs/demo --to c -o firmware/network --weights int8 --sensor accelerometer

    scn export runs/demo --to c -o firmware/network --input camera:160x120:rgb565 --search grid:72

    scn export runs/demo --to onnx -o models --alpha 30

    scn export runs/demo --to arduino -o libraries --package url=https://example.org/demo

    scn export runs/later --to blob --for firmware/network/demo.blob -o update

    scn export runs/scn-d3 --beside runs/one4all --to web -o site
    """
    torch.set_num_threads(1)
    write = targets.get(to)
    subject = _subject(run, backbone, name, fixed_params(alpha))
    plan = None if search is None else _searched(run, search, backbone)
    subject = replace(subject, package=package_of(package or ()), search=plan)
    if beside is not None:
        subject = replace(subject, beside=_subject(beside, backbone))
    _tell(write(subject, code_options(context.params), output), as_json)


def _tell(report: Report, as_json: bool) -> None:
    """The facts, and where the files are."""
    if as_json:
        print(json.dumps({**report.facts, "files": [str(path) for path in report.files]}))
        return
    for key, value in report.facts.items():
        print(f"{key}: {_said(value)}")
    for path in report.files:
        print(f"wrote {path}", file=sys.stderr)


def _subject(
    run: Path, backbone: str | None, name: str | None = None, params: Tensor | None = None
) -> Subject:
    opened = runs.read(run)
    return subject_of(opened, name, params, backbone_of(opened, backbone))


def _searched(run: Path, text: str, backbone: str | None) -> Plan:
    """The search that was asked for, with a warning where it will fail."""
    opened = runs.read(run)
    plan = device_search(opened, *parsed(text), backbone)
    doubt = untrained(opened, plan)
    if doubt:
        print(f"warning: {as_options(doubt)}", file=sys.stderr)
    return plan


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_said(part)}" for key, part in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
