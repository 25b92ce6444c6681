"""What `scn train` and `scn compare` are to work on: one of the paper's tasks, or what a person says."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

import typer
from torch import Tensor

from scn import objectives, transforms
from scn.core.errors import ScnError
from scn.experiment import tasks
from scn.experiment.plan import plan_run
from scn.experiment.tasks import DEMO
from scn.runs import RunConfig
from scn.training import recipe
from scn.training.recipe import Recipe

TaskOption = Annotated[str | None, typer.Option("--task", help="A task of the paper: see `scn tasks`.")]
BudgetOption = Annotated[str | None, typer.Option(help="For a task: paper, cpu (by default) or smoke.")]
DataOption = Annotated[
    str | None, typer.Option("--data", help=f"A data set, or an .npz file; by default {DEMO.data}.")
]
TransformOption = Annotated[
    str | None, typer.Option(help=f"How the input changes, several by +; by default {DEMO.transform}.")
]
BackboneOption = Annotated[
    str | None, typer.Option(help=f"A backbone, or your package.module:Class; by default {DEMO.backbone}.")
]
ObjectiveOption = Annotated[
    str | None,
    typer.Option(help=f"What is learned: {', '.join(objectives.registry)}; by default {objectives.USUAL}."),
]
WidthOption = Annotated[int | None, typer.Option(help="Width of the backbone.")]
DepthOption = Annotated[int | None, typer.Option(help="Depth of the backbone.")]
PresetOption = Annotated[str | None, typer.Option(help="How the transform acts: default, paper, ...")]
RecipeOption = Annotated[str | None, typer.Option("--recipe", help="default or paper.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help=f"NAME=VALUE, another value of the recipe: {', '.join(f.name for f in fields(Recipe))}.",
    ),
]


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

    def config(self, method: str, **more: Any) -> RunConfig:
        return plan_run(
            self.data,
            self.transform,
            self.backbone,
            method,
            self.recipe,
            preset=self.preset,
            sizes=self.sizes,
            objective=self.objective,
            measure=not self.published,
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
    task: str | None,
    budget: str | None,
    data: str | None,
    transform: str | None,
    backbone: str | None,
    width: int | None,
    depth: int | None,
    preset: str | None,
    recipe_name: str | None,
    changes: dict[str, Any],
    set_: list[str] | None,
    objective: str | None = None,
) -> Choice:
    """From the options of a command, those of the recipe as `changes`."""
    changes = {**changes, **recipe.settings(set_ or [])}
    sizes = {name: size for name, size in (("width", width), ("depth", depth)) if size is not None}
    if task is None:
        if budget is not None:
            raise ScnError("--budget is for a --task; without one say --epochs")
        named, kind = recipe_name or "default", backbone or DEMO.backbone
        return Choice(
            data or DEMO.data,
            transform or DEMO.transform,
            kind,
            preset or "default",
            tasks.recipe(named, kind).changed(**changes),
            {**sizes},
            published=named == "paper",
            objective=objective or objectives.USUAL,
        )
    given = {"--data": data, "--transform": transform, "--backbone": backbone, "--recipe": recipe_name}
    given["--objective"] = objective
    for option, value in given.items():
        if value is not None:
            raise ScnError(f"a --task has its own {option[2:]}: leave out {option}")
    row, name = tasks.get(task), budget or "cpu"
    chosen = row.budget(name)
    return Choice(
        row.data,
        row.transform,
        row.backbone,
        preset or _preset(row, name),
        chosen.recipe.changed(**changes),
        {**chosen.sizes, **sizes},
        name == "paper",
        chosen.grid,
        chosen.test_samples,
        row.dims,
    )


def _preset(task: tasks.Task, budget: str) -> str:
    published = budget == "paper" and task.preset == "default"
    known = transforms.registry.get(task.transform).presets
    return "paper" if published and "paper" in known else task.preset
