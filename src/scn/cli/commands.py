"""Every command of `scn`: one file each, and one row here."""

from __future__ import annotations

from collections.abc import Callable

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
    reproduce,
    search,
    tasks,
    train,
)

COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo.command,
    "train": train.command,
    "compare": compare.command,
    "reproduce": reproduce.command,
    "tasks": tasks.command,
    "import": import_.command,
    "evaluate": evaluate.command,
    "search": search.command,
    "export": export.command,
    "device": device.command,
    "plot": plot.command,
    "report": report.command,
    "explore": explore.command,
}

app = typer.Typer(
    help="Subspace-configurable networks: small networks that follow a measured change of the input.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
for name, command in COMMANDS.items():
    app.command(name)(command)
app.add_typer(data.app, name="data")
