"""Your own network, data and change of the input, trained and evaluated by scn.

    python examples/bring_your_own.py [FOLDER]

The same network from the command line, with a transform that scn knows:

    cd examples
    scn train --data FOLDER/mine.npz --backbone my_parts:TinyNet --transform rotation -o RUN
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch

import scn
from my_parts import TinyNet
from scn import runs
from scn.experiment.plan import plan_run
from scn.experiment.train import train
from scn.runs import backbone_of
from scn.runs.evaluate import evaluate
from scn.training.recipe import Recipe

BACKBONE = f"{TinyNet.__module__}:{TinyNet.__name__}"


def write_data(path: Path) -> None:
    """Four arrays in one .npz file are a data set: uint8 images and labels that count from 0."""
    arrays = scn.data.load("digits").arrays
    names = ("x_train", "y_train", "x_test", "y_test")
    np.savez(path, **{name: arrays[name] for name in names})  # type: ignore[arg-type]


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    write_data(folder / "mine.npz")
    recipe = Recipe(epochs=15, batch_size=64)
    config = plan_run(str(folder / "mine.npz"), "fading", BACKBONE, "scn", recipe, dims=3)
    run = runs.create(folder / "run", config)
    net = train(run, backbone_of(run, BACKBONE))
    method = run.method()
    images, labels = scn.data.load(folder / "mine.npz").split("test")
    settings = method.transform.regular()
    result = evaluate(method, net, images, labels, settings, normalisation=run.normalisation())
    for (visibility,), accuracy in zip(settings.tolist(), result.values.tolist(), strict=True):
        print(f"visibility {visibility:.1f}: accuracy {accuracy:.3f}")
    print(f"mean {result.summary()['mean']:.3f} on {len(labels)} test images; the run is {run.folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/bring-your-own"))
