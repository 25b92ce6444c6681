"""Accuracy over a grid of transform parameters: how good the network is under each condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from scn.core.network import SCN
from scn.data import normalise, to_float
from scn.transforms import Transform

CHUNK = 1000  # images at a time: more of them would leave the cache of the processor


@dataclass(frozen=True)
class Accuracy:
    """accuracy[i] is the share of right answers under params[i] (alpha[i] as the network saw it)."""

    params: Tensor  # (N, P)
    alpha: Tensor  # (N, S)
    accuracy: Tensor  # (N,)

    def summary(self) -> dict[str, float]:
        values = self.accuracy
        return {
            "mean": values.mean().item(),
            "min": values.min().item(),
            "max": values.max().item(),
        }


@torch.no_grad()
def evaluate(
    net: SCN,
    images: Tensor,
    labels: Tensor,
    transform: Transform,
    params: Tensor,
    *,
    fixed: Tensor | None = None,
    progress: Callable[[Tensor], Iterable[Tensor]] = iter,
) -> Accuracy:
    """Accuracy on the uint8 images (N, C, H, W) under each row of params (M, P).

    The network is configured for each row, or, where `fixed` (P,) is given, for that one throughout.
    """
    if len(images) == 0:
        raise ValueError("there are no images to evaluate on")
    chunks = [
        (transform.arranged(to_float(x)), y)
        for x, y in zip(images.split(CHUNK), labels.split(CHUNK), strict=True)
    ]
    plain = net.configure(transform.encode(params[0] if fixed is None else fixed)).eval()
    accuracy = []
    for row in progress(params):
        if fixed is None:
            net.configure(transform.encode(row), into=plain)
        right = 0
        for x, y in chunks:
            answers = plain(normalise(transform.apply(x, row))).argmax(dim=1)
            right += int((answers == y).sum())
        accuracy.append(right / len(labels))
    alpha = transform.encode(params if fixed is None else fixed.expand_as(params))
    return Accuracy(params, alpha, torch.tensor(accuracy, dtype=torch.float64))
