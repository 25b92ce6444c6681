"""The library names arguments, the command line options, and no message mixes them up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import scn
from scn.cli.commands import app
from scn.cli.words import OPTIONS, as_options

SOURCE = Path(scn.__file__).parent
FILES = [path for path in SOURCE.rglob("*.py") if "cli" not in path.relative_to(SOURCE).parts]
COMMAND = re.compile(r"`(?:scn|ray) [^`]*`")  # a whole command to type may have options


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Every text of a raise statement, what is computed in it as {}."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Raise) and node.exc is not None:
            yield node.lineno, "".join(_texts(node.exc))


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.FormattedValue):
        yield "{}"
    else:
        for child in ast.iter_child_nodes(node):
            yield from _texts(child)


def test_no_message_of_the_library_names_an_option() -> None:
    naming = [
        f"{path.relative_to(SOURCE)}:{line}: {text}"
        for path in FILES
        for line, text in messages(path)
        if re.search(r"(^|\W)--\w", COMMAND.sub("", text))
    ]
    assert naming == []


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("the method one4one needs `fixed`, a setting", "the method one4one needs --fixed, a setting"),
        ("say `backbone=mine:Net`", "say --backbone mine:Net"),
        ("`replace=True` makes it anew", "--replace makes it anew"),
        ("train with `compiled=False`", "train with --set compiled=false"),
        ("train with `evidence_weight=0.5`", "train with --evidence-weight 0.5"),
        ("`scn train -o x` makes one", "`scn train -o x` makes one"),
        ("say `unknown=1` or `unknown`", "say `unknown=1` or `unknown`"),
    ],
)
def test_arguments_become_options(said: str, shown: str) -> None:
    assert as_options(said) == shown


def test_every_option_that_is_named_is_one() -> None:
    def options(command: Any) -> Iterator[str]:
        yield from (name for parameter in command.params for name in parameter.opts)
        for inner in getattr(command, "commands", {}).values():
            yield from options(inner)

    assert set(OPTIONS.values()) <= set(options(typer.main.get_command(app)))
