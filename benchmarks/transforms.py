"""Rotating a batch of 256 images, against kornia."""

from __future__ import annotations

import kornia.geometry.transform as kornia
import torch

from scn import transforms
from timing import medians, report


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x = torch.rand(256, 1, 32, 32)
    rotation = transforms.get("rotation")
    arranged = rotation.arranged(x)
    one, groups, each = (rotation.sample(n) for n in (1, 8, 256))
    contestants = {
        "scn, one angle": lambda: rotation.apply(x, one),
        "scn, one angle, images arranged": lambda: rotation.apply(arranged, one),
        "scn, 8 angles": lambda: rotation.apply(x, groups),
        "scn, an angle for each": lambda: rotation.apply(x, each),
        "kornia, one angle": lambda: kornia.rotate(x, one[0].expand(256)),
        "kornia, an angle for each": lambda: kornia.rotate(x, each[:, 0]),
    }
    report("Rotate 256 images of 32x32, bilinear", medians(contestants, rounds=60), "scn, one angle", {})


if __name__ == "__main__":
    main()
