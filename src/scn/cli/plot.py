"""`scn plot`: figures of runs, ready for a paper."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.progress import track

from scn.cli.allow import AllowOption
from scn.cli.values import numbers
from scn.core.errors import ScnError
from scn.plots.animation import FRAMES, SUFFIXES, film, require_ffmpeg, write_film
from scn.plots.figures import FIGURES, find, make, write
from scn.plots.files import UNDATED, check_figure_file
from scn.plots.options import SAMPLES, FigureOptions
from scn.runs.collection import load

NAMES = "; ".join(f"{name}: {kind.shows}" for name, kind in FIGURES.items())

ANIMATED = ("scores", "beta", "theta")  # the figures that an animation shows together


def command(
    run: Annotated[list[Path], typer.Argument(help="Run folders, or folders of runs, all of one task.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The file: .png, .svg or .pdf; .gif or .mp4 to animate.")
    ],
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
    allow: AllowOption = None,
    animate: Annotated[
        bool,
        typer.Option("--animate", help="Instead: score, beta and weights as alpha turns, .gif or .mp4."),
    ] = False,
    frames: Annotated[int, typer.Option(help="Of an animation.", min=2, max=1000)] = FRAMES,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")] = False,
) -> None:
    """Draw a figure of one or more runs of a task, at the width of a column (3.5 inches).

    Examples: scn plot runs/demo --figure scores -o scores.pdf
    scn plot runs/demo/scn-d8-seed0 --animate -o turning.gif
    """
    torch.set_num_threads(1)
    _check(figure, animate, fixed)
    check_figure_file(output, SUFFIXES if animate else list(UNDATED))
    if animate and output.suffix.lower() == ".mp4":
        require_ffmpeg(output)
    loaded = load(run, backbone)
    setting = None if fixed is None else loaded[0].transform.checked(torch.tensor(numbers("--fixed", fixed)))
    options = FigureOptions(setting, samples, lambda rows: _progress(rows, quiet))
    if animate:
        write_film(film(loaded, options, frames), output)
    else:
        assert figure is not None
        write(make(figure, loaded, options), output)
    if as_json:
        name = "animation" if animate else figure
        content = {"figure": name, "file": str(output), "runs": [str(one.folder) for one in loaded]}
        print(json.dumps(content))
    else:
        print(output)


def _check(figure: str | None, animate: bool, fixed: str | None) -> None:
    """Refuse what does not go together."""
    if animate and figure is not None and figure not in (*ANIMATED, "accuracy"):
        raise ScnError(f"--animate shows {', '.join(ANIMATED)} together: leave out --figure {figure}")
    if not animate:
        if figure is None:
            raise ScnError(f"say what to draw by --figure: {', '.join(FIGURES)}")
        find(figure)
    if fixed is not None and (animate or figure != "specialisation"):
        raise ScnError("--fixed is for --figure specialisation")


def _progress(rows: torch.Tensor, quiet: bool) -> Iterable[torch.Tensor]:
    console = Console(stderr=True)
    return track(list(rows), "measure", console=console, disable=quiet, transient=True)
