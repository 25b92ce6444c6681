"""`scn tasks`: the paper's tasks."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from scn.experiment.tasks import TASKS


def command(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """List the paper's tasks: what `scn train --task NAME` and `scn compare --task NAME` take.

    Example: scn tasks --json
    """
    rows = [
        {"name": task.name, "data": task.data, "transform": task.transform, "backbone": task.backbone}
        for task in TASKS.values()
    ]
    if as_json:
        print(json.dumps({"rows": rows}))
        return
    shown = Table(title="Tasks, each with the budgets paper, cpu and smoke", title_justify="left")
    for column in ("name", "data", "transform", "backbone"):
        shown.add_column(column)
    for row in rows:
        shown.add_row(*row.values())
    Console(width=110).print(shown)
