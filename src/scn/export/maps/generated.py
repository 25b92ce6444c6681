"""Maps without a softmax in C: one linear layer, which also gives the coefficient that makes the sum 1."""

from __future__ import annotations

import torch
from torch import Tensor

from scn.core.maps.generated import GeneratedMap, LinearMap
from scn.core.maps.learned import HIDDEN_UNITS
from scn.export.maps.learned import add_layer
from scn.export.parts import Parts


def add_linear(parts: Parts, mapped: LinearMap, checks: list[str]) -> None:
    size = mapped.dims - 1
    weight, bias = _with_first(torch.eye(size), torch.zeros(size))
    parts.beta = [*checks, add_layer(parts, "output", weight, bias, "alpha", "beta")]


def add(parts: Parts, mapped: GeneratedMap, checks: list[str]) -> None:
    hidden, output = mapped.hidden, mapped.output
    calls = [
        add_layer(parts, "hidden", hidden.weight, hidden.bias, "alpha", "hidden", relu=True),
        add_layer(parts, "output", *_with_first(output.weight, output.bias), "hidden", "beta"),
    ]
    parts.beta = [f"float hidden[{HIDDEN_UNITS}];", *checks, *calls]


def _with_first(weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """(D - 1, inputs), (D - 1,) -> those of all D coefficients: the first is 1 less the sum of the rest."""
    first = -weight.sum(dim=0, keepdim=True), 1 - bias.sum(dim=0, keepdim=True)
    return torch.cat([first[0], weight]), torch.cat([first[1], bias])
