"""Wider One4Alls: what the weights of an SCN would buy without knowing the setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scn.methods.base import registry
from scn.methods.one4all import One4All


@registry.register("wider")
@dataclass(frozen=True)
class Wider(One4All):
    """A backbone `dims` times as wide."""

    title: ClassVar[str] = "One4All, {dims}x wide"
    colour: ClassVar[str] = ""
    factors: ClassVar[tuple[int, ...]] = (2, 4, 8)
