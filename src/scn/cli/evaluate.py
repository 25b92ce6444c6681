"""`scn evaluate`: accuracy of a run over all parameters of its transform."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.progress import track

from scn import runs
from scn.cli.allow import AllowOption
from scn.cli.chart import chart
from scn.cli.search import open_search
from scn.cli.values import numbers
from scn.cli.words import as_options
from scn.core.errors import ScnError
from scn.runs import backbone_of
from scn.runs.evaluation import evaluate_run
from scn.runs.scores import write_scores
from scn.search.study import by_batches, reason_to_doubt
from scn.transforms import Transform


def command(
    run: Annotated[Path, typer.Argument(help="The run folder.")],
    step: Annotated[
        float | None, typer.Option(help="Distance of the settings; 1 degree for rotation.")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="How the transform acts: default, paper, ...; by default as trained."),
    ] = None,
    fixed: Annotated[
        str | None,
        typer.Option(help="Configure once for these params (comma-separated), test on all."),
    ] = None,
    invariant: Annotated[
        bool, typer.Option("--invariant", help="Without telling the setting: the run searches for it.")
    ] = False,
    batch_size: Annotated[
        int | None,
        typer.Option(help="With --invariant: how many inputs share a setting; by default 16.", min=1),
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="With --invariant: grid (by default), refine, estimator, ...")
    ] = None,
    backbone: Annotated[
        str | None, typer.Option(help="Your own class, package.module:Class, if the run has one.")
    ] = None,
    allow: AllowOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")] = False,
) -> None:
    """Measure a run's score on the test data under every setting of its transform: accuracy, or R².

    Writes scores.csv into the run folder and prints mean, lowest and highest score. With
    --fixed, --invariant or another preset than the run's, the file's name says so.

    Example: scn evaluate runs/published-d8 --step 1
    """
    torch.set_num_threads(1)
    opened = runs.read(run)
    transform = opened.transform(preset)
    factory = backbone_of(opened, backbone)
    params = transform.regular(step)
    frozen = None if fixed is None else _setting(fixed, transform)
    answer, way_name, size = None, method or "grid", batch_size or 16
    if not invariant and (method or batch_size):
        raise ScnError("--method and --batch-size are for --invariant")
    if invariant:
        if frozen is not None:
            raise ScnError("--fixed tells the setting, and --invariant does not: leave one out")
        way = open_search(opened, way_name, None, {}, backbone)
        doubt = reason_to_doubt(opened, way)
        if doubt:
            print(f"warning: {as_options(doubt)}", file=sys.stderr)
        answer = by_batches(way, size)
    result = evaluate_run(
        opened,
        opened.network(factory),
        params,
        preset=preset,
        fixed=frozen,
        answer=answer,
        progress=lambda rows: track(
            list(rows), "evaluate", console=Console(stderr=True), disable=quiet, transient=True
        ),
    )
    facts = result.facts
    for found in facts.get("outside", []):
        print(f"warning: of the test samples, {found['said']}", file=sys.stderr)
    used = facts["preset"]
    suffix = "" if used == opened.config.preset else f"-{used}"
    if frozen is not None:
        suffix += "-fixed-" + "_".join(f"{v:g}" for v in frozen.tolist())
    if invariant:
        suffix += f"-invariant-{way_name}-{size}"
        facts = {**facts, "search": way_name, "batch_size": size}
        result = replace(result, facts=facts)
    if as_json:
        rows = {"params": result.params.tolist(), result.score.key: result.values.tolist()}
        print(json.dumps({**facts, "score": result.score.key, **result.summary(), **rows}))
    else:
        if len(transform.parameters) == 1:
            print(chart(result.params[:, 0].tolist(), result.values.tolist(), transform.parameters[0]))
        summary = "  ".join(f"{name} {value:.4f}" for name, value in result.summary().items())
        print(
            f"{summary}  over {len(result.params)} settings, {facts['samples']:,} test samples, preset {used}"
        )
    path = write_scores(opened.folder, result, transform, suffix)
    print(f"wrote {path}", file=sys.stderr)


def _setting(text: str, transform: Transform) -> torch.Tensor:
    return transform.checked(torch.tensor(numbers("--fixed", text)))
