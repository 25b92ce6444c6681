"""Checkpoints of the published form, made here."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[np.float32]]


def checkpoint(dims: int = 2, widths: tuple[int, ...] = (1024, 4, 3)) -> Arrays:
    """A small checkpoint of the published form, with random weights."""
    rng = np.random.default_rng(0)

    def draw(*shape: int) -> NDArray[np.float32]:
        return rng.normal(size=shape).astype(np.float32)

    arrays = {
        "hyper_stack.0.weight": draw(64, 2),
        "hyper_stack.0.bias": draw(64),
        "hyper_stack.2.weight": draw(dims, 64),
        "hyper_stack.2.bias": draw(dims),
    }
    for n, (inputs, outputs) in enumerate(pairwise(widths), start=1):
        for i in range(dims):
            arrays[f"weight_list_fc{n}.{i}"] = draw(outputs, inputs)
            arrays[f"bias_list_fc{n}.{i}"] = draw(outputs)
    return arrays
