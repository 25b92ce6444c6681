"""The exact commands that make runs again, worked out from what the runs say about themselves."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import torch

from scn import methods, objectives
from scn.core.compact import FULL
from scn.data import Normalisation, is_path
from scn.experiment import tasks
from scn.runs import RunConfig
from scn.runs.collection import LoadedRun
from scn.training.recipe import Recipe
from scn.transforms import Transform


def commands(shown: Sequence[LoadedRun]) -> list[str]:
    """For each run, what trains it and a command that evaluates it."""
    return [line for one in shown for line in _of_run(one)]


def _of_run(one: LoadedRun) -> list[str]:
    config, folder = one.run.config, str(one.run.folder)
    source = config.source.get("imported")
    if source:
        options = ["--data", config.data, "--transform", config.transform, "--preset", config.preset]
        made = [["scn", "import", source, *options, "-o", folder]]
    else:
        earlier: list[int] = config.source.get("epochs", [])
        first, *later = [*earlier, int(config.recipe["epochs"])]
        begun = replace(config, recipe={**config.recipe, "epochs": first})
        made = [["scn", "train", *training_options(begun), "-o", folder]]
        resumed = ["scn", "train", "--resume", folder, *_allowance(config), "--epochs"]
        made += [[*resumed, str(epochs)] for epochs in later]
    evaluated = ["scn", "evaluate", folder, *_allowance(config), *_evaluation_options(one)]
    return [shlex.join(line) for line in (*made, evaluated)]


def _allowance(config: RunConfig) -> list[str]:
    """What allows the parts of one's own that a run names, where a command does not name them itself."""
    named = [config.method, *config.transform.split("+"), config.objective["name"]]
    named += [] if is_path(config.data) else [config.data]
    named += [] if "name" in config.backbone else [config.backbone["class"]]
    own = sorted({name.strip() for name in named if ":" in name})
    return ["--allow", ",".join(own)] if own else []


def training_options(config: RunConfig) -> list[str]:
    """The options of `scn train` that give this configuration."""
    found = ["--data", config.data, "--transform", config.transform]
    found += ["--backbone", config.backbone.get("name") or config.backbone["class"]]
    sizes = {name: config.backbone.get("arguments", {}).get(name) for name in ("width", "depth")}
    found += [part for name, size in sizes.items() if size is not None for part in (f"--{name}", str(size))]
    found += ["--method", config.method, "--dims", str(config.dims), "--preset", config.preset]
    if methods.get(config.method).mixes:
        found += ["--map", config.map["name"]]
        found += ["--subspace", config.subspace] if config.subspace != FULL else []
    if config.objective["name"] != objectives.USUAL:
        found += ["--objective", config.objective["name"]]
    if config.fixed is not None:
        found += ["--fixed", ",".join(f"{value:.9g}" for value in config.fixed)]
    if config.configurable != ["*"]:
        found += ["--configurable", ",".join(config.configurable)]
    base, named = _base_recipe(config)
    found += ["--recipe", named] if named != "default" else []
    for name, value in config.recipe.items():
        if value != base[name]:
            found += ["--set", f"{name}={_written(value)}"]
    return [*found, "--seed", str(config.seed)]


def _base_recipe(config: RunConfig) -> tuple[dict[str, Any], str]:
    """The published recipe normalises as published; ours by the mean and deviation of the data."""
    plain = {k: list(v) for k, v in asdict(Normalisation()).items()}
    published = {k: list(v) for k, v in config.normalisation.items()} == plain
    known = {task.backbone for task in tasks.TASKS.values()}
    if published and config.backbone.get("name") in known:
        return tasks.recipe("paper", config.backbone["name"]).to_json(), "paper"
    return Recipe().to_json(), "default"


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _evaluation_options(one: LoadedRun) -> list[str]:
    transform = one.run.transform()
    step = _step(one.settings, transform)
    if step is None or len(transform.regular()) == len(one.settings):  # as without --step
        return []
    return ["--step", f"{step:.9g}"]


def _step(settings: list[list[float]], transform: Transform) -> float | None:
    """How far apart the settings lie, if `scn evaluate --step` gives the same."""
    values = torch.tensor(settings, dtype=torch.float64)[:, 0].unique()
    if len(values) < 2:
        return None
    step = float(f"{values.diff().min().item():.9g}")
    try:
        regular = transform.regular(step)
    except ValueError:
        return None
    given = torch.tensor(settings)
    apart = transform.distance(given.unsqueeze(1), regular).amin(dim=1)
    alike = len(given) == len(regular) or transform.measured  # which leaves out settings without a sample
    return step if alike and apart.max() < 1e-4 else None
