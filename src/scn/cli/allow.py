"""Code of the user's own: what a person types as package.module:Name may be imported by that command."""

from __future__ import annotations

from typing import Annotated, TypeVar

import typer

from scn.core.registry import allow

T = TypeVar("T", str | None, list[str] | None)


def vouch(context: typer.Context, value: T) -> T:
    """For options and arguments that name parts: what is named there is allowed until the command ends."""
    context.with_resource(allow(*(value if isinstance(value, list) else [value])))
    return value


AllowOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="PACKAGE.MODULE:NAME",
        help="A part of your own that a run names: it is imported only if you say so. Several by commas.",
        callback=vouch,
    ),
]
