"""How a network becomes C code: the options that `scn export` and `scn device` have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from torch import Tensor

from scn.cli.values import numbers
from scn.data.sensing import FORMATS
from scn.export import Options
from scn.transforms.guard.policy import EXAMPLE

ThetaOption = Annotated[
    str | None,
    typer.Option(help="ram (mixed once for each alpha), row (mixed during inference), fixed (--alpha)."),
]
AlphaOption = Annotated[
    str | None, typer.Option(help="For theta fixed: the params (comma-separated) to configure for.")
]
WeightsOption = Annotated[str, typer.Option(help="Of the base models: float32, float16 or int8.")]
InferenceOption = Annotated[str, typer.Option(help="float, or int8 for 8-bit weights and activations.")]
StateOption = Annotated[str, typer.Option(help="static, or explicit: a struct that the caller owns.")]
DoubleBufferOption = Annotated[
    bool, typer.Option("--double-buffer", help="Inference goes on with the old theta while mixing.")
]
InputOption = Annotated[
    str | None,
    typer.Option(
        "--input",
        help="Of C code: a sensor whose samples it takes as they are, beside x: "
        f"camera:WIDTHxHEIGHT:FORMAT (of {', '.join(FORMATS)})[,crop=square|all|WIDTHxHEIGHT+LEFT+TOP]"
        "[,stride=BYTES][,invert] or pcm16[:RATE][,stride=SAMPLES][,ring=SAMPLES].",
    ),
]
GuardOption = Annotated[
    str | None,
    typer.Option(
        "--guard",
        help="Of C code: what readings must be like, and what happens else: keep, refuse or neutral, as in "
        f'"{EXAMPLE}".',
    ),
]
WeightsInOption = Annotated[
    str,
    typer.Option(
        help="code, blob (NAME.blob, which the program loads, in place) or storage (read by a function)."
    ),
]
FollowsOption = Annotated[
    Path | None,
    typer.Option("--for", help="Of a blob: the one it is to replace; another structure is refused."),
]
OwnBackboneOption = Annotated[
    str | None, typer.Option(help="Your own class, package.module:Class, if the run has one.")
]
PackageOption = Annotated[
    list[str] | None,
    typer.Option(
        "--package",
        metavar="NAME=VALUE",
        help="Of a package, repeatable: version, author, maintainer, url, for its manifest.",
    ),
]


def code_options(said: dict[str, Any]) -> Options:
    """From what a person said; theta is fixed where an alpha is given, and otherwise in RAM."""
    theta: Any = said["theta"] or ("ram" if said["alpha"] is None else "fixed")
    chosen: dict[str, Any] = {n: said[n] for n in ("weights", "inference", "state", "double_buffer")}
    chosen |= {n: said.get(n, getattr(Options, n)) for n in ("sensor", "lose", "guard", "weights_in")}
    follows = said.get("follows")
    chosen["follows"] = None if follows is None else str(follows)
    return Options(theta=theta, input=said.get("sensor_input"), **chosen)


def fixed_params(alpha: str | None) -> Tensor | None:
    return None if alpha is None else torch.tensor(numbers("--alpha", alpha))
