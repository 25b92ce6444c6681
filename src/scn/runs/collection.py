"""Runs as figures need them: read once, of one task, and told apart by a few words.

What is missing in a run is asked for when a figure needs it, so that a run that was not evaluated can
still show its training, and the error names the command that would help.
"""

from __future__ import annotations

import csv
import functools
import inspect
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from scn import backbones, methods, runs
from scn.core.errors import NotThere, ScnError
from scn.core.network import SCN
from scn.runs import Run, backbone_of
from scn.training.recipe import Recipe
from scn.transforms import Transform

Key = tuple[str, int, str]  # method, D and what else is said of a run

ENOUGH = 10  # samples that were measured near a setting: fewer say nothing about it


@dataclass(frozen=True)
class Table:
    """accuracy[i] is what a run reached under params[i]."""

    params: Tensor  # (N, P)
    accuracy: Tensor  # (N,)
    facts: dict[str, Any]  # of evaluation.json

    @classmethod
    def of(cls, params: Tensor, accuracy: Tensor, facts: dict[str, Any]) -> Table:
        """Without the settings that too few samples were measured near, unless that is all of them."""
        counts = torch.tensor(facts.get("counts", [ENOUGH] * len(params)))
        kept = counts >= ENOUGH if (counts >= ENOUGH).any() else counts >= 0
        return cls(params[kept], accuracy[kept], facts)


@dataclass(frozen=True, eq=False)
class LoadedRun:
    """One run, with what was written about it. `more` tells it from others with the same method and D."""

    run: Run
    more: str = ""
    backbone: str | None = None

    @property
    def key(self) -> Key:
        return self.run.config.method, self.run.config.dims, self.more

    @property
    def folder(self) -> Path:
        return self.run.folder

    @property
    def mixes(self) -> bool:
        return methods.get(self.run.config.method).mixes

    @functools.cached_property
    def transform(self) -> Transform:
        return self.run.transform()

    @functools.cached_property
    def network(self) -> nn.Module:
        own = backbone_of(self.run, self.backbone) if self.run.is_own_class else None
        return self.run.network(own).eval()

    @property
    def scn(self) -> SCN:
        net = self.network
        assert isinstance(net, SCN)
        return net

    @functools.cached_property
    def table(self) -> Table:
        """What `scn evaluate` wrote."""
        if not (self.folder / "accuracy.csv").is_file():
            if not self.run.is_trained:
                raise NotThere(_not_trained(self.folder))
            raise NotThere(f"{self.folder} was not evaluated: `scn evaluate {self.folder}` does it")
        return self.stored("")

    @property
    def mean(self) -> float:
        return float(self.table.facts["mean"])

    def stored(self, suffix: str) -> Table:
        """The table of an evaluation, a special one by its suffix."""
        path = self.folder / f"accuracy{suffix}.csv"
        count = len(self.transform.parameters)
        try:
            with path.open(newline="") as file:
                rows = [[float(value) for value in row] for row in list(csv.reader(file))[1:]]
            values = torch.tensor(rows, dtype=torch.float64)
            facts = json.loads((self.folder / f"evaluation{suffix}.json").read_text())
            _require_whole(values, facts, self.transform.measured)
            facts = {"mean": values[:, -1].mean().item(), **facts}
            return Table.of(values[:, :count], values[:, -1], facts)
        except (ValueError, IndexError, FileNotFoundError) as error:
            raise ScnError(
                f"{path} cannot be read ({error}): `scn evaluate {self.folder}` writes it anew"
            ) from error

    @functools.cached_property
    def metrics(self) -> list[dict[str, Any]]:
        """A line for each epoch of the training, of one that goes on as well."""
        path = self.folder / "metrics.jsonl"
        lines = path.read_text().splitlines() if path.is_file() else []
        if not lines:
            imported = f"{self.folder} has no metrics of a training: it was not trained by `scn train`"
            raise NotThere(imported if self.run.is_trained else _not_trained(self.folder))
        found = [_line(path, number, line, last=number == len(lines)) for number, line in enumerate(lines, 1)]
        return [line for line in found if line is not None]


def _require_whole(values: Tensor, facts: Any, measured: bool) -> None:
    """Refuse a table that was cut, or holds what is no accuracy."""
    if not isinstance(facts, dict) or not isinstance(facts.get("samples"), int):
        raise ScnError("what it was measured on is not said beside it")
    asked = len(values) if measured else facts.get("settings", len(values))
    expected = len(facts.get("counts", [])) or asked  # settings without a sample have no row
    if len(values) != expected:
        raise ScnError(f"it has {len(values)} rows instead of {expected}")
    if not ((values[:, -1] >= 0) & (values[:, -1] <= 1)).all():
        raise ScnError("it holds accuracies that are not from 0 to 1")


def _line(path: Path, number: int, text: str, last: bool) -> dict[str, Any] | None:
    """The metrics of an epoch; none for a last line that is not there in full: it is being written."""
    try:
        found = json.loads(text)
        if isinstance(found, dict):
            return found
    except ValueError:
        if last:
            return None
    raise ScnError(f"line {number} of {path} is damaged: `scn train --resume {path.parent}` goes on")


AnyRun = TypeVar("AnyRun", bound=LoadedRun)


def _not_trained(folder: Path) -> str:
    return f"{folder} has no trained network yet: `scn train --resume {folder}` goes on"


def load(paths: Iterable[Path], backbone: str | None = None, *, command: str = "scn plot") -> list[LoadedRun]:
    """Every run in these folders, which must be of one task: SCNs by D, then the others, then by seed.

    `command` is what a person called, for errors.
    """
    folders = dict.fromkeys(folder.resolve() for path in paths for folder in _expanded(path))
    by_name = {folder: runs.read(_short(folder)) for folder in folders}
    found = list(by_name.values())
    _refuse_different_tasks(found, command)
    order = list(methods.registry)
    said = told_apart(found)
    loaded = [LoadedRun(run, more, backbone) for run, more in zip(found, said, strict=True)]

    def rank(one: LoadedRun) -> tuple[Any, ...]:
        method, dims, more = one.key
        place = order.index(method) if method in order else len(order)  # behind them methods of one's own
        return not one.mixes, place, method, dims, more, one.run.config.fixed or [], one.run.config.seed

    return sorted(loaded, key=rank)


def _short(folder: Path) -> Path:
    """As a person would type it."""
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder


def _expanded(path: Path) -> Iterator[Path]:
    """The run itself, or those in a folder of runs such as `scn compare` writes."""
    if not path.exists():
        raise NotThere(f"there is no run {path}: `scn train -o {path}` makes one")
    if (path / "config.json").is_file() or not path.is_dir():
        yield path
        return
    inner = sorted(child.parent for child in path.glob("*/config.json"))
    if not inner:
        raise NotThere(
            f"{path} is not a run, and holds none: `scn train -o {path}` makes a run, `scn compare` several"
        )
    deeper = sorted({child.parent.parent for child in path.glob("*/*/config.json")} - set(inner))
    if deeper:
        raise ScnError(
            f"{path} holds the run {inner[0].name}, and {deeper[0].name} with runs of its own: name what you "
            f"want to see, such as {inner[0]}"
        )
    yield from inner


def _task(run: Run) -> dict[str, str]:
    config = run.config
    named = str(config.backbone.get("name") or config.backbone.get("class"))
    return {
        "data": Path(config.data).stem,
        "transform": config.transform,
        "preset": config.preset,
        "backbone": named,
        "checksum of the data": config.checksum,
    }


def _refuse_different_tasks(found: Sequence[Run], command: str) -> None:
    first = _task(found[0])
    for other in found[1:]:
        theirs = _task(other)
        for name, value in theirs.items():
            if value != first[name]:
                raise ScnError(
                    f"only runs of one task go together, but {found[0].folder} has {name} {first[name]} "
                    f"and {other.folder} has {name} {value}: call `{command}` once for each task"
                )


def told_apart(found: Sequence[Run], ignored: Sequence[str] = ()) -> list[str]:
    """For each run what it alone has among those with the same method and D, such as "width 64"."""
    flat = [_flat(run) for run in found]
    said = []
    for run, mine in zip(found, flat, strict=True):
        alike = [
            theirs
            for other, theirs in zip(found, flat, strict=True)
            if (other.config.method, other.config.dims) == (run.config.method, run.config.dims)
        ]
        differing = [
            name
            for name in mine
            if name not in ignored and any(theirs.get(name) != mine[name] for theirs in alike)
        ]
        said.append(", ".join(f"{name.replace('_', ' ')} {mine[name]}" for name in differing))
    return said


def _flat(run: Run) -> dict[str, Any]:
    """What may differ between runs of one task, beside method, D and seed."""
    sizes = {name: value for name, value in arguments(run).items() if name != "shape"}
    recipe = Recipe(**run.config.recipe).to_json() if run.config.recipe else {}  # an old one lacks new values
    return {**sizes, **recipe, "configurable": " ".join(run.config.configurable)}


def arguments(run: Run) -> dict[str, Any]:
    """What the backbone was built with, and where nothing was said, what it then takes."""
    description = run.config.backbone
    known = inspect.signature(backbones.get(description["name"])).parameters if "name" in description else {}
    usual = {name: p.default for name, p in known.items() if p.default is not inspect.Parameter.empty}
    return {**usual, **description.get("arguments", {})}


def groups(loaded: Sequence[AnyRun]) -> dict[Key, list[AnyRun]]:
    """Runs that differ by their seed alone (or, where each has one, by the setting it is for)."""
    found: dict[Key, list[AnyRun]] = {}
    for one in loaded:
        found.setdefault(one.key, []).append(one)
    return found


def task_title(loaded: Sequence[LoadedRun], what: str = "") -> str:
    """The task in a few words, above what the figure shows of it."""
    config = loaded[0].run.config
    task = f"{config.transform} on {Path(config.data).stem}, preset {config.preset}"
    return f"{task}\n{what}" if what else task


def tested_on(loaded: Sequence[LoadedRun]) -> str:
    """How many test samples the accuracies were measured on."""
    counts = sorted({int(one.table.facts["samples"]) for one in loaded})
    few = any(len(one.table.params) < len(one.table.facts.get("counts", [])) for one in loaded)
    return " to ".join(f"{count:,}" for count in (counts[0], counts[-1])[: len(counts)]) + (
        f" test samples, settings with {ENOUGH} or more" if few else " test samples"
    )


def band(loaded: Sequence[LoadedRun], kind: str = "band") -> str:
    """What the bands around curves (or bars) are, where there are any."""
    seeds = len({one.run.config.seed for one in loaded})
    return f"{kind}: lowest to highest of {seeds} seeds" if seeds > 1 else ""


def scns(loaded: Sequence[LoadedRun], figure: str) -> list[LoadedRun]:
    """The first SCN of each kind, one seed of each."""
    mixing = [several[0] for several in groups([one for one in loaded if one.mixes]).values()]
    if not mixing:
        raise ScnError(
            f"the figure {figure} shows what an SCN is configured to, and there is none among these runs: "
            "`scn train --method scn` makes one"
        )
    return mixing


def neutral(transform: Transform) -> Tensor:
    """(P,): no change, or the middle of a range without it."""
    return torch.tensor([p.neutral for p in transform.parameters])
