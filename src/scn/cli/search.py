"""`scn search`: how well a run does when it has to find the setting itself."""

from __future__ import annotations

import inspect
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table
from safetensors.torch import load_file, save_file
from torch import nn

from scn import data, runs, search
from scn.cli.allow import AllowOption
from scn.cli.values import numbers, whole_numbers
from scn.cli.words import as_options
from scn.core.errors import ScnError, WrongType
from scn.core.network import SCN
from scn.data import to_float
from scn.objectives import Score
from scn.plots.search import draw_search, draw_stream
from scn.runs import Run, backbone_of
from scn.runs.labels import task_title
from scn.search import Search
from scn.search.doubt import trained_for
from scn.search.stream import follow
from scn.search.study import (
    ChangedInputs,
    SearchRow,
    draw_inputs,
    reason_to_doubt,
    refuse_without_classes,
    scores_beside,
    study,
)
from scn.transforms import Transform

MethodOption = Annotated[str, typer.Option(help=f"One of {', '.join(search.registry)}.")]
SizesOption = Annotated[str, typer.Option(help="How many inputs share a setting, by commas.")]
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
DEFAULT_DOUBT = "entropy"  # of a run that was trained for none


def command(
    run: Annotated[Path, typer.Argument(help="The run folder of an SCN.")],
    method: MethodOption = "grid",
    batch_size: SizesOption = "1,2,4,8,16",
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
    opened = runs.read(run)
    given = {
        "steps": steps,
        "start": start,
        "candidates": candidates,
        "budget": budget,
        "hops": hops,
        "exact": exact,
    }
    way = open_search(opened, method, objective, {k: v for k, v in given.items() if v is not None}, backbone)
    notes = Console(stderr=True, quiet=quiet, soft_wrap=True)
    doubt = reason_to_doubt(opened, way)
    if doubt:
        print(f"warning: {as_options(doubt)}", file=sys.stderr)
    if stream is not None:
        _follow(opened, way, stream, steps, drift, seed, as_json, notes)
        return
    others = [_comparable(runs.read(folder), opened) for folder in other or []]
    rivals = [(o, o.network(backbone_of(o, backbone) if o.is_own_class else None).eval()) for o in others]
    rows = []
    for size in whole_numbers("--batch-size", batch_size):
        rows.append(_study(opened, way, rivals, draw_inputs(opened, size, samples, seed), size))
        notes.print(_row_in_words(rows[-1], opened))
    written = _write(opened, method, way, rows, seed, as_json)
    notes.print(f"wrote {' and '.join(map(str, written))}")


def _study(
    run: Run, way: Search, rivals: list[tuple[Run, nn.Module]], shown: ChangedInputs, size: int
) -> SearchRow:
    row = study(way, shown, size, run.objective())
    for rival, plain in rivals:
        row = replace(row, beside={**row.beside, **scores_beside(rival, plain, shown, way)})
    return row


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
    facts = {"method": method, "objective": way.doubt.name, "samples": used, "seed": seed}
    content = {**facts, "score": score.key, "rows": [row.to_json(score) for row in rows]}
    table, picture = run.search_file(method), run.search_file(method, "png")
    runs.write_json(table, content)
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


def open_search(
    run: Run, method: str, objective: str | None, options: dict[str, Any], backbone: str | None = None
) -> Search:
    """A search for this run; options that the method does not know are refused."""
    kind = search.get(method)
    refuse_without_classes(run, method, kind)
    net = run.network(backbone_of(run, backbone) if run.is_own_class else None)
    if not isinstance(net, SCN):
        raise WrongType(
            f"{run.folder} is a {run.config.method}, which has nothing to configure: search an SCN"
        )
    known = inspect.signature(kind.__init__).parameters
    for option in options:
        if option not in known:
            raise ScnError(f"{method} takes no --{option}")
    transform = run.transform()
    if transform.measured:
        raise ScnError(f"{run.config.transform} is measured with each sample: there is nothing to search for")
    if "candidates" in options:
        options = {**options, "candidates": _candidates(options["candidates"], transform)}
    elif "candidates" in known:
        raise ScnError(f"{method} needs --candidates, such as 0;90;180;270")
    if "estimator" in known:
        options = {**options, "estimator": _estimator(run)}
    aim = trained_for(run.recipe())
    doubt = objective or (aim.name if aim else DEFAULT_DOUBT)
    if "start" in options:
        if "steps" in options:
            raise ScnError("--start estimator has no grid: leave out --steps")
        if options["start"] != "estimator":
            raise ScnError(f"refine starts on a grid or at an estimator, not at {options['start']!r}")
        options = {**options, "start": search.Estimated(net, transform, _estimator(run), doubt)}
    return kind(net, transform, doubt=doubt, **options)


def _candidates(text: str, transform: Transform) -> torch.Tensor:
    """Settings by semicolons, their values by commas."""
    rows = [numbers("--candidates", part) for part in text.split(";") if part.strip()]
    if not rows or any(len(row) != len(transform.parameters) for row in rows):
        names = ", ".join(p.name for p in transform.parameters)
        raise ScnError(f"--candidates needs settings of {names}, separated by semicolons")
    return torch.tensor(rows)


def _follow(
    run: Run,
    way: Search,
    count: int,
    steps: int | None,
    drift: float | None,
    seed: int,
    as_json: bool,
    notes: Console,
) -> None:
    """The tracker on a stream; by default a setting drifts by a 180th of its range."""
    moves = way.span / 180 if drift is None else torch.full_like(way.span, drift)
    tracker = search.Tracker(way.net, way.transform, moves.tolist(), steps=steps, doubt=way.doubt.name)
    followed = follow(run, tracker, count, moves, seed)
    found = followed.summary()
    picture = run.search_file("stream", "png")
    title = f"{run.config.transform} on {Path(run.config.data).stem}, tracked by {way.doubt.name}"
    draw_stream(followed, way.transform, title, picture)
    runs.write_json(run.search_file("stream"), found.to_json())
    if as_json:
        print(json.dumps(found.to_json()))
    else:
        for name, value in found.to_json().items():
            print(f"{name:<16} {value:.4f}" if isinstance(value, float) else f"{name:<16} {value}")
    notes.print(f"wrote {run.search_file('stream')} and {picture}")


def _estimator(run: Run) -> search.Estimator:
    """The run's estimator, trained now if that has not been done."""
    path, transform = run.estimator_file, run.transform()
    if not path.is_file():
        print("training an estimator of the setting ...", file=sys.stderr)
        images, _ = data.load(run.config.data).split("train")
        method, normalisation = run.method(), run.normalisation()
        trained = search.train_estimator(
            images,
            transform,
            lambda x, params: method.inputs(to_float(x), params, normalisation),
            progress=lambda steps: track(steps, "estimator", console=Console(stderr=True), transient=True),
        )
        save_file(trained.state_dict(), path)
    tensors = load_file(path)
    net = search.Estimator(tensors["layers.1.weight"].shape[1], transform.alpha_dim)
    net.load_state_dict(tensors)
    return net.eval()


def _comparable(rival: Run, run: Run) -> Run:
    """The rival, if it can be shown the same inputs."""
    for key in ("data", "transform", "preset"):
        mine, theirs = getattr(run.config, key), getattr(rival.config, key)
        if mine != theirs:
            raise ScnError(f"{rival.folder} has {key} {theirs}, but {run.folder} has {mine}")
    if rival.config.method != "one4all":
        raise ScnError(f"{rival.folder} is a {rival.config.method}; --beside takes a one4all run")
    return rival


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
