"""NearestExpert: D networks, each for the settings that are nearest to it. Nothing is mixed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scn.methods.base import registry
from scn.methods.scn_method import SubspaceConfigurable
from scn.transforms import Transform


@registry.register("experts")
@dataclass(frozen=True)
class NearestExpert(SubspaceConfigurable):
    """What an engineer would do first: a table of networks, one for each range of settings."""

    title: ClassVar[str] = "Experts D={dims}"
    takes: ClassVar[tuple[str, ...]] = ("subspace",)

    @classmethod
    def objection(cls, transform: Transform) -> str | None:
        if transform.space() is None:
            return "its settings have no places: give the transform encodings() or space()"
        return None

    @classmethod
    def usual_map(cls, transform: Transform, dims: int, searched: bool = False) -> str:
        return "experts"
