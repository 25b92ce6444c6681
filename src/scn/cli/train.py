"""`scn train`: train one method on one task."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from scn import methods, runs
from scn.cli.allow import AllowOption, vouch
from scn.cli.choice import (
    BackboneOption,
    BudgetOption,
    ClampOption,
    CompileOption,
    DataOption,
    DepthOption,
    EntropyOption,
    EpochsOption,
    EvidenceOption,
    MapOption,
    MixedPrecisionOption,
    NumberOption,
    ObjectiveOption,
    PresetOption,
    RecipeOption,
    SetOption,
    SubspaceOption,
    TaskOption,
    TransformOption,
    ValueOption,
    WidthOption,
    chosen_by,
)
from scn.cli.progress import training_progress
from scn.cli.values import numbers
from scn.core.errors import Failed, ScnError
from scn.experiment import track
from scn.experiment.train import Report, choose_device, extend, last_checkpoint, train
from scn.runs import Run, backbone_of
from scn.training import processes
from scn.training.loop import Diverged, Training
from scn.training.processes import Processes
from scn.training.state import State

MethodOption = Annotated[
    str,
    typer.Option(help=f"One of {', '.join(methods.registry)}, or your package.module:Class.", callback=vouch),
]
ConfigurableOption = Annotated[
    str, typer.Option(help="Which parameters an SCN mixes, by patterns such as layer4.*, by commas.")
]
OutputOption = Annotated[Path | None, typer.Option("-o", "--output", help="The run folder to make.")]
ResumeOption = Annotated[
    Path | None,
    typer.Option(help="Go on with a run that was interrupted or, with more --epochs, one that has ended."),
]
TrackOption = Annotated[str | None, typer.Option("--track", help="tensorboard: curves to look at.")]
# With --resume everything else is the run's own.
ALSO_FOR_RESUMING = (
    *("resume", "epochs", "backbone", "allow", "device", "tracker", "checkpoint_minutes", "quiet"),
)


def command(
    context: typer.Context,
    task: TaskOption = None,
    budget: BudgetOption = None,
    data: DataOption = None,
    transform: TransformOption = None,
    backbone: BackboneOption = None,
    objective: ObjectiveOption = None,
    width: WidthOption = None,
    depth: DepthOption = None,
    method: MethodOption = "scn",
    dims: Annotated[int, typer.Option(help="D, how many base models are mixed.")] = 8,
    map_: MapOption = None,
    subspace: SubspaceOption = None,
    preset: PresetOption = None,
    recipe_name: RecipeOption = None,
    epochs: EpochsOption = None,
    batch_size: NumberOption = None,
    alphas_per_batch: NumberOption = None,
    learning_rate: ValueOption = None,
    separation_weight: ValueOption = None,
    entropy_weight: EntropyOption = None,
    evidence_weight: EvidenceOption = None,
    configurable: ConfigurableOption = "*",
    fixed: Annotated[str | None, typer.Option(help="For one4one: the setting to train for.")] = None,
    seed: Annotated[int, typer.Option(help="Everything random follows from it.")] = 0,
    output: OutputOption = None,
    resume: ResumeOption = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, ...")] = "auto",
    mixed_precision: MixedPrecisionOption = False,
    compile_: CompileOption = False,
    clamp: ClampOption = False,
    allow: AllowOption = None,
    set_: SetOption = None,
    tracker: TrackOption = None,
    checkpoint_minutes: Annotated[float, typer.Option(help="Time between two checkpoints.")] = 2.0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on standard error.")] = False,
) -> None:
    """Train one method on data under a changing input, and write a run folder.

    Ctrl-C writes a checkpoint. --resume RUN takes everything else from the run, goes on from its last
    checkpoint and ends, bit for bit, where the run would have ended without the interruption.

    --resume RUN --epochs E goes on with a run that has ended after fewer epochs: from its trained network,
    with a new optimiser and the learning rates that E epochs have for the rest. Its evaluation is void.

    Started by torchrun, several processes or GPUs train one network: --batch-size is then that of each, and
    the run is one with as many times the batch.

    Examples: scn train --data digits --transform rotation --dims 8 -o runs/scn-d8
    scn train --task rotation/mlp/fashion-mnist --budget cpu -o runs/fashion-d8
    torchrun --nproc-per-node 2 -m scn train --data digits --batch-size 128 -o runs/two
    """
    torch.set_num_threads(1)
    folder, together = _folder(output, resume), processes.launched()
    reports = [track.registry.get(tracker)(folder)] if tracker else []
    with together.joined(choose_device(device, together)):
        _train(context, _begun(context, folder, together), reports, together)


def _begun(context: typer.Context, folder: Path, together: Processes) -> Run:
    """The run to train: a new one, or one to go on with, which is there for the processes after the first."""
    minutes = context.params["checkpoint_minutes"]
    if not minutes > 0:
        raise ScnError(f"--checkpoint-minutes must be positive, but is {minutes}")
    make = _resumed if context.params["resume"] else _new
    with together.first():
        return make(context, folder, together) if together.is_first else runs.read(folder)


def _folder(output: Path | None, resume: Path | None) -> Path:
    folder = output or resume
    if folder is None or (output and resume):
        raise ScnError("say either -o RUN for a new run or --resume RUN to go on with one")
    return folder


def _new(context: typer.Context, folder: Path, together: Processes) -> Run:
    """A run as the options describe it; its batch is that of all processes together."""
    said = context.params
    chosen = chosen_by(context)
    whole = chosen.recipe.changed(batch_size=together.count * chosen.recipe.batch_size)
    chosen = replace(chosen, recipe=whole)
    fixed = None if said["fixed"] is None else numbers("--fixed", said["fixed"])
    mixed = said["configurable"].split(",")
    given = {name: said[key] for name, key in (("map", "map_"), ("subspace", "subspace")) if said[key]}
    config = chosen.config(
        said["method"], dims=said["dims"], fixed=fixed, configurable=mixed, seed=said["seed"], **given
    )
    together.require(whole, Run(folder, config).transform().measured)
    return runs.create(folder, config)


def _resumed(context: typer.Context, folder: Path, together: Processes) -> Run:
    """The run in this folder; options that would make it another one are refused."""
    for option in context.command.params:
        source = context.get_parameter_source(str(option.name))
        if source is not None and source.name == "COMMANDLINE" and option.name not in ALSO_FOR_RESUMING:
            if option.name == "output":
                _folder(folder, folder)
            name = max(option.opts, key=len)
            raise ScnError(f"--resume goes on with {folder} as it was begun: leave out {name}")
    run, epochs = runs.read(folder), context.params["epochs"]
    together.require(run.recipe(), run.transform().measured)
    return run if epochs is None else extend(run, backbone_of(run, context.params["backbone"]), epochs)


def _train(context: typer.Context, run: Run, reports: list[Report], together: Processes) -> None:
    """Train, and say where the run is, or how to go on if that does not come to its end."""
    said = context.params
    if run.is_trained:
        together.say(f"{run.folder} is trained already", sys.stderr)
        return

    def report(state: State, training: Training, metrics: dict[str, Any] | None) -> None:
        for one in (shown, *reports):
            one(state, training, metrics)

    own, minutes = backbone_of(run, said["backbone"]), said["checkpoint_minutes"]
    try:
        with training_progress(run.folder.name, said["quiet"] or not together.is_first) as shown:
            train(
                run, own, device=said["device"], checkpoint_minutes=minutes, report=report, processes=together
            )
    except Diverged as error:
        good = last_checkpoint(run)
        kept = f"the last good checkpoint is {good}" if good else "there is no checkpoint yet"
        raise Failed(f"{error}: a smaller --learning-rate may help; {kept}") from error
    except KeyboardInterrupt:
        together.say(f"stopped; `scn train --resume {run.folder}` goes on", sys.stderr)
        raise
    together.say(f"{run.folder}")
