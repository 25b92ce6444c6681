"""`scn compare`: methods against each other on one task."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.table import Table
from torch import Tensor

from scn.cli.allow import vouch
from scn.cli.choice import (
    BackboneOption,
    BudgetOption,
    ClampOption,
    DataOption,
    DepthOption,
    EpochsOption,
    MapOption,
    NumberOption,
    ObjectiveOption,
    PresetOption,
    RecipeOption,
    SetOption,
    SubspaceOption,
    TaskOption,
    TransformOption,
    WidthOption,
    chosen_by,
)
from scn.cli.progress import comparison_progress
from scn.cli.values import numbers, whole_numbers
from scn.core.errors import ScnError
from scn.experiment import engines, fit
from scn.experiment.choice import Choice
from scn.experiment.compare import compare, describe, entitle
from scn.experiment.jobs import Evaluation, Job, names_for, plan_jobs
from scn.export.account import CHANGED, Account, account_of
from scn.methods import MIXED, UNADAPTED
from scn.objectives import Score
from scn.plots.comparison import draw_comparison
from scn.plots.style import label
from scn.report import write_report
from scn.runs import Run, RunConfig
from scn.runs.collection import LoadedRun, collect
from scn.runs.outcome import Outcome, Row, table, write_comparison
from scn.transforms import Transform
from scn.transforms import get as get_transform

MethodsOption = Annotated[
    str | None,
    typer.Option(
        help="Separated by commas, also your package.module:Class; auto: those that suit the change, "
        "all: every one that can do it. By default the paper's, and those with alpha as an input.",
        callback=vouch,
    ),
]

DimsOption = Annotated[
    str | None, typer.Option(help="D of the SCNs, by commas; by default 1,3,8 or the task's.")
]

FixedOption = Annotated[
    str | None,
    typer.Option(
        help="Test under this one setting; methods for one setting, or from one domain to another, are "
        "trained for it."
    ),
]

JobsOption = Annotated[
    int | None, typer.Option(help="Runs side by side; by default as many as processors.", min=1)
]

EngineOption = Annotated[str, typer.Option(help=f"What carries out the runs: {', '.join(engines.registry)}.")]

AddressOption = Annotated[
    str | None,
    typer.Option(help="Of the cluster: auto, HOST:PORT or ray://HOST:PORT. Without it ray begins one here."),
]

FitOption = Annotated[
    str | None,
    typer.Option(
        "--fit",
        help="Compare what fits a device: flash=64k,ram=16k. Of each subspace the largest D, of One4All the "
        "largest width.",
    ),
]


def carry_out_all(
    jobs: Sequence[Job],
    folder: Path,
    quiet: bool,
    at_once: int | None = None,
    engine: str = engines.USUAL,
    address: str | None = None,
) -> list[Outcome]:
    """Every outcome in the order of the jobs, with progress on standard error."""
    with goes_on():
        found = carried_out(jobs, folder, quiet=quiet, at_once=at_once, engine=engine, address=address)
        outcomes = {job.name: outcome for job, outcome in found}
    return [outcomes[job.name] for job in jobs]


def carried_out(
    jobs: Sequence[Job],
    folder: Path,
    *,
    quiet: bool,
    at_once: int | None = None,
    engine: str = engines.USUAL,
    address: str | None = None,
) -> Iterator[tuple[Job, Outcome]]:
    """Every job and its outcome when it is done, with progress on standard error."""
    with comparison_progress(jobs, folder, quiet) as say:
        for job, outcome in compare(jobs, folder, at_once=at_once, engine=engine, address=address):
            score = Run(folder, job.config).objective().score
            say(job.name, score.text(outcome.mean))
            yield job, outcome


@contextmanager
def goes_on() -> Iterator[None]:
    """Say of an interruption that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        raise


def show(rows: Sequence[Row], score: Score, title: str) -> None:
    """The table on standard output."""
    shown = Table(title=title, title_justify="left")
    gains = any(row.late_gain is not None for row in rows)
    late = ("late gain",) if gains else ()
    worst = f"worst of {max(row.settings for row in rows)} settings"
    for name in ("method", score.label, worst, *late, "weights used", "weights stored"):
        shown.add_column(name, justify="left" if name == "method" else "right")
    for row in rows:
        spread = f" ± {score.text(row.std)}" if row.seeds > 1 else ""
        gain = "" if row.late_gain is None else f"{row.late_gain:+.4f}"
        shown.add_row(
            label(row.method, row.dims, row.more),
            f"{score.text(row.mean)}{spread}",
            score.text(row.worst),
            *((gain,) if gains else ()),
            f"{row.inference:,}",
            f"{row.parameters:,}",
        )
    if gains:
        shown.caption = (
            "late gain: of the validation score in the last fifth; a large one asks for more epochs"
        )
    Console(width=100).print(shown)


def show_accounts(rows: Sequence[Row], accounts: Sequence[Account]) -> None:
    """What each of them costs and needs, on standard output."""
    shown = Table(title="what each costs and must be given, as float32", title_justify="left")
    for name in ("method", "flash", "RAM", "multiply-adds of an answer", "of a change of alpha", "is given"):
        shown.add_column(name, justify="left" if name in ("method", "is given") else "right")
    for row, account in zip(rows, accounts, strict=True):
        mark = "" if account.exported else " *"
        answer = "?" if account.operations is None else f"{account.operations:,}"
        shown.add_row(
            label(row.method, row.dims, row.more),
            f"{account.flash:,}{mark}",
            f"{account.ram:,}{mark}",
            answer,
            f"{account.change:,}",
            account.given if account.labels == CHANGED else f"{account.given}; labels of {account.labels}",
        )
    if not all(account.exported for account in accounts):
        shown.caption = "* counted: the C export does not express this network"
    Console(width=120).print(shown)


def chosen_methods(
    asked: str | None, make: Callable[..., RunConfig], transform: Transform
) -> list[str] | None:
    """The names of the methods; which of all cannot do it, and why, is said on standard error."""
    names, refused = names_for(asked, make, transform)
    for name, reason in refused.items():
        print(f"left out: {name} ({reason})", file=sys.stderr)
    return names


def one_setting(transform: Transform, values: list[float]) -> Tensor:
    """(1, P): the setting that a person named."""
    if transform.measured:
        raise ScnError("--fixed is for a change that can be chosen, but this one comes with the data")
    return transform.within(torch.tensor([values]), named="--fixed")


def plan_what_fits(
    choice: Choice,
    limits: str,
    names: Sequence[str],
    dims: Sequence[int],
    seeds: range,
    variants: dict[str, list[str]],
    test: Evaluation,
) -> list[Job]:
    """The runs of a comparison of what fits a device; what does not is said on standard error."""
    found = fit.candidates(choice, fit.Limits.read(limits), names, dims, variants, seeds.start)
    shown = Table(title=f"what fits {limits}, as float32 and without code", title_justify="left")
    for name in ("network", "flash", "RAM", ""):
        shown.add_column(name, justify="left" if name in ("network", "") else "right")
    for one in found:
        fits = "" if one.fits else "does not fit"
        name = label(one.method, one.dims, one.more)
        shown.add_row(name, f"{one.size.flash:,}", f"{one.size.ram:,}", fits)
    Console(width=100, stderr=True).print(shown)
    return fit.jobs_of(found, seeds, test)


def say_best(jobs: Sequence[Job], folder: Path) -> None:
    """Which of what fits is best, and how it gets onto the device."""
    job, held_back = fit.best(jobs, folder, Run(folder, jobs[0].config).objective().score)
    name = label(job.config.method, job.config.dims, job.more)
    decided = "the data that were held back" if held_back else "the test data, because none were held back"
    print(
        f"best of what fits, by {decided}: {name}\n`scn export {folder / job.name} --to c -o DIR` exports it",
        file=sys.stderr,
    )


def finish(jobs: Sequence[Job], outcomes: list[Outcome], folder: Path, as_json: bool) -> list[Row]:
    """Table, file, picture and report of a comparison that has been carried out."""
    config = jobs[0].config
    score = Run(folder, config).objective().score
    rows, facts = table(outcomes, score), describe(jobs)
    accounts = [account_of(_first(row, jobs, folder)) for row in rows]
    title = entitle(facts, rows[0].seeds)
    counted = [{**asdict(row), **account.as_json()} for row, account in zip(rows, accounts, strict=True)]
    written = write_comparison(counted, folder, facts)
    picture = folder / "comparison.png"
    draw_comparison(outcomes, get_transform(config.transform, config.preset), score, title, picture)
    if as_json:
        print(json.dumps({**facts, "rows": counted}))
    else:
        show(rows, score, title)
        show_accounts(rows, accounts)
    page = folder / "report.html"
    write_report(collect([folder / job.name for job in jobs]), page)
    print(f"wrote {written} and {picture}", file=sys.stderr)
    print(f"the report is {page}", file=sys.stderr)
    return rows


def _first(row: Row, jobs: Sequence[Job], folder: Path) -> LoadedRun:
    """A run of a line of the table."""
    wanted = row.method, row.dims, row.more
    job = next(job for job in jobs if (job.config.method, job.config.dims, job.more) == wanted)
    return LoadedRun(Run(folder / job.name, job.config), job.more)


def command(
    context: typer.Context,
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder for all runs.")],
    task: TaskOption = None,
    budget: BudgetOption = None,
    data: DataOption = None,
    transform: TransformOption = None,
    backbone: BackboneOption = None,
    objective: ObjectiveOption = None,
    width: WidthOption = None,
    depth: DepthOption = None,
    methods: MethodsOption = None,
    dims: DimsOption = None,
    map_: MapOption = None,
    subspace: SubspaceOption = None,
    seeds: Annotated[int, typer.Option(help="How often each is trained.")] = 3,
    seed: Annotated[int, typer.Option(help="The first seed.")] = 0,
    preset: PresetOption = None,
    recipe_name: RecipeOption = None,
    epochs: EpochsOption = None,
    batch_size: NumberOption = None,
    clamp: ClampOption = False,
    set_: SetOption = None,
    step: Annotated[float | None, typer.Option(help="Distance of the settings in the test.")] = None,
    fixed: FixedOption = None,
    jobs: JobsOption = None,
    engine: EngineOption = engines.USUAL,
    address: AddressOption = None,
    limits: FitOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")] = False,
) -> None:
    """Train several methods on one task with the same budget, and compare them.

    Runs that are there already are not trained again. Writes comparison.json, comparison.png and
    report.html.

    Examples: scn compare --data digits --methods scn,one4all --dims 3,8 --seeds 3 -o runs/digits
    scn compare --task rotation/mlp/fashion-mnist --budget cpu -o runs/fashion
    scn compare --data digits --fit flash=64k,ram=16k -o runs/small
    """
    torch.set_num_threads(1)
    chosen = chosen_by(context)
    several = list(chosen.dims) if dims is None else whole_numbers("--dims", dims)
    variants = {name: said.split(",") for name, said in (("map", map_), ("subspace", subspace)) if said}
    chosen = replace(chosen, map=None if map_ else chosen.map, subspace=None)
    changed, make = get_transform(chosen.transform, chosen.preset), partial(chosen.config, seed=seed)
    names = chosen_methods(methods, make, changed)
    repeated, sizes = range(seed, seed + seeds), fit.DIMS if dims is None else several
    only = None if fixed is None else numbers("--fixed", fixed)
    settings = chosen.settings(step) if only is None else one_setting(changed, only)
    test = Evaluation(settings, chosen.test_samples)
    if limits is None:
        planned = plan_jobs(make, changed, names, several, repeated, test, variants, only)
    else:
        planned = plan_what_fits(chosen, limits, names or [MIXED, UNADAPTED], sizes, repeated, variants, test)
    outcomes = carry_out_all(planned, output, quiet, jobs, engine, address)
    finish(planned, outcomes, output, as_json)
    if limits is not None:
        say_best(planned, output)
