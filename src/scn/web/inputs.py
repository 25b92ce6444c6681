"""The inputs that a page carries: test samples, already changed, as whole numbers where that loses nothing.

Transforms stay in Python. An image is kept as a camera would give it, with 8 bits; a sound with 16; all else
as float32. What the page computes for these inputs is what torch computes for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from scn.core.space import Categories
from scn.methods import Method
from scn.pages.samples import ShownSamples
from scn.transforms import Parameter, Transform

INTERVALS = (180, 120, 90, 72, 60, 48, 36, 24, 20, 18, 16, 12, 9, 8, 6, 4, 3, 2, 1)
MOST_BYTES = 4_000_000  # of all inputs, before compression
FINE = {1: 180, 2: 40}  # intervals of controls that change no input, by the number of parameters
ROUNDING = 1e-6  # of a range: what single precision adds to 0


@dataclass(frozen=True)
class ShownInputs:
    """values: (S, N, ...) of S samples under N settings; `scale` is what 1 is in them.

    `axes` are the values of each parameter that the settings (N, P) are made of, the last changing fastest.
    Samples that came with a measurement are there once, as they are: N is 1.
    """

    kind: str  # how it is drawn: image, wave or reading
    values: np.ndarray[Any, Any]
    scale: int
    axes: list[Tensor]
    settings: Tensor

    def of(self, sample: int, setting: int, normalisation: Callable[[Tensor], Tensor]) -> Tensor:
        """(1, ...): what a network is given of one of them."""
        values = torch.from_numpy(self.values[sample, setting]).float() / self.scale
        return normalisation(values.unsqueeze(0))


def inputs_of(samples: ShownSamples, transform: Transform) -> ShownInputs:
    """The samples under a grid of settings, as fine as the bytes allow."""
    kind, scale, form = _form(transform.apply(samples.x, transform.neutral()))
    each = len(samples.x) * transform.apply(samples.x[:1], transform.neutral()).numel() * form.itemsize
    axes = _axes(transform, 1 if transform.measured else max(1, MOST_BYTES // each))
    if transform.measured:
        settings, changed = transform.neutral().unsqueeze(0), [samples.x]
    else:
        settings = torch.cartesian_prod(*axes).view(-1, len(axes))
        changed = [transform.apply(samples.x, row) for row in settings]
    return ShownInputs(kind, _packed(changed, scale, form), scale, axes, settings)


def seen_by(method: Method, samples: ShownSamples, inputs: ShownInputs, normalisation: Any) -> Tensor | None:
    """(S, N, ...): what a method shows its network, where that is not the changed sample itself."""
    if method.shows_the_sample:
        return None
    if samples.measured is not None:
        return method.inputs(samples.x, samples.measured, normalisation).unsqueeze(1)
    return torch.stack([method.inputs(samples.x, row, normalisation) for row in inputs.settings], dim=1)


def _form(changed: Tensor) -> tuple[str, int, np.dtype[Any]]:
    """How changed samples (S, ...) are drawn, what 1 is, and the type that holds them."""
    kind = {4: "image", 3: "wave"}.get(changed.dim(), "reading")
    low, high = changed.min().item(), changed.max().item()
    if kind == "image" and low >= 0 and high <= 1 + ROUNDING:
        return kind, 255, np.dtype(np.uint8)
    if kind == "wave" and low >= -1 and high <= 1:
        return kind, 32767, np.dtype(np.int16)
    return kind, 1, np.dtype(np.float32)


def _packed(changed: Any, scale: int, form: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """N tensors (S, ...) -> (S, N, ...)."""
    rows = []
    for row in changed:
        values = row if scale == 1 else row.clamp(-1, 1).mul(scale).round()
        rows.append(values.numpy().astype(form))
    return np.stack(rows, axis=1)


def _axes(transform: Transform, most: int) -> list[Tensor]:
    """Values of each parameter: the finest grid of at most so many settings, if it can be with no change."""
    intervals = [FINE.get(len(transform.parameters), 10)] if transform.measured else INTERVALS
    grids = [_grid(transform, count) for count in intervals]
    allowed = [grid for grid in grids if transform.measured or math.prod(map(len, grid)) <= most]
    neutral = transform.neutral().tolist()
    holding = [grid for grid in allowed if _holds(grid, neutral, transform.parameters)]
    return (holding or allowed or grids[-1:])[0]


def _grid(transform: Transform, intervals: int) -> list[Tensor]:
    space = transform.space() or ()
    found = []
    for place, parameter in enumerate(transform.parameters):
        axis = space[place] if len(space) == len(transform.parameters) else None
        if isinstance(axis, Categories):
            found.append(torch.arange(axis.count).float())
            continue
        values = parameter.grid(intervals + (not parameter.periodic))
        least = ROUNDING * (parameter.high - parameter.low)
        found.append(values.where(values.abs() >= least, 0.0))
    return found


def _holds(grid: Sequence[Tensor], neutral: Sequence[float], parameters: Sequence[Parameter]) -> bool:
    return all(
        bool(((axis - value).abs() < 1e-4 * (p.high - p.low)).any())
        for axis, value, p in zip(grid, neutral, parameters, strict=True)
    )
