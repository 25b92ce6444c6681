"""`scn demo`: see it work on the embedded digits."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import torch
import typer
from torch import Tensor

from scn.cli.compare import carry_out_all, finish
from scn.experiment.demo import ANGLE, View, plan_demo, view_digit

SHADES = " .:-=+*#%@"


def command(
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder for all runs.")] = Path(
        "runs/demo"
    ),
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")] = False,
) -> None:
    """Compare an SCN with its alternatives on handwritten digits turned by any angle: two minutes.

    All networks compute with the same number of weights. The digits come with scikit-learn.

    Example: scn demo -o runs/demo
    """
    torch.set_num_threads(1)
    jobs = plan_demo()
    print(f"training {len(jobs)} networks on handwritten digits turned by any angle ...", file=sys.stderr)
    outcomes = carry_out_all(jobs, output, quiet)
    finish(jobs, outcomes, output, as_json=False)
    _show(view_digit(output))


def _show(view: View) -> None:
    print(f"\nThe SCN, configured for {ANGLE:g} degrees and saved as {view.file}, sees a {view.label}:\n")
    print(_text_art(view.image))
    for name, (prediction, probability) in view.said.items():
        print(f"  {name} says {prediction} (probability {probability:.2f})")
    adaptive, rigid = view.shares.values()
    print(f"  right on the {view.count} test digits at this angle: SCN {adaptive:.1%}, One4All {rigid:.1%}")


def _text_art(image: Tensor) -> str:
    """(32, 32) in [0, 1] -> 16 lines of 32 characters."""
    rows = image.view(16, 2, 32).mean(dim=1)
    levels = (rows * (len(SHADES) - 1)).round().int().clamp(0, len(SHADES) - 1)
    return "\n".join("    " + "".join(SHADES[v] for v in row) for row in levels.tolist())
