"""Choose and build a backbone from what a person says on the command line."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from scn.core.errors import ScnError
from scn.core.registry import backbones


def find_class(name: str) -> type[nn.Module]:
    """A registered backbone, or a class of the user's own as "package.module:Class"."""
    if ":" not in name:
        return backbones.get(name)
    module_name, _, class_name = name.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError) as error:
        raise ScnError(f'the backbone "{name}" cannot be imported: {error}') from error
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        raise ScnError(f'the backbone "{name}" is not a class of torch modules')
    return found


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
