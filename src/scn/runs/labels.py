"""Runs in words: what tells them apart, the task they have in common, and what they were tested on."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from scn import backbones, methods
from scn.core.errors import ScnError
from scn.data import short_name
from scn.runs.folder import Run

Key = tuple[str, int, str]  # method, D and what else is said of a run

STORED = ("map", "subspace")  # said by their values alone, which are words
BY_MAP = ("base_noise", "together")  # whose usual values follow from the map


def distinguish(found: Sequence[Run], ignored: Sequence[str] = ()) -> list[str]:
    """For each run what tells it from others, such as "width 64".

    Map and subspace, by which SCNs of any D differ, are said of all SCNs or of none; everything else where
    runs of one method and D differ in it.
    """
    flat = [_flat(run) for run in found]
    said = []
    for run, mine in zip(found, flat, strict=True):
        differing = [
            name
            for name in mine
            if name not in ignored
            and any(
                theirs.get(name) != mine[name]
                for other, theirs in zip(found, flat, strict=True)
                if _comparable(name, run, other)
            )
        ]
        words = (str(mine[n]) if n in STORED else f"{n.replace('_', ' ')} {mine[n]}" for n in differing)
        said.append(", ".join(words))
    return said


def _comparable(name: str, one: Run, other: Run) -> bool:
    """Whether a difference between two runs in what is called `name` tells them apart."""
    first, second = one.config, other.config
    if name in STORED:
        return name in methods.get(first.method).takes and name in methods.get(second.method).takes
    same = (first.method, first.dims) == (second.method, second.dims)
    return same and (name not in BY_MAP or first.map["name"] == second.map["name"])


def _flat(run: Run) -> dict[str, Any]:
    """What may differ between runs of one task, beside method, D and seed."""
    sizes = {name: value for name, value in arguments(run).items() if name != "shape"}
    recipe = run.recipe().to_json() if run.config.recipe else {}  # of an old run, with what is new since
    stored = {"map": run.config.map["name"], "subspace": run.config.subspace}
    return {**stored, **sizes, **recipe, "configurable": " ".join(run.config.configurable)}


def arguments(run: Run) -> dict[str, Any]:
    """What the backbone was built with, and where nothing was said, what it then takes."""
    description = run.config.backbone
    known = inspect.signature(backbones.get(description["name"])).parameters if "name" in description else {}
    usual = {name: p.default for name, p in known.items() if p.default is not inspect.Parameter.empty}
    return {**usual, **description.get("arguments", {})}


def task_of(run: Run) -> dict[str, str]:
    """What runs that go together have in common."""
    config = run.config
    named = str(config.backbone.get("name") or config.backbone.get("class"))
    return {
        "data": short_name(config.data),
        "transform": config.transform,
        "preset": config.preset,
        "backbone": named,
        "objective": config.objective["name"],
        "checksum of the data": config.checksum,
    }


def refuse_different_tasks(found: Sequence[Run], command: str) -> None:
    first = task_of(found[0])
    for other in found[1:]:
        for name, value in task_of(other).items():
            if value != first[name]:
                raise ScnError(
                    f"only runs of one task go together, but {found[0].folder} has {name} {first[name]} "
                    f"and {other.folder} has {name} {value}: call `{command}` once for each task"
                )


def task_title(run: Run, what: str = "") -> str:
    """The task in a few words, above what a figure shows of it."""
    config = run.config
    task = f"{config.transform} on {short_name(config.data)}, preset {config.preset}"
    return f"{task}\n{what}" if what else task
