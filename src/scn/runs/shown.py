"""Which runs a page shows: run folders, or folders of `scn compare`; evaluated, and all of one task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from scn.runs.collection import LoadedRun, load
from scn.runs.outcome import Outcome


@dataclass(frozen=True, eq=False)
class Shown(LoadedRun):
    """A run that was trained and evaluated, with what a comparison says of it."""

    @property
    def settings(self) -> list[list[float]]:
        """(N, P): under which it was tested."""
        return self.table.params.tolist()

    @property
    def values(self) -> list[float]:
        """(N,): the accuracy under each setting."""
        return self.table.accuracy.tolist()

    @property
    def epochs(self) -> list[dict[str, Any]]:
        """The metrics of each epoch; none for a run that was imported."""
        return self.metrics if (self.folder / "metrics.jsonl").is_file() else []

    @cached_property
    def outcome(self) -> Outcome:
        config = self.run.config
        plain = self.run.method().configured(self.network, torch.tensor(self.settings[0]))
        return Outcome(
            config.method,
            config.dims,
            config.seed,
            sum(p.numel() for p in self.network.parameters()),
            sum(p.numel() for p in plain.parameters()),
            self.settings,
            self.values,
            self.mean,
        )


def collect(
    paths: Sequence[Path], backbone: str | None = None, *, command: str = "scn report"
) -> list[Shown]:
    """The runs that these paths name, SCNs first, in the order of D and seed. `command` is for errors.

    A class of the user's own must be named as `backbone`.
    """
    found = [Shown(one.run, one.more, one.backbone) for one in load(paths, backbone, command=command)]
    for one in found:
        one.table, one.network  # noqa: B018 - what is not there is an error before anything is made
    return found
