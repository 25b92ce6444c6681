"""Changes that come with the data, measured by a sensor at the same moment as the sample."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor

from scn.transforms.base import Parameter, Transform, registry
from scn.transforms.encoding import Encoding, Logarithm

DARKEST = 1.0  # counts: the logarithm of 0 has no end


@registry.register("light")
class Light(Transform):
    """The light level of a photometer beside each sample, in counts. The samples are as they are."""

    parameters = (Parameter("light", 10.0, 760.0, "counts"),)
    alpha_dim = 1
    default_step = 75.0
    measured: ClassVar[bool] = True

    def encode(self, params: Tensor) -> Tensor:
        """On a logarithmic scale, as eyes and exposures do: 0 at the lowest level, 1 at the highest."""
        (light,) = self.parameters
        scale = math.log(light.high / light.low)
        return torch.log(self.checked(params).clamp_min(DARKEST) / light.low) / scale

    def encodings(self) -> tuple[Encoding, ...]:
        (light,) = self.parameters
        return (Logarithm(light.low, light.high, DARKEST),)

    def apply(self, x: Tensor, params: Tensor) -> Tensor:
        self.rows(x, params)
        return x
