"""What is to be worked on: one of the paper's tasks, or what a person says, made one record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from scn import methods, objectives, transforms
from scn.core import maps
from scn.core.errors import ScnError
from scn.experiment import tasks
from scn.experiment.plan import plan_run
from scn.experiment.tasks import DEMO
from scn.runs import RunConfig
from scn.training.recipe import Recipe


@dataclass(frozen=True)
class Choice:
    """Everything but the method, its dims and the seed."""

    data: str
    transform: str
    backbone: str
    preset: str
    recipe: Recipe
    sizes: dict[str, int | None]
    published: bool  # whether images are normalised as published
    grid: int | None = None
    test_samples: int = 0
    dims: tuple[int, ...] = (1, 3, 8)
    objective: str = objectives.USUAL
    map: str | None = None  # of methods that mix; None for the one that suits the change
    subspace: str | None = None

    def config(self, method: str, **more: Any) -> RunConfig:
        stored = {"map": self.map, "subspace": self.subspace}
        more = {**{name: stored[name] for name in methods.get(method).takes}, **more}
        return plan_run(
            self.data,
            self.transform,
            self.backbone,
            method,
            self.recipe,
            preset=self.preset,
            sizes=self.sizes,
            objective=self.objective,
            normalise=not self.published,
            **more,
        )

    def settings(self, step: float | None) -> Tensor:
        """The settings of the test: `step` apart, or as the budget has it."""
        transform = transforms.get(self.transform, self.preset)
        if step is None and self.grid is not None:
            return transform.grid(self.grid)
        return transform.regular(step)


def choose(
    *,
    task: str | None = None,
    budget: str | None = None,
    data: str | None = None,
    transform: str | None = None,
    backbone: str | None = None,
    objective: str | None = None,
    width: int | None = None,
    depth: int | None = None,
    preset: str | None = None,
    recipe: str | None = None,
    changes: dict[str, Any] | None = None,
    map: str | None = None,
    subspace: str | None = None,
) -> Choice:
    """The row of the task, or what was said and otherwise the demo's; `changes` are values of the recipe."""
    sizes = {name: size for name, size in (("width", width), ("depth", depth)) if size is not None}
    if task is not None:
        own = {"data": data, "transform": transform, "backbone": backbone, "recipe": recipe}
        own["objective"] = objective
        for name, value in own.items():
            if value is not None:
                raise ScnError(f"a task has its own {name}: leave out `{name}`")
        chosen = _of_task(tasks.get(task), budget or "cpu", preset, sizes, changes or {})
        return replace(chosen, map=map or chosen.map, subspace=subspace)
    if budget is not None:
        raise ScnError("`budget` is for a `task`; without one say `epochs`")
    named, kind = recipe or "default", backbone or DEMO.backbone
    return Choice(
        data or DEMO.data,
        transform or DEMO.transform,
        kind,
        preset or "default",
        tasks.recipe(named, kind).changed(**changes or {}),
        {**sizes},
        published=named == "paper",
        objective=objective or objectives.USUAL,
        map=map or (maps.LEARNED if named == "paper" else None),
        subspace=subspace,
    )


def _of_task(
    task: tasks.Task, name: str, preset: str | None, sizes: dict[str, int], changes: dict[str, Any]
) -> Choice:
    budget = task.budget(name)
    return Choice(
        task.data,
        task.transform,
        task.backbone,
        preset or _preset(task, name),
        budget.recipe.changed(**changes),
        {**budget.sizes, **sizes},
        name == "paper",
        budget.grid,
        budget.test_samples,
        task.dims,
        map=maps.LEARNED if name == "paper" else None,
    )


def _preset(task: tasks.Task, budget: str) -> str:
    published = budget == "paper" and task.preset == "default"
    known = transforms.registry.get(task.transform).presets
    return "paper" if published and "paper" in known else task.preset
