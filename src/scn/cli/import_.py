"""`scn import`: a published checkpoint becomes a run."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from scn import runs, transforms
from scn.core.errors import NotThere, ScnError
from scn.core.registry import describe_backbone
from scn.data import is_path
from scn.data import registry as datasets
from scn.experiment.published import read_checkpoint
from scn.experiment.tasks import CHECKPOINTS


def command(
    file: Annotated[Path, typer.Argument(help="The checkpoint: arrays in an .npz file.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The run folder to make.")],
    data: Annotated[str, typer.Option(help="What it was trained on.")] = CHECKPOINTS.data,
    transform: Annotated[str, typer.Option(help="What it was trained for.")] = CHECKPOINTS.transform,
    preset: Annotated[str, typer.Option(help="How the transform acts.")] = "paper",
) -> None:
    """Turn a checkpoint of the paper's authors into a run folder.

    The arrays are named hyper_stack.0/2.weight/bias and weight_list_fcN.i, bias_list_fcN.i; sizes
    and D are read from them.

    Example: scn import rotation_d8.npz -o runs/published-d8
    """
    if is_path(data):
        if not Path(data).is_file():
            raise NotThere(f"there is no data file {data}")
        data = str(Path(data).resolve())
    else:
        datasets.get(data)
    expected = transforms.get(transform, preset).alpha_dim
    network = read_checkpoint(file)
    if network.alpha_dim != expected:
        raise ScnError(f"{file} takes {network.alpha_dim} alpha values, but {transform} encodes {expected}")
    checksum = hashlib.sha256(file.read_bytes()).hexdigest()
    config = runs.RunConfig(
        method="scn",
        data=data,
        transform=transform,
        preset=preset,
        backbone=describe_backbone(network.backbone),
        dims=network.dims,
        source={"imported": file.name, "sha256": checksum},
    )
    runs.create(output, config).save_network(network)
    weights = network.theta.shape[1]
    print(f"{output}: SCN with D={network.dims} base models of {weights:,} weights")
