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
from scn.cli.values import numbers
from scn.export import Options, sensors, subject_of, targets
from scn.runs import backbone_of


def command(
    run: Annotated[Path, typer.Argument(help="The run folder.")],
    to: Annotated[str, typer.Option("--to", help=f"The target: {', '.join(targets)}.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write to.")],
    name: Annotated[
        str | None, typer.Option(help="The name of the network in the code; by default the run's folder.")
    ] = None,
    theta: Annotated[
        str | None,
        typer.Option(help="ram (mixed once for each alpha), row (mixed during inference), fixed (--alpha)."),
    ] = None,
    alpha: Annotated[
        str | None, typer.Option(help="For theta fixed: the params (comma-separated) to configure for.")
    ] = None,
    weights: Annotated[str, typer.Option(help="Of the base models: float32, float16 or int8.")] = "float32",
    inference: Annotated[
        str, typer.Option(help="float, or int8 for 8-bit weights and activations.")
    ] = "float",
    state: Annotated[
        str, typer.Option(help="static, or explicit: a struct that the caller owns.")
    ] = "static",
    double_buffer: Annotated[
        bool, typer.Option("--double-buffer", help="Inference goes on with the old theta while mixing.")
    ] = False,
    sensor: Annotated[
        str | None, typer.Option(help=f"Of C code: write an adapter beside it: {', '.join(sensors.SENSORS)}.")
    ] = None,
    backbone: Annotated[
        str | None, typer.Option(help="Your own class, package.module:Class, if the run has one.")
    ] = None,
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
    params = None if alpha is None else torch.tensor(numbers("--alpha", alpha))
    given: dict[str, Any] = {"theta": theta or ("ram" if alpha is None else "fixed")}
    options = Options(
        **given,
        **{"weights": weights, "inference": inference, "state": state},  # type: ignore[arg-type]
        double_buffer=double_buffer,
        sensor=sensor,
    )
    report = write(subject_of(opened, name, params, factory), options, output)
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
