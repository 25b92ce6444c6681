"""Which runs a page shows: run folders, or folders of `scn compare`; evaluated, and all of one task."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from scn import runs
from scn.compare import Outcome
from scn.plan import backbone_of
from scn.runs import Run


@dataclass(frozen=True)
class Shown:
    """A run with what it reached: a page asks for no more of it."""

    run: Run
    backbone: Callable[[], nn.Module] | None

    @cached_property
    def net(self) -> nn.Module:
        return self.run.network(self.backbone).eval()

    @cached_property
    def evaluation(self) -> dict[str, Any]:
        return _json(self.run.folder / "evaluation.json")

    @cached_property
    def table(self) -> tuple[list[list[float]], list[float]]:
        """Settings (N, P) and the accuracy under each."""
        path = self.run.folder / "accuracy.csv"
        try:
            rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
        except ValueError as error:
            raise ValueError(f"{path} is damaged ({error}): `scn evaluate {self.run.folder}`") from error
        count = len(self.run.transform().parameters)
        return rows[:, :count].tolist(), rows[:, -1].tolist()

    @cached_property
    def metrics(self) -> list[dict[str, Any]]:
        """One entry for each epoch; none for a run that was imported."""
        path = self.run.folder / "metrics.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []

    @cached_property
    def outcome(self) -> Outcome:
        params, accuracy = self.table
        config = self.run.config
        plain = self.run.method().configured(self.net, torch.tensor(params[0]))
        return Outcome(
            config.method,
            config.dims,
            config.seed,
            sum(p.numel() for p in self.net.parameters()),
            sum(p.numel() for p in plain.parameters()),
            params,
            accuracy,
            self.evaluation["mean"],
        )


def collect(paths: Sequence[Path], backbone: str | None = None) -> list[Shown]:
    """The runs that these paths name, SCNs first, in the order of D and seed.

    A class of the user's own must be named as `backbone`.
    """
    found = [run for path in paths for run in _expanded(path)]
    unique = list({run.folder.resolve(): run for run in found}.values())
    for run in unique:
        _refuse_unfinished(run)
    _refuse_several_tasks(unique)
    shown = [Shown(run, backbone_of(run, backbone) if run.is_own_class else None) for run in unique]
    return sorted(shown, key=_place)


def _place(shown: Shown) -> tuple[bool, str, int, list[float], int]:
    config = shown.run.config
    mixes = type(shown.run.method()).mixes
    return (not mixes, "" if mixes else config.method, config.dims, config.fixed or [], config.seed)


def _expanded(path: Path) -> list[Run]:
    """The run in this folder, or all runs of a comparison."""
    if not path.exists():
        raise FileNotFoundError(f"there is no run {path}: `scn train -o {path}` makes one")
    if (path / "config.json").is_file() or not path.is_dir():
        return [runs.read(path)]
    inside = sorted(folder.parent for folder in path.glob("*/config.json"))
    if not inside:
        raise FileNotFoundError(
            f"{path} holds no run: `scn train -o {path}` makes one, `scn compare -o {path}` several"
        )
    return [runs.read(folder) for folder in inside]


def _refuse_unfinished(run: Run) -> None:
    if not run.is_trained:
        raise FileNotFoundError(
            f"{run.folder} has no trained network yet: `scn train --resume {run.folder}` goes on"
        )
    if not all((run.folder / name).is_file() for name in ("accuracy.csv", "evaluation.json")):
        raise FileNotFoundError(
            f"{run.folder} was not evaluated yet: `scn evaluate {run.folder}` measures its accuracy"
        )


def _refuse_several_tasks(several: Sequence[Run]) -> None:
    first = several[0]
    for other in several[1:]:
        if _task(other) != _task(first):
            raise ValueError(
                f"a page shows runs of one task, but {first.folder} is {_task(first)} and {other.folder} is "
                f"{_task(other)}: make a page of each, beginning with `scn report {first.folder}`"
            )


def _task(run: Run) -> str:
    config = run.config
    return f"{config.transform} (preset {config.preset}) on {Path(config.data).stem}"


def _json(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path} is damaged ({error}): `scn evaluate {path.parent}`") from error
    return content
