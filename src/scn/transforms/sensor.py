"""Changes that come with the data, measured by a sensor at the same moment as the sample."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.transforms.base import Parameter, Transform, registry
from scn.transforms.encoding import Angle, Encoding, Linear, Logarithm

DARKEST = 1.0  # counts: the logarithm of 0 has no end


class Measured(Transform):
    """One condition that a sensor measured beside each sample. The samples are as they are.

    A subclass says the name and, as presets, ranges and units of its sensor. Alpha goes from -1 at `low` to 1
    at `high`, or once around the circle of cosine and sine where the range is `periodic`, as that of a clock.
    """

    name: ClassVar[str]
    steps: ClassVar[int] = 10  # of the grid over the range
    measured: ClassVar[bool] = True

    def __init__(self, low: float, high: float, unit: str = "", *, periodic: bool = False) -> None:
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ScnError(f"the range of {self.name} must go from low to high, but is {low} to {high}")
        self.parameters = (Parameter(self.name, low, high, unit, periodic),)
        self.alpha_dim = 2 if periodic else 1
        self.default_step = (high - low) / self.steps

    @property
    def parameter(self) -> Parameter:
        return self.parameters[0]

    def encode(self, params: Tensor) -> Tensor:
        params, (low, high) = self.checked(params), (self.parameter.low, self.parameter.high)
        if self.parameter.periodic:
            angle = params * (2 * math.pi / (high - low))
            return torch.cat([torch.cos(angle), torch.sin(angle)], dim=-1)
        return (params - (low + high) / 2) / ((high - low) / 2)

    def encodings(self) -> tuple[Encoding, ...]:
        low, high = self.parameter.low, self.parameter.high
        if self.parameter.periodic:
            return (Angle(high - low),)
        return (Linear(low, high, (high - low) / 2, (low + high) / 2),)

    def apply(self, x: Tensor, params: Tensor) -> Tensor:
        self.rows(x, params)
        return x


@registry.register("light")
class Light(Measured):
    """The light level of a photometer beside each sample, by default from 10 to 760 counts."""

    name = "light"

    def __init__(self, low: float = 10.0, high: float = 760.0, unit: str = "counts") -> None:
        super().__init__(low, high, unit)
        if low < DARKEST:
            raise ScnError(
                f"light is encoded by its logarithm: low must be at least {DARKEST:g}, not {low:g}"
            )

    def encode(self, params: Tensor) -> Tensor:
        """On a logarithmic scale, as eyes and exposures do: 0 at the lowest level, 1 at the highest."""
        scale = math.log(self.parameter.high / self.parameter.low)
        return torch.log(self.checked(params).clamp_min(DARKEST) / self.parameter.low) / scale

    def encodings(self) -> tuple[Encoding, ...]:
        return (Logarithm(self.parameter.low, self.parameter.high, DARKEST),)
