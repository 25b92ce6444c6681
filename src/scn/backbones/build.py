"""Choose and build a backbone from what a person says on the command line."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from torch import nn

from scn.core.errors import ScnError
from scn.core.registry import allow, backbones


def find_class(name: str) -> type[nn.Module]:
    """A registered backbone, or a class of the user's own as "package.module:Class": the caller names it."""
    with allow(name):
        return backbones.get(name)


def factory(
    name: str, shape: Sequence[int], classes: int, **sizes: int | None
) -> tuple[Callable[[], nn.Module], dict[str, Any]]:
    """A function that makes new backbones for this data, and the arguments it makes them with.

    The class is given `shape` (C, H, W), `classes` and the sizes that are not None, as far as its
    constructor takes them; a size it does not take is an error.
    """
    kind = find_class(name)
    accepted = inspect.signature(kind).parameters
    chosen = {key: value for key, value in sizes.items() if value is not None}
    unknown = [key for key in chosen if key not in accepted]
    if unknown:
        raise ScnError(f'the backbone "{name}" has no {unknown[0]}; it takes: {", ".join(accepted)}')
    given = {"shape": list(shape), "classes": classes, **chosen}
    arguments = {key: value for key, value in given.items() if key in accepted}
    return functools.partial(kind, **arguments), arguments
