"""An epoch of the published recipe (batch 64, one alpha in a batch), against a conventional script.

The peer is what such scripts usually look like: a DataLoader whose workers resize and normalise every
image by PIL, D base models in a list that is stacked and summed, torch's default Adam. Both train on the
same number of images of the size of Fashion-MNIST, in turn, on the same cores.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

import scn
from core import Naive
from scn.experiment import tasks
from scn.methods import SubspaceConfigurable
from scn.training.batches import TrainingData
from scn.training.loop import Training

IMAGES, BATCH, ROUNDS = 60_000, 64, 3


class Pictures(Dataset[tuple[Tensor, int]]):
    """28x28 images, made ready one by one."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.images = rng.integers(0, 256, (IMAGES, 28, 28), dtype=np.uint8)
        self.labels = rng.integers(0, 10, IMAGES)

    def __len__(self) -> int:
        return IMAGES

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        picture = Image.fromarray(self.images[index]).resize((32, 32), Image.Resampling.BILINEAR)
        x = torch.from_numpy(np.array(picture, dtype=np.float32) / 255).unsqueeze(0)
        return (x - 0.5) / 0.5, int(self.labels[index])


def conventional(dims: int) -> Callable[[], None]:
    """Runs one epoch."""
    loader = DataLoader(Pictures(), BATCH, shuffle=True, num_workers=2, persistent_workers=True)
    net = Naive(scn.backbones.MLP, 2, dims)
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-3)

    def run() -> None:
        for x, y in loader:
            angle = 2 * math.pi * torch.rand(1).item()
            cos, sin = math.cos(angle), math.sin(angle)
            turn = torch.tensor([[cos, -sin, 0.0], [sin, cos, 0.0]]).expand(len(x), 2, 3)
            grid = F.affine_grid(turn, list(x.shape), align_corners=False)
            turned = F.grid_sample(x, grid, mode="nearest", align_corners=False)
            alpha = torch.tensor([cos, sin])
            loss = F.cross_entropy(net(turned, alpha), y)
            other = net.confignet(torch.randn(2))
            loss = loss + F.cosine_similarity(net.confignet(alpha), other, dim=0) ** 2
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

    return run


def ours(dims: int, compiled: bool) -> Callable[[], None]:
    """Runs one epoch of the training loop."""
    images = torch.randint(0, 256, (IMAGES, 1, 32, 32), dtype=torch.uint8)
    labels = torch.randint(0, 10, (IMAGES,))
    chosen = tasks.recipe("paper", "mlp").changed(compiled=compiled)
    method = SubspaceConfigurable(scn.transforms.get("rotation", "paper"), chosen, dims)
    held = TrainingData(images, labels, images[:0], labels[:0])
    training = Training(method, chosen, held, scn.data.Normalisation(), seed=0)
    state = training.start(scn.backbones.MLP, torch.device("cpu"))
    epochs = training.run(state, lambda _: None)

    def run() -> None:
        next(epochs)

    return run


def main() -> None:
    torch.set_num_threads(1)
    for dims in (3, 8, 16):
        contestants = {
            "scn": ours(dims, compiled=False),
            "scn --compile": ours(dims, compiled=True),
            "conventional script": conventional(dims),
        }
        seconds: dict[str, list[float]] = {name: [] for name in contestants}
        for i in range(ROUNDS + 1):
            for name, run in contestants.items():
                start = time.perf_counter()
                run()
                if i:  # the first round warms up
                    seconds[name].append(time.perf_counter() - start)
        epoch = {name: min(values) for name, values in seconds.items()}
        print(f"\nEpoch of the published recipe, D={dims}")
        for name, value in epoch.items():
            print(
                f"  {name}: {value:.2f} s, {epoch['conventional script'] / value:.1f} times as fast   aim 8"
            )


if __name__ == "__main__":
    main()
