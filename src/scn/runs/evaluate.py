"""Accuracy over a grid of transform parameters: how good the network is under each condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from scn.core.errors import ScnError
from scn.data import Normalisation, to_float
from scn.methods import Method
from scn.transforms import Transform

CHUNK = 1000  # images at a time: more of them would leave the cache of the processor


@dataclass(frozen=True)
class Accuracy:
    """accuracy[i] is the share of right answers under params[i] (alpha[i] as the network saw it)."""

    params: Tensor  # (N, P)
    alpha: Tensor  # (N, S)
    accuracy: Tensor  # (N,)
    samples: Tensor | None = None  # (N,): how many were under each setting, if that differs

    def summary(self) -> dict[str, float]:
        values = self.accuracy
        weights = torch.ones_like(values) if self.samples is None else self.samples.to(values)
        return {
            "mean": ((values * weights).sum() / weights.sum()).item(),
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
    measured: Tensor | None = None,
    answer: Callable[[Tensor], Tensor] | None = None,
    progress: Callable[[Tensor], Iterable[Tensor]] = iter,
) -> Accuracy:
    """Accuracy on the samples (N, ...), whole numbers, under each row of params (M, P).

    The network is configured for each row, or, where `fixed` (P,) is given, for that one throughout.
    `answer` (inputs ready for the network to logits) stands in for the configured network.
    Where the settings were `measured` (N, P) with the samples, each sample counts for the nearest row.
    """
    if len(images) == 0:
        raise ScnError("there are no samples to evaluate on")
    transform, normalise = method.transform, normalisation or Normalisation()
    if measured is not None and answer is not None:
        raise ScnError("settings that were measured with the samples are told, not searched for")
    if measured is not None:
        told = measured if fixed is None else fixed
        hits = _as_measured(method, net, images, labels, told, normalise)
        return _by_nearest(transform, hits, measured, params, fixed)
    size = len(images) if answer else CHUNK  # who searches by batches divides the samples himself
    chunks = [
        (transform.arranged(to_float(x)), y)
        for x, y in zip(images.split(size), labels.split(size), strict=True)
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
                right += int(((answer or plain)(normalise(seen)).argmax(dim=1) == y).sum())
            accuracy.append(right / len(labels))
    alpha = transform.encode(params if fixed is None else fixed.expand_as(params))
    return Accuracy(params, alpha, torch.tensor(accuracy, dtype=torch.float64))


def _as_measured(
    method: Method, net: nn.Module, samples: Tensor, labels: Tensor, params: Tensor, normalise: Normalisation
) -> Tensor:
    """(N,): whether the answer to each sample is right under its own setting."""
    rows = params.expand(len(samples), -1)
    chunks = zip(samples.split(CHUNK), labels.split(CHUNK), rows.split(CHUNK), strict=True)
    with _in_test_mode(net):
        return torch.cat(
            [
                method.logits(net, normalise(method.see(to_float(x), own)), own).argmax(dim=1) == y
                for x, y, own in chunks
            ]
        )


def _by_nearest(
    transform: Transform, right: Tensor, measured: Tensor, params: Tensor, fixed: Tensor | None
) -> Accuracy:
    """The share of right answers next to each row of params; rows without any sample are left out."""
    nearest = torch.cdist(measured.double(), params.double()).argmin(dim=1)
    count = torch.bincount(nearest, minlength=len(params))
    hits = torch.bincount(nearest, weights=right.double(), minlength=len(params))
    some = count > 0
    alpha = transform.encode(params if fixed is None else fixed.expand_as(params))
    return Accuracy(params[some], alpha[some], hits[some] / count[some], count[some])


@contextmanager
def _in_test_mode(net: nn.Module) -> Iterator[None]:
    training = net.training
    net.eval()
    try:
        yield
    finally:
        net.train(training)
