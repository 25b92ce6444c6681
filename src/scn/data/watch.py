"""How long work shows its progress: a function that passes items on and counts them on the way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Watch(Protocol):
    """Passes the items on; `label` says what is done with them, `total` how many there will be."""

    def __call__(self, items: Iterable[T], label: str, total: int | None = None) -> Iterable[T]: ...


def unwatched(items: Iterable[T], label: str, total: int | None = None) -> Iterable[T]:
    """The items, and nothing shown."""
    return items
