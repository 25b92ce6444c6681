"""The options by which `scn train` and `scn compare` are told what to work on."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any

import typer

from scn import objectives
from scn.cli.allow import vouch
from scn.core import maps
from scn.core.compact import KINDS
from scn.experiment.choice import Choice, choose
from scn.experiment.tasks import DEMO
from scn.training import recipe
from scn.training.recipe import Recipe

TaskOption = Annotated[str | None, typer.Option("--task", help="A task of the paper: see `scn tasks`.")]
BudgetOption = Annotated[str | None, typer.Option(help="For a task: paper, cpu (by default) or smoke.")]
DataOption = Annotated[
    str | None,
    typer.Option(
        "--data",
        help=f"A data set, an .npz file, or your package.module:function; by default {DEMO.data}.",
        callback=vouch,
    ),
]
TransformOption = Annotated[
    str | None,
    typer.Option(
        help=f"How the input changes, or your package.module:Class, several by +; default {DEMO.transform}.",
        callback=vouch,
    ),
]
BackboneOption = Annotated[
    str | None,
    typer.Option(
        help=f"A backbone, or your package.module:Class; by default {DEMO.backbone}.", callback=vouch
    ),
]
ObjectiveOption = Annotated[
    str | None,
    typer.Option(
        help=f"What is learned: {', '.join(objectives.registry)}, or your package.module:Class; by default "
        f"{objectives.USUAL}.",
        callback=vouch,
    ),
]
MapOption = Annotated[
    str | None,
    typer.Option(
        "--map",
        help=f"How alpha becomes beta: {', '.join(maps.registry)}, or your package.module:Class; by default "
        "what suits the change. To compare, several by commas.",
        callback=vouch,
    ),
]
SubspaceOption = Annotated[
    str | None, typer.Option(help=f"What is stored of base models: {', '.join(KINDS)}; by default full.")
]
WidthOption = Annotated[int | None, typer.Option(help="Width of the backbone.")]
DepthOption = Annotated[int | None, typer.Option(help="Depth of the backbone.")]
PresetOption = Annotated[str | None, typer.Option(help="How the transform acts: default, paper, ...")]
RecipeOption = Annotated[str | None, typer.Option("--recipe", help="default or paper.")]
EpochsOption = Annotated[int | None, typer.Option(help="By default the recipe's.")]
NumberOption = Annotated[int | None, typer.Option(help="By default the recipe's.")]
ValueOption = Annotated[float | None, typer.Option(help="By default the recipe's.")]
EntropyOption = Annotated[
    float | None, typer.Option(help="For search: entropy low at the right setting, high at a wrong one.")
]
EvidenceOption = Annotated[
    float | None, typer.Option(help="For search, better: evidence for the right setting. 0.5 is good.")
]
MixedPrecisionOption = Annotated[bool, typer.Option("--mixed-precision", help="bfloat16.")]
CompileOption = Annotated[bool, typer.Option("--compile", help="A step as one piece of machine code.")]
ClampOption = Annotated[
    bool, typer.Option("--clamp", help="Measured values outside their range count as its nearest end.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help=f"NAME=VALUE, another value of the recipe: {', '.join(f.name for f in fields(Recipe))}.",
    ),
]

CHOSEN = ("task", "budget", "data", "transform", "backbone", "objective", "width", "depth", "preset")
# Options with a value of the recipe, and which values they are.
OF_RECIPE = {
    "epochs": ("epochs",),
    "batch_size": ("batch_size",),
    "alphas_per_batch": ("alphas_per_batch",),
    "learning_rate": ("learning_rate",),
    "separation_weight": ("separation_weight",),
    "entropy_weight": ("entropy_weight", "wrong_entropy_weight"),
    "evidence_weight": ("evidence_weight",),
    "mixed_precision": ("mixed_precision",),
    "compile_": ("compiled",),
    "clamp": ("clamp",),
}


def chosen_by(context: typer.Context) -> Choice:
    """What the options of a command choose. --set goes before an option for the same value."""
    said: dict[str, Any] = context.params
    changes = {
        value: said.get(option) if said.get(option) is not False else None  # a flag that was not given
        for option, values in OF_RECIPE.items()
        for value in values
    }
    return choose(
        **{name: said[name] for name in CHOSEN},
        map=said["map_"],
        subspace=said["subspace"],
        recipe=said["recipe_name"],
        changes={**changes, **recipe.settings(said["set_"] or [])},
    )
