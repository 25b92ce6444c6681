"""What an explorer draws of each sample: an image, a waveform, points or readings."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from scn.explorer.grid import PageGrid
from scn.pages.assemble import Arrays
from scn.transforms import Transform
from scn.transforms.solid import CROWDED, SIZE

COLUMNS = 256  # of a drawn waveform
POINTS = 4096  # of a cloud, at most


def kind_of(x: Tensor, transform: Transform) -> str:
    """How these samples are drawn: (S, ...) -> the name of a drawing in the page."""
    if x.dim() == 3 and hasattr(transform, "matrices"):
        return "points"
    seen = transform.apply(x[:1], torch.tensor([p.low for p in transform.parameters]))
    return {4: "image", 3: "wave"}.get(seen.dim(), "reading")


def bytes_of(kind: str, x: Tensor, transform: Transform) -> int:
    """What the drawing of all samples under one setting takes."""
    if kind == "image":
        seen = transform.apply(x[:1], torch.tensor([p.low for p in transform.parameters]))
        return len(x) * seen.numel()
    return {"wave": 2 * COLUMNS * len(x), "points": 36, "reading": 0}[kind]


def drawing(kind: str, x: Tensor, transform: Transform, grid: PageGrid, arrays: Arrays) -> dict[str, Any]:
    """What the page needs to draw every sample under every setting."""
    return {"kind": kind, **DRAWINGS[kind](x, transform, grid, arrays)}


def _images(x: Tensor, transform: Transform, grid: PageGrid, arrays: Arrays) -> dict[str, Any]:
    """(S, N, H, W, C) as whole numbers up to 255."""
    seen = [transform.apply(x, row).clamp(0, 1).mul(255).round().byte() for row in grid.settings]
    values = torch.stack(seen, dim=1).movedim(2, -1)
    return {"values": arrays.add(values.numpy())}


def _waves(x: Tensor, transform: Transform, grid: PageGrid, arrays: Arrays) -> dict[str, Any]:
    """(S, N, COLUMNS, 2): the lowest and highest value in each column, 127 for the loudest of the sample."""
    loudest = x.abs().flatten(1).amax(dim=1).clamp_min(1e-3)
    found = []
    for row in grid.settings:
        wave = transform.apply(x, row).flatten(1) / loudest.unsqueeze(1)
        wave = torch.nn.functional.pad(wave, (0, -wave.shape[1] % COLUMNS)).unflatten(1, (COLUMNS, -1))
        found.append(torch.stack([wave.amin(dim=2), wave.amax(dim=2)], dim=-1))
    values = torch.stack(found, dim=1).clamp(-1, 1).mul(127).round().to(torch.int8)
    return {"values": arrays.add(values.numpy())}


def _points(x: Tensor, transform: Any, grid: PageGrid, arrays: Arrays) -> dict[str, Any]:
    """The points once, (S, POINTS, 3), a matrix for each setting, (N, 9), and how both make an image."""
    every = max(1, x.shape[1] // POINTS)
    points = (x[:, ::every] * 32767).round().to(torch.int16)
    turns = transform.matrices(grid.settings).float().flatten(1)
    made = {"image": transform.image, "size": SIZE, "crowded": CROWDED / every}
    return {"points": arrays.add(points.numpy()), "matrices": arrays.add(turns.numpy()), **made}


def _readings(x: Tensor, transform: Transform, grid: PageGrid, arrays: Arrays) -> dict[str, Any]:
    """(S, F), whatever the setting; drawn up to the largest."""
    return {"values": arrays.add(x.numpy().astype(np.float32)), "most": max(x.abs().max().item(), 1e-6)}


DRAWINGS = {"image": _images, "wave": _waves, "points": _points, "reading": _readings}
