"""The file of a sweep: what all its runs share, and what they differ in.

    seeds = 3                 # 0, 1 and 2; or a list
    step = 10                 # between the settings of the test; by default the task's or the transform's
    skip_refused = true       # leave out what cannot work, where it would be an error

    [all]                     # one value for every run
    [grid]                    # lists: every combination is a run; [[grid]] several times for several grids
    [search]                  # instead of a grid: trials, sampler, seed, and what is searched:
                              # a list to choose from, or a range {low = 1e-4, high = 1e-2, log = true}

Every name and type is checked here, before anything is planned.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scn import methods, objectives, transforms
from scn.core import maps
from scn.core.errors import NotThere, ScnError
from scn.core.registry import backbones, nearest
from scn.experiment import tasks
from scn.training import recipe

# What a run may be told, and of which type; the values of a recipe come by their own names.
OF_RECIPE = recipe.kinds()
OF_TASK = ("task", "data", "transform", "preset", "backbone", "objective")  # what tells tasks apart
KINDS: dict[str, type] = {
    **dict.fromkeys((*OF_TASK, "budget", "recipe", "method", "map", "subspace"), str),
    **dict.fromkeys(("width", "depth", "dims"), int),
    **OF_RECIPE,
}
# Names that must be known, whatever they are combined with.
NAMED: dict[str, Callable[[str], Any]] = {
    "task": tasks.get,
    "transform": lambda name: [transforms.registry.get(part) for part in name.split("+")],
    "backbone": backbones.get,
    "objective": objectives.get,
    "method": methods.get,
    "map": maps.get,
}
SAMPLERS = ("tpe", "random")
TYPES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
TOP = ("seeds", "step", "skip_refused", "all", "grid", "search")


@dataclass(frozen=True)
class Range:
    """Values between two numbers; whole ones, if both are."""

    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class SearchPlan:
    """How the best values are looked for."""

    trials: int
    over: dict[str, list[Any] | Range]
    sampler: str = SAMPLERS[0]
    seed: int = 0


@dataclass(frozen=True)
class SweepFile:
    """What a file says."""

    path: Path
    seeds: tuple[int, ...]
    step: float | None
    skip_refused: bool
    shared: dict[str, Any]  # [all]
    grids: tuple[dict[str, list[Any]], ...]
    search: SearchPlan | None


def read_sweep(path: Path) -> SweepFile:
    """The sweep that a file describes; whatever is wrong in it is an error with its place and a remedy."""
    try:
        content = tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise NotThere(f"there is no file {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, IsADirectoryError) as error:
        raise ScnError(f"{path} is not a TOML file: {error}") from error
    try:
        return _checked(path, content)
    except ScnError as error:
        raise ScnError(f"{path}: {error}") from error


def _checked(path: Path, content: dict[str, Any]) -> SweepFile:
    for name in content:
        if name in KINDS:
            raise ScnError(f'"{name}" must stand below [all], or as a list of values below [grid]')
    _refuse_unknown(content, TOP, "it")
    shared = _table(content, "all")
    _refuse_unknown(shared, KINDS, "[all]")
    for name, value in shared.items():
        shared[name] = _value(f"[all] {name}", name, value)
    search = _search(_table(content, "search"), shared) if "search" in content else None
    if search is not None and "grid" in content:
        raise ScnError("it has a [grid] and a [search]: leave out one, or make two files of it")
    step = content.get("step")
    return SweepFile(
        path,
        _seeds(content.get("seeds", 1)),
        None if step is None else _of_type("step", step, float),
        _of_type("skip_refused", content.get("skip_refused", False), bool),
        shared,
        tuple(_grid(grid, shared) for grid in _grids(content.get("grid", {}))),
        search,
    )


def _grids(said: Any) -> list[dict[str, Any]]:
    """[grid], or each [[grid]]."""
    grids = said if isinstance(said, list) else [said]
    if not grids or not all(isinstance(grid, dict) for grid in grids):
        raise ScnError("[grid] must be a table of lists, such as dims = [3, 8]")
    return grids


def _grid(grid: dict[str, Any], shared: dict[str, Any]) -> dict[str, list[Any]]:
    _refuse_unknown(grid, KINDS, "[grid]")
    _refuse_twice(grid, shared, "[grid]")
    return {name: _values(f"[grid] {name}", name, values) for name, values in grid.items()}


def _search(said: dict[str, Any], shared: dict[str, Any]) -> SearchPlan:
    own = ("trials", "sampler", "seed")
    _refuse_unknown(said, (*own, *KINDS), "[search]")
    _refuse_twice(said, shared, "[search]")
    if "trials" not in said:
        raise ScnError("[search] must say how many trials, such as trials = 20")
    over = {name: _searched(name, value) for name, value in said.items() if name not in own}
    if not over:
        raise ScnError("[search] names nothing to search, such as learning_rate = {low = 1e-4, high = 1e-2}")
    sampler = _of_type("[search] sampler", said.get("sampler", SAMPLERS[0]), str)
    if sampler not in SAMPLERS:
        raise ScnError(f"[search] has no sampler {nearest(sampler, SAMPLERS)}")
    of_task = [name for name in OF_TASK if name in over]
    if sampler != "random" and of_task:
        raise ScnError(
            f"[search] {of_task[0]}: scores of several tasks say nothing about each other. Make one file for "
            'each, or say sampler = "random"'
        )
    trials, seed = (_whole(f"[search] {name}", said.get(name, 0)) for name in ("trials", "seed"))
    if not trials:
        raise ScnError("[search] trials must be at least 1, but is 0")
    return SearchPlan(trials, over, sampler, seed)


def _searched(name: str, said: Any) -> list[Any] | Range:
    place = f"[search] {name}"
    if not isinstance(said, dict):
        return _values(place, name, said)
    _refuse_unknown(said, ("low", "high", "log"), place)
    if KINDS[name] not in (int, float) or not {"low", "high"} <= said.keys():
        example = "{low = 1e-4, high = 1e-2}" if KINDS[name] is float else "a list to choose from"
        raise ScnError(f"{place} must be {example}, but is {said}")
    low, high = (_of_type(f"{place}.{end}", said[end], KINDS[name]) for end in ("low", "high"))
    log = _of_type(f"{place}.log", said.get("log", False), bool)
    if not (math.isfinite(low) and math.isfinite(high) and low < high) or (log and low <= 0):
        wanted = "low must be below high" + (", and above 0 for log" if log else "")
        raise ScnError(f"{place}: {wanted}, but it is {low} to {high}")
    return Range(low, high, log)


def _seeds(said: Any) -> tuple[int, ...]:
    """So many, or these."""
    if not isinstance(said, list):
        said = list(range(_whole("seeds", said)))
    if not said:
        raise ScnError("seeds must be at least 1, or a list that is not empty")
    return tuple(dict.fromkeys(_whole("seeds", seed) for seed in said))


def _table(content: dict[str, Any], name: str) -> dict[str, Any]:
    said = content.get(name, {})
    if not isinstance(said, dict):
        raise ScnError(f"[{name}] must be a table, but is {said!r}")
    return dict(said)


def _refuse_unknown(said: dict[str, Any], known: Iterable[str], place: str) -> None:
    known = list(known)
    for name in said:
        if name not in known:
            raise ScnError(f"{place} has no key {nearest(name, known)}")


def _refuse_twice(said: dict[str, Any], shared: dict[str, Any], place: str) -> None:
    for name in said.keys() & shared.keys():
        raise ScnError(f"{name} is in [all] and in {place}: leave one of them out")


def _values(place: str, name: str, said: Any) -> list[Any]:
    if not isinstance(said, list):
        raise ScnError(f"{place} must be a list, but is {said!r}: what all runs share stands in [all]")
    if not said:
        raise ScnError(f"{place} is an empty list: say at least one value, or leave it out")
    return list(dict.fromkeys(_value(place, name, value) for value in said))


def _value(place: str, name: str, said: Any) -> Any:
    value = _of_type(place, said, KINDS[name])
    if name in NAMED:
        try:
            NAMED[name](value)
        except ScnError as error:
            raise ScnError(f"{place}: {error}") from error
    return value


def _of_type(place: str, said: Any, kind: type) -> Any:
    """Of this type; a whole number is a number too."""
    if kind is float and isinstance(said, int | float) and not isinstance(said, bool):
        return float(said)
    if type(said) is kind:
        return said
    raise ScnError(f"{place} must be {TYPES[kind]}, but is {said!r}")


def _whole(place: str, said: Any) -> int:
    value: int = _of_type(place, said, int)
    if value < 0:
        raise ScnError(f"{place} must be at least 0, but is {value}")
    return value
