"""`scn plot`: figures of runs, ready for a paper."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.progress import track

from scn.cli.train import numbers
from scn.plots.figures import FIGURES, UNDATED, check_output, make, write
from scn.plots.loaded import load
from scn.plots.options import SAMPLES, Options

NAMES = "; ".join(f"{name}: {kind.shows}" for name, kind in FIGURES.items())


def command(
    run: Annotated[list[Path], typer.Argument(help="Run folders, or folders of runs, all of one task.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The file: .png, .svg or .pdf.")],
    figure: Annotated[str | None, typer.Option(help=f"What to draw. {NAMES}.")] = None,
    fixed: Annotated[
        str | None,
        typer.Option(help="Of specialisation: the params (by commas) of the network that stays as it is."),
    ] = None,
    samples: Annotated[
        int, typer.Option(help="How many test samples, where a figure measures something itself.", min=1)
    ] = SAMPLES,
    backbone: Annotated[
        str | None, typer.Option(help="Your own class, package.module:Class, if the runs have one.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")] = False,
) -> None:
    """Draw a figure of one or more runs of a task, at the width of a column (3.5 inches).

    Examples: scn plot runs/demo --figure accuracy -o accuracy.pdf
    """
    torch.set_num_threads(1)
    if figure is None:
        raise ValueError(f"say what to draw by --figure: {', '.join(FIGURES)}")
    check_output(output, list(UNDATED))
    loaded = load(run, backbone)
    setting = None if fixed is None else loaded[0].transform.checked(torch.tensor(numbers("--fixed", fixed)))
    options = Options(
        setting,
        samples,
        lambda rows: track(
            list(rows), "measure", console=Console(stderr=True), disable=quiet, transient=True
        ),
    )
    write(make(figure, loaded, options), output)
    if as_json:
        content = {"figure": figure, "file": str(output), "runs": [str(one.folder) for one in loaded]}
        print(json.dumps(content))
    else:
        print(output)
