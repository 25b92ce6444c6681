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
    sweep,
    tasks,
    train,
)
from scn.core.errors import ScnError
from scn.training.processes import by_torchrun

COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo.command,
    "train": train.command,
    "compare": compare.command,
    "sweep": sweep.command,
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
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback()
def refuse_torchrun(context: typer.Context) -> None:
    """Subspace-configurable networks: small networks that follow a measured change of the input."""
    if by_torchrun() and context.invoked_subcommand != "train":
        raise ScnError(
            f"torchrun is for `scn train`, which trains one network in several processes: start "
            f"`scn {context.invoked_subcommand}` without it"
        )


for name, command in COMMANDS.items():
    app.command(name)(command)
app.add_typer(data.app, name="data")
