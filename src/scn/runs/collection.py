"""Collections of runs: read once, of one task, and told apart by a few words.

What is missing in a run is asked for when somebody needs it, so that a run that was not evaluated can
still show its training, and the error names the command that would help.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from scn import methods
from scn.core.errors import NotThere, ScnError
from scn.core.network import SCN
from scn.objectives import Score
from scn.runs.folder import CONFIG, Run, backbone_of, read
from scn.runs.labels import Key, distinguish, refuse_different_tasks
from scn.runs.outcome import Outcome
from scn.runs.scores import ENOUGH, Scores, read_scores, table_file
from scn.transforms import Transform


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
    def score(self) -> Score:
        return self.run.objective().score

    @functools.cached_property
    def network(self) -> nn.Module:
        return self.run.network(backbone_of(self.run, self.backbone)).eval()

    @property
    def scn(self) -> SCN:
        net = self.network
        assert isinstance(net, SCN)
        return net

    @functools.cached_property
    def table(self) -> Scores:
        """What `scn evaluate` wrote, without settings that too few samples were measured near."""
        if not table_file(self.folder).is_file():
            if not self.run.is_trained:
                raise NotThere(_not_trained(self.folder))
            raise NotThere(f"{self.folder} was not evaluated: `scn evaluate {self.folder}` does it")
        return self.stored("")

    def stored(self, suffix: str) -> Scores:
        """The table of an evaluation, a special one by its suffix."""
        return read_scores(self.folder, self.transform, self.score, suffix).with_enough()

    @property
    def mean(self) -> float:
        return self.table.mean

    @property
    def settings(self) -> list[list[float]]:
        """(N, P): under which it was tested."""
        return self.table.params.tolist()

    @property
    def values(self) -> list[float]:
        """(N,): the score under each setting."""
        return self.table.values.tolist()

    @functools.cached_property
    def metrics(self) -> list[dict[str, Any]]:
        """A line for each epoch of the training, of one that goes on as well."""
        path = self.run.metrics_file
        lines = path.read_text().splitlines() if path.is_file() else []
        if not lines:
            imported = f"{self.folder} has no metrics of a training: it was not trained by `scn train`"
            raise NotThere(imported if self.run.is_trained else _not_trained(self.folder))
        found = [_line(path, number, line, last=number == len(lines)) for number, line in enumerate(lines, 1)]
        return [line for line in found if line is not None]

    @property
    def epochs(self) -> list[dict[str, Any]]:
        """The metrics of each epoch; none for a run that was imported."""
        return self.metrics if self.run.metrics_file.is_file() else []

    @property
    def late_gain(self) -> float | None:
        """By how much the validation score grew in the last fifth of the training, or an error shrank.

        Means over a twentieth of the epochs each, because a single epoch may be lucky; none for a run without
        validation data, or with fewer than 20 epochs.
        """
        name = f"validation_{self.score.key}"
        known = [line[name] for line in self.epochs if line.get(name) is not None]
        part = len(known) // 20
        if not part:
            return None
        before = known[: len(known) - len(known) // 5][-part:]
        grown = sum(known[-part:]) / part - sum(before) / part
        return grown if self.score.better(1.0, 0.0) else -grown

    @functools.cached_property
    def outcome(self) -> Outcome:
        """What a comparison says of the run."""
        config = self.run.config
        method = self.run.method()
        plain = method.configured(method.kept(self.network), torch.tensor(self.settings[0]))
        return Outcome(
            config.method,
            config.dims,
            config.seed,
            sum(p.numel() for p in method.kept(self.network).parameters()),
            sum(p.numel() for p in plain.parameters()),
            self.settings,
            self.values,
            self.mean,
            self.more,
            self.late_gain,
        )


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


def _not_trained(folder: Path) -> str:
    return f"{folder} has no trained network yet: `scn train --resume {folder}` goes on"


def load(paths: Iterable[Path], backbone: str | None = None, *, command: str = "scn plot") -> list[LoadedRun]:
    """Every run in these folders, which must be of one task: SCNs by D, then the others, then by seed.

    `command` is what a person called, for errors.
    """
    folders = dict.fromkeys(folder.resolve() for path in paths for folder in _expanded(path))
    by_name = {folder: read(_short(folder)) for folder in folders}
    found = list(by_name.values())
    refuse_different_tasks(found, command)
    order = list(methods.registry)
    said = distinguish(found)
    loaded = [LoadedRun(run, more, backbone) for run, more in zip(found, said, strict=True)]

    def rank(one: LoadedRun) -> tuple[Any, ...]:
        method, dims, more = one.key
        place = order.index(method) if method in order else len(order)
        place = -1 if method == methods.MIXED else place
        config, said = one.run.config, _by_number(more)
        return not one.mixes, place, method, dims, said, config.fixed or [], config.seed

    return sorted(loaded, key=rank)


def _by_number(text: str) -> list[tuple[float, str]]:
    """For sorting: "width 16" before "width 128"."""
    return [(float(part), "") if part.isdecimal() else (-1.0, part) for part in re.split(r"(\d+)", text)]


def collect(
    paths: Sequence[Path], backbone: str | None = None, *, command: str = "scn report"
) -> list[LoadedRun]:
    """The same, of runs that were trained and evaluated, for a page. A class of one's own is `backbone`."""
    found = load(paths, backbone, command=command)
    for one in found:
        one.table, one.network  # noqa: B018 - what is not there is an error before anything is made
    return found


def _short(folder: Path) -> Path:
    """As a person would type it."""
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder


def _expanded(path: Path) -> Iterator[Path]:
    """The run itself, or those in a folder of runs such as `scn compare` writes."""
    if not path.exists():
        raise NotThere(f"there is no run {path}: `scn train -o {path}` makes one")
    if (path / CONFIG).is_file() or not path.is_dir():
        yield path
        return
    inner = sorted(child.parent for child in path.glob(f"*/{CONFIG}"))
    if not inner:
        raise NotThere(
            f"{path} is not a run, and holds none: `scn train -o {path}` makes a run, `scn compare` several"
        )
    deeper = sorted({child.parent.parent for child in path.glob(f"*/*/{CONFIG}")} - set(inner))
    if deeper:
        raise ScnError(
            f"{path} holds the run {inner[0].name}, and {deeper[0].name} with runs of its own: name what you "
            f"want to see, such as {inner[0]}"
        )
    yield from inner


def groups(loaded: Sequence[LoadedRun]) -> dict[Key, list[LoadedRun]]:
    """Runs that differ by their seed alone (or, where each has one, by the setting it is for)."""
    found: dict[Key, list[LoadedRun]] = {}
    for one in loaded:
        found.setdefault(one.key, []).append(one)
    return found


def tested_on(loaded: Sequence[LoadedRun]) -> str:
    """How many test samples the scores were measured on."""
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
    mixing = [
        several[0]
        for several in groups(loaded).values()
        if several[0].mixes and several[0].run.method().one_pass
    ]
    if not mixing:
        raise ScnError(
            f"the figure {figure} shows what an SCN is configured to, and there is none among these runs: "
            "`scn train --method scn` makes one"
        )
    return mixing
