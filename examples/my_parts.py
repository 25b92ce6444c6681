"""Parts of your own: a network and a change of the input that scn does not know."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from scn.transforms import Parameter, Transform, registry


class TinyNet(nn.Module):
    """Any torch module will do. `shape` and `classes` are filled in from the data if it takes them."""

    def __init__(self, shape: Sequence[int], classes: int) -> None:
        super().__init__()
        self.features = nn.Conv2d(shape[0], 6, kernel_size=8, stride=4)
        self.norm = nn.BatchNorm2d(6)
        self.answer = nn.Linear(6 * 7 * 7, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.answer(self.norm(self.features(x)).relu().flatten(1))


@registry.register("fading")
class Fading(Transform):
    """The picture fades to grey, as in fog: what is left of it is measured by a visibility sensor."""

    parameters = (Parameter("visibility", 0.1, 1.0),)
    alpha_dim = 1
    default_step = 0.1

    def encode(self, params: Tensor) -> Tensor:
        return self.checked(params)

    def apply(self, x: Tensor, params: Tensor) -> Tensor:
        left = self.rows(x, params).repeat_interleave(len(x) // len(params.view(-1, 1)), 0)
        return torch.lerp(torch.full_like(x, 0.5), x, left.view(-1, 1, 1, 1))
