"""Turning and projecting 256 clouds of 4,096 points, against the same work cloud by cloud."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from scn import transforms
from scn.transforms.solid import SIZE
from timing import medians, report

CLOUDS, POINTS = 256, 4096


def by_numpy(cloud: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """One cloud as scripts usually do it: a product, and a loop over the points in it."""
    right, up, near = turn @ cloud.T
    image = np.zeros((SIZE, SIZE), np.float32)
    column = np.clip(((right + 1) * SIZE / 2).astype(int), 0, SIZE - 1)
    row = np.clip(((1 - up) * SIZE / 2).astype(int), 0, SIZE - 1)
    for r, c, depth in zip(row, column, (near + 2) / 3, strict=True):
        image[r, c] = max(image[r, c], depth)
    return image


def main() -> None:
    torch.set_num_threads(1)
    transform = transforms.Rotation3D()
    x = torch.nn.functional.normalize(torch.randn(CLOUDS, POINTS, 3), dim=-1)
    params = transform.sample(CLOUDS, torch.Generator().manual_seed(0))
    turns = transform.matrices(params).numpy()
    contestants: dict[str, Callable[[], object]] = {
        "scn, one call": lambda: transform.apply(x, params),
        "scn, cloud by cloud": lambda: [
            transform.apply(c, p) for c, p in zip(x.split(1), params, strict=True)
        ],
        "numpy, point by point": lambda: [by_numpy(c, t) for c, t in zip(x.numpy(), turns, strict=True)],
    }
    title = f"Turn and project {CLOUDS} clouds of {POINTS:,} points"
    report(title, medians(contestants, rounds=3), "scn, one call", {"numpy, point by point": 10.0})


if __name__ == "__main__":
    main()
