"""`scn`: gathers the commands and turns errors for people into one line and an exit code."""

from __future__ import annotations

import io
import os
import sys

import typer

from scn.cli import (
    compare,
    data,
    demo,
    device,
    evaluate,
    explore,
    export,
    import_,
    plot,
    report,
    search,
    tasks,
    train,
)
from scn.core.errors import Failed, ScnError
from scn.core.registry import NotNamed

app = typer.Typer(
    help="Subspace-configurable networks: small networks that follow a measured change of the input.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command("demo")(demo.command)
app.command("train")(train.command)
app.command("compare")(compare.command)
app.command("tasks")(tasks.command)
app.command("import")(import_.command)
app.command("evaluate")(evaluate.command)
app.command("search")(search.command)
app.command("export")(export.command)
app.command("device")(device.command)
app.command("plot")(plot.command)
app.command("report")(report.command)
app.command("explore")(explore.command)
app.add_typer(data.app, name="data")


def main() -> None:
    """Run a command. Exit code 2: wrong usage or input; 1: anything else that failed.

    What is not an error for people is a fault of the program and keeps its traceback.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a chart on a terminal without its characters
    try:
        app()
    except (ScnError, OSError) as error:
        if os.environ.get("SCN_DEBUG"):
            raise
        named = f"{error.what}: --own {error.name}" if isinstance(error, NotNamed) else error
        print(f"scn: {named}", file=sys.stderr)
        wrong = isinstance(error, ScnError) and not isinstance(error, Failed)
        sys.exit(2 if wrong or isinstance(error, FileNotFoundError | FileExistsError) else 1)
