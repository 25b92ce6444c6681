"""`scn report`: one page about one or more runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import torch
import typer

from scn.cli.allow import AllowOption
from scn.pages import check_output
from scn.report import write_report
from scn.runs.collection import collect

FoldersArgument = Annotated[list[Path], typer.Argument(help="Run folders, or folders of `scn compare`.")]
OwnClassOption = Annotated[
    str | None, typer.Option(help="Your own class, package.module:Class, if the runs have one.")
]


def command(
    folders: FoldersArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")] = Path("report.html"),
    backbone: OwnClassOption = None,
    allow: AllowOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Write a report of runs of one task: one HTML file that opens offline, without a server.

    What was trained, the table with its spread, interactive figures, what it costs, how to repeat it, and
    warnings. It prints well, for a PDF.

    Examples: scn report runs/demo -o report.html
    scn report runs/scn-d8 runs/one4all -o report.html
    """
    torch.set_num_threads(1)
    check_output(output, f"scn report {folders[0]}")
    shown = collect(folders, backbone)
    write_report(shown, output)
    if as_json:
        print(json.dumps({"file": str(output), "bytes": output.stat().st_size, "runs": len(shown)}))
    else:
        print(output)
