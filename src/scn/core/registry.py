"""A table from names to things, with errors for people who mistype a name."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Iterator
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


class Registry(Generic[T]):
    """Names of one kind of thing ("transform", "backbone", ...) and what they stand for."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """A decorator that enters what it decorates under `name`."""

        def enter(entry: T) -> T:
            if self._entries.get(name, entry) is not entry:
                raise ScnError(f'the {self.kind} "{name}" is registered already')
            self._entries[name] = entry
            return entry

        return enter

    def get(self, name: str) -> T:
        """What `name` stands for; an unknown name is an error that lists the known ones."""
        if name in self._entries:
            return self._entries[name]
        raise ScnError(f"there is no {self.kind} {nearest(name, sorted(self._entries))}")

    def name_of(self, entry: object) -> str | None:
        """The name that stands for `entry`, if there is one."""
        return next((name for name, known in self._entries.items() if known is entry), None)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))


# A registered backbone keeps each argument of its constructor as an attribute of the same name, so
# that a saved network can say how its backbone is built again.
backbones: Registry[type[nn.Module]] = Registry("backbone")


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
