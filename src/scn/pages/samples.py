"""Test samples that a page shows: which ones, and the data that they come from."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from scn import data
from scn.core.errors import ScnError
from scn.data import Dataset
from scn.runs import Run


@dataclass(frozen=True)
class ShownSamples:
    """S test samples: as numbers for the transform, their labels and places in the test data."""

    x: Tensor
    labels: Tensor  # classes (S,), or values (S, T)
    indices: Tensor
    measured: Tensor | None = None  # (S, P), where a sensor gave the setting


def chosen(labels: Tensor, count: int) -> Tensor:
    """Indices of `count` samples that take the classes in turn, spread over all classes.

    Where labels are values, (N,) or (N, T), the samples are spread over those of the first.
    """
    if labels.is_floating_point():
        order = labels.reshape(len(labels), -1)[:, 0].argsort()
        return order[torch.linspace(0, len(order) - 1, count).round().long()]
    classes = labels.unique()
    if count < len(classes):
        classes = classes[torch.linspace(0, len(classes) - 1, count).round().long()]
    places = [(labels == c).nonzero().flatten() for c in classes]
    turns = max(len(place) for place in places)
    in_turn = [int(place[turn]) for turn in range(turns) for place in places if turn < len(place)]
    return torch.tensor(in_turn[:count])


def load_data(run: Run) -> Dataset:
    """The data that the run was trained on, or an error that says what is here instead."""
    dataset = data.load(run.config.data)
    if run.config.checksum and dataset.checksum != run.config.checksum:
        raise ScnError(
            f"{run.config.data} is not the data that {run.folder} was trained on: their checksums "
            f"differ. `scn evaluate {run.folder}` tests the run on the data that are here"
        )
    return dataset


def shown_samples(dataset: Dataset, count: int, measured: bool) -> ShownSamples:
    """`count` test samples, with what a sensor measured beside them where it did."""
    x, labels = dataset.split("test")
    places = chosen(labels, min(count, len(labels)))
    settings = dataset.measured("test")[places] if measured else None
    return ShownSamples(data.to_float(x[places]), labels[places], places, settings)
