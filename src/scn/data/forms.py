"""The forms that samples have in a data file, and what a transform is given of them.

| in the file | what it is | given as |
|---|---|---|
| uint8 (N, H, W) or (N, H, W, C) | images | uint8 (N, C, 32, 32) |
| int16 (N, T), with `sample_rate` | waveforms | int16 (N, 1, T) |
| int16 (N, P, 3) | points in the unit ball, 32767 for 1 | the same |
| uint8 (N, bytes), with `shape` | solids as packed bits of a grid | int16 points on their surfaces |
| int16 (N, F) | readings of a sensor | the same |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scn.core.errors import ScnError
from scn.data.resize import resized

Array = np.ndarray[Any, Any]
Arrays = dict[str, Array]

SIZE = 32  # every image set is brought to 32x32, as in the paper
POINTS = 4096
WHOLE = 32767  # of an int16, for 1
KNOWN = (
    "uint8 images (N, H, W) or (N, H, W, C) with up to 4 channels, int16 waveforms (N, T) with a "
    "sample_rate, int16 points (N, P, 3), packed bits with their shape, or int16 readings (N, F)"
)


def known(x: Array) -> bool:
    """Whether this is one of the forms, once `unpacked`."""
    if 0 in x.shape[1:]:
        return False
    if x.dtype == np.uint8:
        return x.ndim == 3 or (x.ndim == 4 and x.shape[3] <= 4)
    return x.dtype == np.int16 and (x.ndim == 2 or (x.ndim == 3 and (x.shape[1] == 1 or x.shape[2] == 3)))


def remedy(x: Array) -> str:
    """How to bring an array of another type to one of the forms; nothing where the shape is what is wrong."""
    if x.dtype.kind == "f":
        wrong = int(x.size - np.isfinite(x).sum())
        missing = f" ({wrong} values are not finite: leave those samples out first)" if wrong else ""
        return f": np.round(x * factor).astype(np.int16) keeps readings to 1/factor of their unit{missing}"
    if x.dtype == np.uint16:
        return ": (x // 2).astype(np.int16) keeps readings of 16 bits to 2 counts"
    if x.dtype.kind in "iu" and x.dtype not in (np.uint8, np.int16):
        return ": values from -32768 to 32767 fit after .astype(np.int16)"
    return ""


def unpacked(arrays: Arrays) -> Arrays:
    """Waveforms as one channel, and solids as points; everything else as it is."""
    splits = [key[2:] for key in arrays if key.startswith("x_")]
    if "sample_rate" in arrays:
        waves = {f"x_{s}": arrays[f"x_{s}"] for s in splits}
        return {**arrays, **{key: x[:, None] if x.ndim == 2 else x for key, x in waves.items()}}
    if "shape" not in arrays:
        return dict(arrays)
    found = dict(arrays)
    for split in splits:
        points, kept = surface_points(arrays[f"x_{split}"], arrays["shape"].tolist())
        found[f"x_{split}"] = points
        for key in (f"y_{split}", f"params_{split}"):
            if key in arrays:
                found[key] = arrays[key][kept]
    return found


def surface_points(bits: Array, shape: list[int]) -> tuple[Array, Array]:
    """Solids as bits (N, bytes) -> points (N', 4096, 3) on their surfaces, and which solids were not empty.

    A point lies anywhere in a cell that has an empty neighbour. The draw is the same every time.
    """
    if bits.dtype != np.uint8 or bits.ndim != 2 or 8 * bits.shape[1] < np.prod(shape) or len(shape) != 3:
        raise ScnError(
            f"solids of shape {shape} need packed bits (N, bytes), but got {bits.dtype} {bits.shape}"
        )
    rng = np.random.default_rng(0)
    found, kept = [], []
    for index, packed in enumerate(bits):
        grid = np.unpackbits(packed)[: np.prod(shape)].reshape(shape).astype(bool)
        cells = np.argwhere(grid & ~_inside(np.pad(grid, 1)))
        if len(cells) == 0:
            continue
        places = cells[rng.integers(len(cells), size=POINTS)] + rng.random((POINTS, 3))
        found.append(in_unit_ball(places))
        kept.append(index)
    return np.array(found, np.int16).reshape(-1, POINTS, 3), np.array(kept, int)


def _inside(padded: Array) -> Array:
    """Which cells of a grid with a border have six full neighbours."""
    centre = (slice(1, -1),) * 3
    full = padded[centre].copy()
    for axis in range(3):
        for step in (-1, 1):
            full &= np.roll(padded, step, axis)[centre]
    return full


def in_unit_ball(places: Array) -> Array:
    """Points (P, 3) as int16, centred in their box, the farthest at radius 1."""
    centred = places - (places.min(axis=0) + places.max(axis=0)) / 2
    radius = np.linalg.norm(centred, axis=1).max()
    return np.round(centred / max(radius, 1e-12) * WHOLE).astype(np.int16)


def ready(x: Array) -> Array:
    """Samples of a form as a transform takes them."""
    return _resized(x) if x.dtype == np.uint8 else np.array(x, order="C")


def _resized(images: Array) -> Array:
    """(N, H, W[, C]) uint8 -> (N, C, 32, 32) uint8, as a copy."""
    channels = images[:, None] if images.ndim == 3 else images.transpose(0, 3, 1, 2)
    planes = channels.reshape(-1, *channels.shape[2:])
    return resized(planes, SIZE, SIZE).reshape(*channels.shape[:2], SIZE, SIZE)
