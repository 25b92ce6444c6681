"""Scores over a grid of transform parameters: how good the network is under each setting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from scn.core.errors import ScnError
from scn.data import Normalisation, to_float
from scn.methods import Method
from scn.runs.scores import Scores

CHUNK = 1000  # samples at a time: more of them would leave the cache of the processor


@torch.no_grad()
def evaluate(
    method: Method,
    net: nn.Module,
    samples: Tensor,
    labels: Tensor,
    params: Tensor,
    *,
    normalisation: Normalisation | None = None,
    fixed: Tensor | None = None,
    measured: Tensor | None = None,
    answer: Callable[[Tensor], Tensor] | None = None,
    progress: Callable[[Tensor], Iterable[Tensor]] = iter,
) -> Scores:
    """The method's score on the samples (N, ...), whole numbers, under each row of params (M, P).

    The network is configured for each row, or, where `fixed` (P,) is given, for that one throughout.
    `answer` (inputs ready for the network to outputs) stands in for the configured network.
    Where the settings were `measured` (N, P) with the samples, each sample counts for the nearest row.
    """
    if len(samples) == 0:
        raise ScnError("there are no samples to evaluate on")
    objective, normalise = method.objective, normalisation or Normalisation()
    labels = objective.labels(labels)
    spread = objective.spread(labels)
    alpha = method.transform.encode(params if fixed is None else fixed.expand_as(params))
    if measured is not None:
        assumed = measured if fixed is None else fixed
        values = _as_measured(method, net, samples, labels, assumed, normalise, spread)
        return _by_nearest(method, values, measured, params, alpha)
    size = len(samples) if answer else CHUNK  # who searches by batches divides the samples himself
    chunks = [
        (method.transform.arranged(to_float(x)), y)
        for x, y in zip(samples.split(size), labels.split(size), strict=True)
    ]
    plain = method.configured(net, params[0] if fixed is None else fixed)
    means = []
    with _in_test_mode(plain):
        for row in progress(params):
            assumed = row if fixed is None else fixed
            plain = method.configured(net, assumed, into=plain)
            total = torch.zeros(len(objective.scores), dtype=torch.float64)
            for x, y in chunks:
                outputs = (answer or plain)(method.inputs(x, row, normalise, assumed))
                total += objective.values(outputs, y, spread).sum(dim=0)
            means.append(total / len(labels))
    return _scores(method, params, alpha, torch.stack(means))


def _as_measured(
    method: Method,
    net: nn.Module,
    samples: Tensor,
    labels: Tensor,
    params: Tensor,
    normalise: Normalisation,
    spread: Tensor,
) -> Tensor:
    """(N, scores): what the prediction for each sample counts under its own setting."""
    rows = params.expand(len(samples), -1)
    chunks = zip(samples.split(CHUNK), labels.split(CHUNK), rows.split(CHUNK), strict=True)
    with _in_test_mode(net):
        return torch.cat(
            [
                method.objective.values(
                    method.outputs(net, method.inputs(to_float(x), own, normalise), own), y, spread
                )
                for x, y, own in chunks
            ]
        )


def _by_nearest(method: Method, values: Tensor, measured: Tensor, params: Tensor, alpha: Tensor) -> Scores:
    """The mean of the values next to each row of params; rows without any sample are left out."""
    far = method.transform.distance(measured.double().unsqueeze(1), params.double().unsqueeze(0))
    nearest = far.argmin(dim=1)
    counts = torch.bincount(nearest, minlength=len(params))
    sums = torch.zeros(len(params), values.shape[1], dtype=torch.float64).index_add_(0, nearest, values)
    some = counts > 0
    means = sums[some] / counts[some].unsqueeze(1)
    return _scores(method, params[some], alpha[some], means, counts[some])


def _scores(
    method: Method, params: Tensor, alpha: Tensor, means: Tensor, counts: Tensor | None = None
) -> Scores:
    """means: (N, scores). The first score is the one that counts; of others the mean is noted."""
    score, *others = method.objective.scores
    further = {
        other.key: Scores(params, means[:, i], other, counts=counts).mean for i, other in enumerate(others, 1)
    }
    return Scores(params, means[:, 0], score, alpha, counts, {"further": further} if further else {})


@contextmanager
def _in_test_mode(net: nn.Module) -> Iterator[None]:
    training = net.training
    net.eval()
    try:
        yield
    finally:
        net.train(training)
