"""`scn`: runs a command and turns errors for people into one line and an exit code.

Nothing slow is imported before `main` is called, so that Ctrl-C is understood from the first moment.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import Any

INTERRUPTED = 130


def main() -> None:
    """Run a command. Exit code 2: wrong usage or input; 130: Ctrl-C; 1: anything else that failed.

    What is not an error for people is a fault of the program and keeps its traceback.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a chart on a terminal without its characters
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a script started us in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.exit(_run())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _run() -> int:
    """The exit code of the command that the person named."""
    import typer

    from scn.cli.commands import app
    from scn.cli.words import as_options
    from scn.core.errors import Failed, ScnError

    usage: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "UsageError")
    try:
        return app(prog_name="scn", standalone_mode=False) or 0
    except typer.Abort:
        return INTERRUPTED
    except usage as error:
        return _explain_usage(error)
    except (ScnError, OSError) as error:
        if os.environ.get("SCN_DEBUG"):
            raise
        print(f"scn: {as_options(str(error))}", file=sys.stderr)
        wrong = isinstance(error, ScnError) and not isinstance(error, Failed)
        return 2 if wrong or isinstance(error, FileNotFoundError | FileExistsError) else 1


def _explain_usage(error: Any) -> int:
    """What is wrong with the words on the command line, in one line; without any words, the help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
    else:
        called = error.ctx.command_path if error.ctx else "scn"
        message = " ".join(error.format_message().split()).rstrip(".")
        print(f"scn: {message} (`{called} --help` says more)", file=sys.stderr)
    return int(error.exit_code)
