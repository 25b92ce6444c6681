"""One4All: one plain network for all settings, trained on inputs under random ones (augmentation)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scn.methods.base import PlainMethod, registry


@registry.register("one4all")
@dataclass(frozen=True)
class One4All(PlainMethod):
    """Sees the changed input and knows nothing else."""

    title: ClassVar[str] = "One4All"
    colour: ClassVar[str] = "#d55e00"
    knows_setting: ClassVar[bool] = False
