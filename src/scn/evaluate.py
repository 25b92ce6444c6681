"""Accuracy over a grid of transform parameters: how good the network is under each condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from scn.data import Normalisation, to_float
from scn.methods import Method

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
    method: Method,
    net: nn.Module,
    images: Tensor,
    labels: Tensor,
    params: Tensor,
    *,
    normalisation: Normalisation | None = None,
    fixed: Tensor | None = None,
    progress: Callable[[Tensor], Iterable[Tensor]] = iter,
) -> Accuracy:
    """Accuracy on the uint8 images (N, C, H, W) under each row of params (M, P).

    The network is configured for each row, or, where `fixed` (P,) is given, for that one throughout.
    """
    if len(images) == 0:
        raise ValueError("there are no images to evaluate on")
    transform, normalise = method.transform, normalisation or Normalisation()
    chunks = [
        (transform.arranged(to_float(x)), y)
        for x, y in zip(images.split(CHUNK), labels.split(CHUNK), strict=True)
    ]
    plain = method.configured(net, params[0] if fixed is None else fixed)
    accuracy = []
    with _in_test_mode(plain):
        for row in progress(params):
            setting = row if fixed is None else fixed
            plain = method.configured(net, setting, into=plain)
            right = 0
            for x, y in chunks:
                seen = method.see(transform.apply(x, row), setting)
                right += int((plain(normalise(seen)).argmax(dim=1) == y).sum())
            accuracy.append(right / len(labels))
    alpha = transform.encode(params if fixed is None else fixed.expand_as(params))
    return Accuracy(params, alpha, torch.tensor(accuracy, dtype=torch.float64))


@contextmanager
def _in_test_mode(net: nn.Module) -> Iterator[None]:
    training = net.training
    net.eval()
    try:
        yield
    finally:
        net.train(training)
