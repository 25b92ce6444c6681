"""A table from names to things, with errors for people who mistype a name.

A name of the form "package.module:Name" stands for code of the user's own, imported from the current folder
or an installed package. A file alone never gets code imported: `allow` says which names a person typed.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Generic, TypeVar

from torch import nn

from scn.core.errors import ScnError

T = TypeVar("T")


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of an error message about an unknown name: the name, the nearest one, and all."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1)
    guess = f' Did you mean "{near[0]}"?' if near else ""
    return f'"{name}".{guess} Known: {", ".join(known)}'


_allowed: ContextVar[frozenset[str]] = ContextVar("allowed", default=frozenset())


@contextmanager
def allow(*names: str | None) -> Iterator[None]:
    """Meanwhile code of these names may be imported, because a person typed them.

    Names may be joined by "+" or commas; those that are not of the form "package.module:Name" do nothing.
    """
    parts = {part.strip() for name in names if name for part in re.split(r"[+,]", name) if ":" in part}
    before = _allowed.set(_allowed.get() | parts)
    try:
        yield
    finally:
        _allowed.reset(before)


def allowed() -> frozenset[str]:
    """The names that `allow` allows here; another process is given them as `allow(*names)`."""
    return _allowed.get()


def own_part(name: str, kind: str) -> Any:
    """What "package.module:Name" stands for, if it is allowed."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute.isidentifier():
        raise ScnError(f'the {kind} "{name}" is not of the form package.module:Name')
    if name not in allowed():
        raise ScnError(
            f'the {kind} "{name}" is code of your own, which is imported only where you allow it, by '
            f"scn.allow or `allow={name}`"
        )
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise ScnError(f'the {kind} "{name}" cannot be imported: {error}') from error


def _is_again(known: object, entry: object) -> bool:
    """Whether this is what is known, or the same of a module that was imported anew, as in a notebook."""
    here, there = (
        (getattr(one, "__module__", None), getattr(one, "__qualname__", None)) for one in (known, entry)
    )
    return known is entry or (None not in here and here == there)


class Registry(Generic[T]):
    """Names of one kind of thing ("transform", "backbone", ...) and what they stand for.

    base: the class whose subclasses may stand there, where a name may also be "package.module:Name".
    """

    def __init__(self, kind: str, base: type | None = None) -> None:
        self.kind = kind
        self.base = base
        self._entries: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """A decorator that enters what it decorates under `name`."""

        def enter(entry: T) -> T:
            if not _is_again(self._entries.get(name, entry), entry):
                raise ScnError(f'the {self.kind} "{name}" is registered already')
            self._entries[name] = entry
            return entry

        return enter

    def get(self, name: str) -> T:
        """What `name` stands for; an unknown name is an error that lists the known ones."""
        if name in self._entries:
            return self._entries[name]
        if self.base is not None and ":" in name:
            return self._own(name, self.base)
        raise ScnError(f"there is no {self.kind} {nearest(name, sorted(self._entries))}")

    def _own(self, name: str, base: type) -> T:
        found = own_part(name, self.kind)
        if not (isinstance(found, type) and issubclass(found, base)):
            raise ScnError(f'the {self.kind} "{name}" is not a subclass of {base.__module__}.{base.__name__}')
        missing = sorted(getattr(found, "__abstractmethods__", ()))
        if missing:
            raise ScnError(f'the {self.kind} "{name}" lacks {", ".join(missing)}: give it these methods')
        own: Any = found
        return own

    def name_of(self, entry: object) -> str | None:
        """The name that stands for `entry`, if there is one."""
        return next((name for name, known in self._entries.items() if known is entry), None)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))


# A registered backbone keeps each argument of its constructor as an attribute of the same name, so
# that a saved network can say how its backbone is built again.
backbones: Registry[type[nn.Module]] = Registry("backbone", nn.Module)


def describe_backbone(module: nn.Module) -> dict[str, Any]:
    """How to build this module again: its registered name and arguments, or only its class."""
    kind = type(module)
    description: dict[str, Any] = {"class": f"{kind.__module__}:{kind.__qualname__}"}
    name = backbones.name_of(kind)
    if name is not None:
        arguments = list(inspect.signature(kind).parameters)
        description |= {"name": name, "arguments": {a: getattr(module, a) for a in arguments}}
    return description


def build_backbone(description: dict[str, Any]) -> nn.Module:
    """The inverse of `describe_backbone`, for a registered backbone."""
    if "name" not in description:
        raise ScnError(
            f"the network was saved with a backbone of class {description['class']}, which is not "
            "a registered one: build it and pass it as SCN.load(path, backbone=module)"
        )
    return backbones.get(description["name"])(**description["arguments"])
