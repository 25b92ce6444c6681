"""`scn export`: a trained network as code for a device."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from scn import runs
from scn.cli.allow import AllowOption
from scn.cli.code import (
    AlphaOption,
    DoubleBufferOption,
    InferenceOption,
    OwnBackboneOption,
    StateOption,
    ThetaOption,
    WeightsOption,
    code_options,
    fixed_params,
)
from scn.export import sensors, subject_of, targets
from scn.runs import backbone_of


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
    sensor: Annotated[
        str | None, typer.Option(help=f"Of C code: write an adapter beside it: {', '.join(sensors.SENSORS)}.")
    ] = None,
    backbone: OwnBackboneOption = None,
    allow: AllowOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Write a trained network as code for another place.

    c: one header and one source file. onnx: the whole SCN, and the network configured for --alpha, by default
    the first setting of the grid. arduino: a sketch for a Nano 33 BLE Sense; esp-idf: a component for an
    ESP32-S3. Of these two only the C files are compiled and tested by scn: not the sketch, not the component.

    Examples: scn export runs/demo --to c -o firmware/network --weights int8 --sensor accelerometer

    scn export runs/demo --to onnx -o models --alpha 30
    """
    torch.set_num_threads(1)
    write = targets.get(to)
    opened = runs.read(run)
    factory = backbone_of(opened, backbone)
    subject = subject_of(opened, name, fixed_params(alpha), factory)
    report = write(subject, code_options(context.params), output)
    if as_json:
        print(json.dumps({**report.facts, "files": [str(path) for path in report.files]}))
        return
    for key, value in report.facts.items():
        print(f"{key}: {_said(value)}")
    for path in report.files:
        print(f"wrote {path}", file=sys.stderr)


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_said(part)}" for key, part in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
