"""Pictures of bytes in another size, by the bilinear filter of Pillow, which computes in whole numbers.

Rows are resized first, then columns, and between the two values are bytes again. A place of the result is a
sum of the bytes about it by whole weights, rounded: `filter_of` has them for code that has no Pillow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

PRECISION = 22  # bits of a weight behind the point


@dataclass(frozen=True)
class Taps:
    """What a place of the result is made of: the sources from `first` on, by these weights."""

    first: int
    weights: tuple[int, ...]


def filter_of(length: int, places: int) -> list[Taps]:
    """From a row of `length` bytes to one of `places`: in the order of Pillow's own operations."""
    scale = length / places
    support = max(scale, 1.0)
    found = []
    for place in range(places):
        centre = (place + 0.5) * scale
        first = max(0, int(centre - support + 0.5))
        last = min(length, int(centre + support + 0.5))
        away = [abs((source - centre + 0.5) * (1.0 / support)) for source in range(first, last)]
        shares = [1.0 - distance if distance < 1.0 else 0.0 for distance in away]
        total = 0.0
        for share in shares:
            total += share
        found.append(_trimmed(first, [int(0.5 + share / total * (1 << PRECISION)) for share in shares]))
    return found


def _trimmed(first: int, weights: list[int]) -> Taps:
    """Without the sources at both ends that count for nothing."""
    counting = [place for place, weight in enumerate(weights) if weight]
    return Taps(first + counting[0], tuple(weights[counting[0] : counting[-1] + 1]))


def resized(planes: Array, height: int, width: int) -> Array:
    """(N, H, W) uint8 -> (N, height, width) uint8, as a copy.

    To the last bit what Pillow makes of a square picture; of others it may differ by 1, as its versions do.
    """
    if planes.shape[1:] == (height, width):
        return np.array(planes, order="C")
    columns = _resized_rows(planes, width).transpose(0, 2, 1)
    return np.array(_resized_rows(columns, height).transpose(0, 2, 1), order="C")


def _resized_rows(planes: Array, width: int) -> Array:
    """(N, H, W) -> (N, H, width). Rows do not depend on one another, so all of them may share a call."""
    from PIL import Image

    rows = Image.fromarray(np.ascontiguousarray(planes).reshape(-1, planes.shape[2]))
    resized_rows = rows.resize((width, rows.height), Image.Resampling.BILINEAR)
    return np.asarray(resized_rows).reshape(*planes.shape[:2], width)
