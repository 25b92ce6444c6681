"""`scn search`: how well a run does when it has to find the setting itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.table import Table

from scn import runs, search
from scn.cli.allow import AllowOption
from scn.cli.progress import steps_progress
from scn.cli.values import numbers, whole_numbers
from scn.cli.words import as_options
from scn.core.errors import ScnError
from scn.experiment.search import SIZES, fitting_sizes, follow_stream, open_search, study_run, write_study
from scn.objectives import Score
from scn.plots.search import draw_search, draw_stream
from scn.runs import Run
from scn.runs.labels import task_title
from scn.search import Search
from scn.search.study import SearchRow, reason_to_doubt

ESTIMATOR = "training an estimator of the setting"

MethodOption = Annotated[str, typer.Option(help=f"One of {', '.join(search.registry)}.")]
SizesOption = Annotated[
    str | None,
    typer.Option(
        help=f"How many inputs share a setting, by commas; by default {','.join(map(str, SIZES))}, or those "
        "that the test samples fill."
    ),
]
ObjectiveOption = Annotated[
    str | None, typer.Option(help="evidence or entropy; by default what the run was trained for.")
]
StepsOption = Annotated[int | None, typer.Option(help="Of grid and refine: values of each parameter.")]
StartOption = Annotated[
    str | None, typer.Option(help="Of refine: estimator, to start there instead of on a grid.")
]
CandidatesOption = Annotated[
    str | None, typer.Option(help="Of candidates: settings by semicolons, such as 0;90;180;270.")
]
BudgetOption = Annotated[
    int | None, typer.Option(help="Of coarse-to-fine: how many networks an input may be shown to.")
]
HopsOption = Annotated[int | None, typer.Option(help="Of basin-hopping: 100 as published.")]
ExactOption = Annotated[
    bool | None, typer.Option("--exact", help="Of basin-hopping: derivatives instead of differences.")
]
BesideOption = Annotated[
    list[Path] | None, typer.Option("--beside", help="A run without setting (one4all) to compare with.")
]
StreamOption = Annotated[
    int | None,
    typer.Option(help="Follow a drifting setting over so many single inputs instead.", min=11),
]
DriftOption = Annotated[
    float | None, typer.Option(help="Of a stream: how far it moves from one input to the next.")
]
OwnClassOption = Annotated[
    str | None, typer.Option(help="Your own class, package.module:Class, if the run has one.")
]
SamplesOption = Annotated[int | None, typer.Option(help="So many test samples; by default all.", min=1)]
SeedOption = Annotated[int, typer.Option(help="Chooses order and settings of the test samples.")]


def command(
    context: typer.Context,
    run: Annotated[Path, typer.Argument(help="The run folder of an SCN.")],
    method: MethodOption = "grid",
    batch_size: SizesOption = None,
    objective: ObjectiveOption = None,
    steps: StepsOption = None,
    start: StartOption = None,
    candidates: CandidatesOption = None,
    budget: BudgetOption = None,
    hops: HopsOption = None,
    exact: ExactOption = None,
    other: BesideOption = None,
    stream: StreamOption = None,
    drift: DriftOption = None,
    backbone: OwnClassOption = None,
    allow: AllowOption = None,
    samples: SamplesOption = None,
    seed: SeedOption = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No messages on standard error.")] = False,
) -> None:
    """Let a run find the setting from the input itself, and measure what that costs.

    The right setting gives a clear prediction; a run is trained for that by --evidence-weight. Writes
    search-METHOD.json and search-METHOD.png into the run folder.

    Examples: scn search runs/fashion-d8 --method grid --batch-size 1,4,16 --beside runs/one4all
    scn search runs/fashion-d8 --stream 1000 --drift 2
    """
    torch.set_num_threads(1)
    _check_stream(stream, {"--beside": other, "--samples": samples}, method, drift)
    given = None if batch_size is None else whole_numbers("--batch-size", batch_size)
    opened = runs.read(run)
    sizes = [] if stream is not None else fitting_sizes(opened, given, samples)
    way = open_search(
        opened, method, objective, _options(context), backbone, steps_progress(ESTIMATOR, quiet)
    )
    warn_of_doubt(opened, way)
    notes = Console(stderr=True, quiet=quiet, soft_wrap=True)
    if stream is not None:
        _follow(opened, way, context.params, notes)
        return
    rows, rivals = [], [runs.read(folder) for folder in other or []]
    for row in study_run(opened, way, sizes, rivals, samples=samples, seed=seed, backbone=backbone):
        rows.append(row)
        notes.print(_row_in_words(row, opened))
    written = _write(opened, method, way, rows, seed, as_json)
    notes.print(f"wrote {' and '.join(map(str, written))}")


def _options(context: typer.Context) -> dict[str, Any]:
    """What a way of searching takes, as far as it was said."""
    names = ("steps", "start", "candidates", "budget", "hops", "exact")
    said = {name: context.params[name] for name in names if context.params[name] is not None}
    if "candidates" in said:
        parts = [part for part in said["candidates"].split(";") if part.strip()]
        rows = [numbers("--candidates", part) for part in parts]
        alike = len({len(row) for row in rows}) == 1
        said["candidates"] = torch.tensor(rows if alike else [])
    return said


def _row_in_words(row: SearchRow, run: Run) -> str:
    reached, known = (run.objective().score.text(value) for value in (row.reached, row.known))
    return f"batch size {row.batch_size}: {reached} (setting known: {known})"


def _write(
    run: Run, method: str, way: Search, rows: list[SearchRow], seed: int, as_json: bool
) -> tuple[Path, Path]:
    """The table and its picture into the run folder, and the table to standard output."""
    used, score = max(row.samples for row in rows), run.objective().score
    by = f" by {way.doubt.name}" if way.by_doubt else ""
    title = task_title(run) + f": {method} search{by}, {used:,} test samples"
    content = write_study(run, method, way, rows, seed)
    table, picture = run.search_file(method), run.search_file(method, "png")
    draw_search(rows, score, title, picture)
    if as_json:
        print(json.dumps(content))
    else:
        _show(rows, score, title)
    return table, picture


def _check_stream(stream: int | None, others: dict[str, Any], method: str, drift: float | None) -> None:
    """Refuse what does not go together, before anything is computed."""
    if stream is None:
        if drift is not None:
            raise ScnError("--drift is for a --stream")
        return
    for name, value in others.items():
        if value is not None:
            raise ScnError(f"a --stream takes no {name}")
    if method != "grid":
        raise ScnError("a --stream is followed on a grid: leave out --method")


def warn_of_doubt(run: Run, way: Search) -> None:
    doubt = reason_to_doubt(run, way)
    if doubt:
        print(f"warning: {as_options(doubt)}", file=sys.stderr)


def _follow(run: Run, way: Search, said: dict[str, Any], notes: Console) -> None:
    """The tracker on a stream."""
    followed = follow_stream(
        run, way, said["stream"], steps=said["steps"], drift=said["drift"], seed=said["seed"]
    )
    found = followed.summary().to_json(run.objective().score)
    picture = run.search_file("stream", "png")
    title = f"{run.config.transform} on {Path(run.config.data).stem}, tracked by {way.doubt.name}"
    draw_stream(followed, way.transform, title, picture)
    runs.write_json(run.search_file("stream"), found)
    if said["as_json"]:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:<16} {value:.4f}" if isinstance(value, float) else f"{name:<16} {value}")
    notes.print(f"wrote {run.search_file('stream')} and {picture}")


def _show(rows: list[SearchRow], score: Score, title: str) -> None:
    table = Table(title=title, title_justify="left")
    names = ("batch size", score.label, "setting known", "off by", "networks", "time", *rows[0].beside)
    for name in names:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            str(row.batch_size),
            score.text(row.reached),
            score.text(row.known),
            f"{row.off:.1f} % of range",
            str(row.evaluations),
            f"{1e3 * row.seconds:.1f} ms",
            *(score.text(value) for value in row.beside.values()),
        )
    Console(width=120).print(table)
