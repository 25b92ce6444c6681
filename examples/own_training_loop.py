"""Handwritten digits that may be turned by any angle: one small network for all, or one that adapts.

Trains two networks of the same size on the digits that come with scikit-learn, each in a plain torch
loop: One4All, the usual network trained on all angles, and an SCN with D=8 base models that is told
the angle. Prints the accuracy of both over all angles and draws it as a picture.

    python examples/own_training_loop.py [FOLDER]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

import scn
from scn.data import to_float
from scn.methods import SubspaceConfigurable
from scn.runs.evaluate import evaluate

EPOCHS, BATCH, ALPHAS_PER_BATCH, SEEDS, STEP = 120, 64, 8, 3, 5
rotation = scn.transforms.get("rotation")
normalise = scn.data.Normalisation()


def train(net: scn.SCN, images: Tensor, labels: Tensor, seed: int) -> None:
    """Every batch holds several angles; each angle's images are classified by its own mixture."""
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(net.parameters(), lr=3e-3, fused=True)
    steps = EPOCHS * (len(images) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for step in range(steps):
        if step % (len(images) // BATCH) == 0:
            order = torch.randperm(len(images), generator=generator).split(BATCH)
        chosen = order[step % (len(images) // BATCH)]
        angles = rotation.sample(ALPHAS_PER_BATCH, generator)
        x = normalise(rotation.apply(to_float(images[chosen]), angles))
        loss = F.cross_entropy(net(x, rotation.encode(angles)), labels[chosen])
        apart = net.beta(rotation.encode(rotation.sample(ALPHAS_PER_BATCH, generator)))
        loss = loss + scn.losses.separation(net.beta(rotation.encode(angles)), apart)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()


def accuracies(build: Callable[[], scn.SCN], name: str) -> Tensor:
    """Test accuracy (seeds, angles) of a network trained with each of several seeds."""
    dataset = scn.data.load("digits")
    rows = []
    for seed in range(SEEDS):
        torch.manual_seed(seed)
        start, net = time.perf_counter(), build()
        train(net, *dataset.split("train"), seed)
        result = evaluate(
            SubspaceConfigurable(rotation), net, *dataset.split("test"), rotation.grid(360 // STEP)
        )
        print(
            f"  {name}, seed {seed}: {result.values.mean():.3f} in {time.perf_counter() - start:.0f} s",
            file=sys.stderr,
        )
        rows.append(result.values)
    return torch.stack(rows)


def draw(curves: dict[str, Tensor], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    angles = rotation.grid(360 // STEP)[:, 0]
    for (name, rows), colour in zip(curves.items(), ("#d55e00", "#0072b2"), strict=True):
        mean, spread = rows.mean(0), rows.std(0)
        axes.plot(angles, mean, color=colour, label=f"{name}: {rows.mean():.3f}")
        axes.fill_between(angles, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)
    axes.set(xlabel="rotation of the input (degrees)", ylabel="test accuracy", xlim=(0, 355))
    axes.set_xticks(range(0, 360, 45))
    axes.set_title("Handwritten digits at any angle: two networks that run 33,130 weights each", fontsize=10)
    axes.legend(loc="center", bbox_to_anchor=(0.5, 0.63), ncols=2, frameon=False)
    axes.grid(alpha=0.3)
    plt.savefig(path, dpi=150)


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    backbone = scn.backbones.MLP  # 1024-32-10
    curves = {
        # An SCN with a single base model has nothing to mix: it is One4All.
        "One4All": accuracies(lambda: scn.SCN(backbone(), alpha_dim=2, dims=1), "One4All"),
        "SCN, D=8": accuracies(lambda: scn.SCN(backbone(), alpha_dim=2, dims=8), "SCN D=8"),
    }
    print(f"test accuracy over all angles, 450 images, mean and standard deviation of {SEEDS} seeds")
    for name, rows in curves.items():
        means = rows.mean(1)
        print(f"  {name:<10} {means.mean():.3f} ± {means.std():.3f}   worst angle {rows.mean(0).min():.3f}")
    folder.mkdir(parents=True, exist_ok=True)
    draw(curves, folder / "digits.png")
    print(f"picture: {folder / 'digits.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs"))
