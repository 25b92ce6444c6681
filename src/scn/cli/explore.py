"""`scn explore`: a page to turn the setting and watch the network reconfigure itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import torch
import typer

from scn.cli.allow import AllowOption
from scn.cli.report import FoldersArgument, OwnClassOption
from scn.explorer import write_explorer
from scn.pages import check_output
from scn.runs.collection import collect


def command(
    folders: FoldersArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")] = Path(
        "explorer.html"
    ),
    samples: Annotated[int, typer.Option(help="How many test samples to choose among.", min=1)] = 12,
    backbone: OwnClassOption = None,
    allow: AllowOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")] = False,
) -> None:
    """Write a page in which a person turns the setting and watches the network reconfigure itself.

    One HTML file that opens offline, without a server: the changed input, the mixture of base models, the
    configured weights and the predictions of the SCN, of One4All and of a network that does not adapt.
    Runs of several D can be chosen among in the page.

    Examples: scn explore runs/demo -o explorer.html
    scn explore runs/scn-d3 runs/scn-d8 runs/one4all -o explorer.html
    """
    torch.set_num_threads(1)
    check_output(output, f"scn explore {folders[0]}")
    say = (lambda text: None) if quiet else (lambda text: print(text, file=sys.stderr))
    facts = write_explorer(
        collect(folders, backbone, command="scn explore"), output, samples=samples, say=say
    )
    if as_json:
        print(json.dumps({"file": str(output), "bytes": output.stat().st_size, **facts}))
    else:
        print(output)
