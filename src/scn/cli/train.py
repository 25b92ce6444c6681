"""`scn train`: train one method on one task."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from scn import methods, runs
from scn.cli.choice import (
    BackboneOption,
    BudgetOption,
    DataOption,
    DepthOption,
    ObjectiveOption,
    PresetOption,
    RecipeOption,
    SetOption,
    TaskOption,
    TransformOption,
    WidthOption,
    choose,
)
from scn.cli.progress import training_progress
from scn.core.errors import Failed, ScnError
from scn.experiment import track
from scn.experiment.train import choose_device, last_checkpoint, train
from scn.runs import backbone_of
from scn.training.loop import Diverged, Training
from scn.training.state import State


def numbers(option: str, text: str) -> list[float]:
    """Numbers that a person separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ScnError(f"{option} takes numbers separated by commas, but got {text!r}") from None


def command(
    task: TaskOption = None,
    budget: BudgetOption = None,
    data: DataOption = None,
    transform: TransformOption = None,
    backbone: BackboneOption = None,
    objective: ObjectiveOption = None,
    width: WidthOption = None,
    depth: DepthOption = None,
    method: Annotated[str, typer.Option(help=f"One of {', '.join(methods.registry)}.")] = "scn",
    dims: Annotated[int, typer.Option(help="D, how many base models are mixed.")] = 8,
    preset: PresetOption = None,
    recipe_name: RecipeOption = None,
    epochs: Annotated[int | None, typer.Option(help="By default the recipe's.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="By default the recipe's.")] = None,
    alphas_per_batch: Annotated[int | None, typer.Option(help="By default the recipe's.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="By default the recipe's.")] = None,
    separation_weight: Annotated[float | None, typer.Option(help="By default the recipe's.")] = None,
    entropy_weight: Annotated[
        float | None,
        typer.Option(help="For search: entropy low at the right setting, high at a wrong one."),
    ] = None,
    evidence_weight: Annotated[
        float | None, typer.Option(help="For search, better: evidence for the right setting. 0.5 is good.")
    ] = None,
    configurable: Annotated[
        str, typer.Option(help="Which parameters an SCN mixes, by patterns such as layer4.*, by commas.")
    ] = "*",
    fixed: Annotated[str | None, typer.Option(help="For one4one: the setting to train for.")] = None,
    seed: Annotated[int, typer.Option(help="Everything random follows from it.")] = 0,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The run folder to make.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with a run that was interrupted.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, ...")] = "auto",
    mixed_precision: Annotated[bool, typer.Option("--mixed-precision", help="bfloat16.")] = False,
    compile_: Annotated[bool, typer.Option("--compile", help="A step as one piece of machine code.")] = False,
    set_: SetOption = None,
    tracker: Annotated[str | None, typer.Option("--track", help="tensorboard: curves to look at.")] = None,
    checkpoint_minutes: Annotated[float, typer.Option(help="Time between two checkpoints.")] = 2.0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")] = False,
) -> None:
    """Train one method on data under a changing input, and write a run folder.

    Ctrl-C writes a checkpoint. --resume RUN takes everything else from the run, goes on from its last
    checkpoint and ends, bit for bit, where the run would have ended without the interruption.

    Examples: scn train --data digits --transform rotation --dims 8 -o runs/scn-d8
    scn train --task rotation/mlp/fashion-mnist --budget cpu -o runs/fashion-d8
    """
    torch.set_num_threads(1)
    if not checkpoint_minutes > 0:
        raise ScnError(f"--checkpoint-minutes must be positive, but is {checkpoint_minutes}")
    if (output is None) == (resume is None):
        raise ScnError("say either -o RUN for a new run or --resume RUN to go on with one")
    folder = output or resume
    assert folder is not None
    tracked = track.registry.get(tracker)(folder) if tracker else None
    if resume is not None:
        run = runs.read(resume)
    else:
        assert output is not None
        chosen = choose(
            task=task,
            budget=budget,
            data=data,
            transform=transform,
            backbone=backbone,
            width=width,
            depth=depth,
            preset=preset,
            recipe_name=recipe_name,
            changes={
                "epochs": epochs,
                "batch_size": batch_size,
                "alphas_per_batch": alphas_per_batch,
                "learning_rate": learning_rate,
                "separation_weight": separation_weight,
                "entropy_weight": entropy_weight,
                "wrong_entropy_weight": entropy_weight,
                "evidence_weight": evidence_weight,
                "mixed_precision": mixed_precision or None,
                "compiled": compile_ or None,
            },
            set_=set_,
            objective=objective,
        )
        choose_device(device)
        values = None if fixed is None else numbers("--fixed", fixed)
        mixed = configurable.split(",")
        config = chosen.config(method, dims=dims, fixed=values, configurable=mixed, seed=seed)
        run = runs.create(output, config)
    if run.is_trained:
        print(f"{run.folder} is trained already", file=sys.stderr)
        return
    with training_progress(run.folder.name, quiet) as shown:

        def report(state: State, training: Training, metrics: dict[str, Any] | None) -> None:
            shown(state, training, metrics)
            if tracked:
                tracked(state, training, metrics)

        try:
            train(
                run,
                backbone_of(run, backbone),
                device=device,
                checkpoint_minutes=checkpoint_minutes,
                report=report,
            )
        except Diverged as error:
            good = last_checkpoint(run.folder)
            kept = f"the last good checkpoint is {good}" if good else "there is no checkpoint yet"
            raise Failed(f"{error}: a smaller --learning-rate may help; {kept}") from error
        except KeyboardInterrupt:
            print(f"stopped; `scn train --resume {run.folder}` goes on", file=sys.stderr)
            sys.exit(130)
    print(run.folder)
