"""`scn evaluate`: the score of a run over all parameters of its transform."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.progress import track
from torch import Tensor

from scn import runs
from scn.cli.allow import AllowOption
from scn.cli.chart import chart
from scn.cli.progress import steps_progress
from scn.cli.search import ESTIMATOR, OwnClassOption, warn_of_doubt
from scn.cli.values import numbers
from scn.core.errors import ScnError
from scn.experiment.search import fitting_size, open_search, searching
from scn.runs import Run, backbone_of
from scn.runs.evaluation import evaluate_run
from scn.runs.scores import ENOUGH, Scores, write_scores
from scn.transforms import Transform

StepOption = Annotated[float | None, typer.Option(help="Distance of the settings; 1 degree for rotation.")]
DrawnOption = Annotated[
    int | None,
    typer.Option(
        help="So many settings drawn evenly instead of a grid: turns in space lie unevenly on one.", min=1
    ),
]
PresetOption = Annotated[
    str | None, typer.Option(help="How the transform acts: default, paper, ...; by default as trained.")
]
FixedOption = Annotated[
    str | None, typer.Option(help="Configure once for these params (comma-separated), test on all.")
]
InvariantOption = Annotated[
    bool, typer.Option("--invariant", help="Without telling the setting: the run searches for it.")
]
BatchSizeOption = Annotated[
    int | None,
    typer.Option(
        help="With --invariant: how many inputs share a setting; by default 16, or all there are.", min=1
    ),
]
MethodOption = Annotated[
    str | None, typer.Option(help="With --invariant: grid (by default), refine, estimator, ...")
]


def command(
    run: Annotated[Path, typer.Argument(help="The run folder.")],
    step: StepOption = None,
    drawn: DrawnOption = None,
    preset: PresetOption = None,
    fixed: FixedOption = None,
    invariant: InvariantOption = False,
    batch_size: BatchSizeOption = None,
    method: MethodOption = None,
    backbone: OwnClassOption = None,
    allow: AllowOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")] = False,
) -> None:
    """Measure a run's score on the test data under every setting of its transform: accuracy, or R².

    Writes scores.csv into the run folder and prints mean, lowest and highest score. With
    --drawn, --fixed, --invariant or another preset than the run's, the file's name says so.

    Example: scn evaluate runs/published-d8 --step 1
    """
    torch.set_num_threads(1)
    if not invariant and (method or batch_size):
        raise ScnError("--method and --batch-size are for --invariant")
    if invariant and fixed is not None:
        raise ScnError("--fixed tells the setting, and --invariant does not: leave one out")
    opened = runs.read(run)
    transform = opened.transform(preset)
    params, way = _settings(transform, step, drawn), method or "grid"
    size = fitting_size(opened, batch_size) if invariant else 0
    frozen = None if fixed is None else transform.checked(torch.tensor(numbers("--fixed", fixed)))
    answer = _searching(opened, way, size, backbone, quiet) if invariant else None
    net = opened.network(backbone_of(opened, backbone))
    result = evaluate_run(
        opened, net, params, preset=preset, fixed=frozen, answer=answer, progress=_progress(quiet)
    )
    for found in result.facts.get("outside", []):
        print(f"warning: of the test samples, {found['said']}", file=sys.stderr)
    suffix = "" if result.facts["preset"] == opened.config.preset else f"-{result.facts['preset']}"
    if drawn is not None:
        suffix += f"-drawn-{drawn}"
    if frozen is not None:
        suffix += "-fixed-" + "_".join(f"{v:g}" for v in frozen.tolist())
    if invariant:
        suffix += f"-invariant-{way}-{size}"
        result = replace(result, facts={**result.facts, "search": way, "batch_size": size})
    _show(result, transform, as_json)
    print(f"wrote {write_scores(opened.folder, result, transform, suffix)}", file=sys.stderr)


def _settings(transform: Transform, step: float | None, drawn: int | None) -> Tensor:
    """The settings of the test: some distance apart, or drawn, the same ones every time."""
    if drawn is None:
        return transform.regular(step)
    if step is not None:
        raise ScnError("--step is for a regular grid, and --drawn draws the settings: leave one out")
    if transform.measured:
        raise ScnError("--drawn is for changes that are made: the settings of these data were measured")
    return transform.evenly(drawn, torch.Generator().manual_seed(0)).unique(dim=0)


def _searching(
    run: Run, way: str, size: int, backbone: str | None, quiet: bool
) -> Callable[[Tensor], Tensor]:
    """The run as one that finds the setting itself."""
    found = open_search(run, way, backbone=backbone, progress=steps_progress(ESTIMATOR, quiet))
    answer = searching(found, run, size)
    warn_of_doubt(run, found)
    return answer


def _progress(quiet: bool) -> Callable[[Tensor], Iterable[Tensor]]:
    console = Console(stderr=True)
    return lambda rows: track(list(rows), "evaluate", console=console, disable=quiet, transient=True)


def _show(result: Scores, transform: Transform, as_json: bool) -> None:
    facts = result.facts
    if as_json:
        rows = {"params": result.params.tolist(), result.score.key: result.values.tolist()}
        print(json.dumps({**facts, "score": result.score.key, **result.summary(), **rows}))
        return
    shown = result.with_enough()
    if len(transform.parameters) == 1:
        places, values = shown.params[:, 0].tolist(), shown.values.tolist()
        print(chart(places, values, transform.parameters[0], result.score))
    summary = "  ".join(f"{name} {result.score.text(value)}" for name, value in result.summary().items())
    few = len(result.params) - len(shown.params)
    left_out = f" ({few} more with fewer than {ENOUGH} samples each)" if few else ""
    print(
        f"{summary}  over {len(shown.params)} settings{left_out}, {facts['samples']:,} test samples, "
        f"preset {facts['preset']}"
    )
