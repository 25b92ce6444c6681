"""How a page shows the outputs of networks: as probabilities of classes, or as values in their units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from scn.data import Dataset
from scn.objectives import Objective

LEVELS = 2000  # of a probability: a whole number from 0 to this


@dataclass(frozen=True)
class OutputForm:
    """What a network predicts: one of the named classes, or a value for each of the named targets."""

    objective: Objective
    names: Sequence[str]
    units: Sequence[str] | None = None  # of targets; classes have none

    @property
    def size(self) -> int:
        """Bytes for the outputs about one sample."""
        return len(self.names) * (2 if self.units is None else 4)

    def packed(self, outputs: Tensor) -> Tensor:
        """(..., outputs) of a network -> levels of probabilities, or predictions."""
        if self.units is None:
            return (outputs.double().softmax(dim=-1) * LEVELS).round().to(torch.int16)
        return self.objective.predictions(outputs.flatten(0, -2)).view_as(outputs).float()

    def label(self, label: Tensor) -> int | list[float]:
        """The truth about a sample, for the page."""
        return int(label) if self.units is None else label.flatten().tolist()

    def content(self) -> dict[str, Any]:
        kind = "classes" if self.units is None else "values"
        return {"kind": kind, "names": self.names, "units": self.units, "levels": LEVELS}


def output_form(objective: Objective, outputs: Tensor, dataset: Dataset) -> OutputForm:
    """By what the objective makes of outputs (N, outputs): one class each, or a value for each target."""
    predictions = objective.predictions(outputs)
    if predictions.dim() == 1:
        return OutputForm(objective, [name.replace("_", " ") for name in dataset.classes])
    count = predictions.shape[1]
    names = dataset.targets or [f"value {place + 1}" if count > 1 else "value" for place in range(count)]
    return OutputForm(objective, names, dataset.target_units or [""] * count)
