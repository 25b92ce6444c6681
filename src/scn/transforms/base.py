"""What every transform offers: draw parameters, list a grid of them, encode them as alpha, apply them.

`params` are what a person says (degrees, a factor, pixels); `encode(params)` is the alpha that the
configuration network sees. Both are tensors with one row for each draw.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from scn.core.errors import ScnError, WrongType
from scn.core.registry import Registry
from scn.core.space import Circle, Line, Space
from scn.transforms.encoding import Encoding

MOST_STEPS = 100_000
LOOKED_AT = 17  # settings of an encoding of one's own
ROUNDING = 1e-3


@dataclass(frozen=True)
class Parameter:
    """One parameter of a transform, its range, and whether the range closes to a circle."""

    name: str
    low: float
    high: float
    unit: str = ""
    periodic: bool = False

    @property
    def neutral(self) -> float:
        """No change, where the range holds it: 0, or 1 of a factor (which has no unit). Else the middle."""
        known = [value for value in (0.0, *([] if self.unit else [1.0])) if self.low <= value <= self.high]
        return known[0] if known else (self.low + self.high) / 2

    def __str__(self) -> str:
        """The name and the range, as a message says them."""
        return f"{self.name} from {self.low:g} to {self.high:g} {self.unit}".rstrip()

    def grid(self, steps: int) -> Tensor:
        """(steps,) values over the range; a circle's last value is not its first again."""
        if steps < 1:
            raise ScnError(f"a grid needs at least 1 step, but {steps} were asked for")
        if self.periodic:
            return self.low + (self.high - self.low) * torch.arange(steps) / steps
        return torch.linspace(self.low, self.high, steps)

    def steps(self, step: float) -> int:
        """How many grid points lie `step` apart."""
        if not step > 0:
            raise ScnError(f"the step of {self.name} must be positive, but is {step}")
        intervals = (self.high - self.low) / step
        if intervals > MOST_STEPS:
            raise ScnError(f"a step of {step:g} gives more than {MOST_STEPS:,} values of {self.name}")
        if abs(intervals - round(intervals)) > 1e-6 * intervals or round(intervals) < 1:
            raise ScnError(
                f"a step of {step:g} does not divide the range of {self.name}, "
                f"{self.low:g} to {self.high:g} {self.unit}".rstrip()
            )
        return round(intervals) + (not self.periodic)


@dataclass(frozen=True)
class Outside:
    """Values of one parameter that do not lie in its range: how many rows, the lowest and the highest."""

    parameter: Parameter
    count: int
    total: int
    lowest: float
    highest: float

    def facts(self) -> dict[str, Any]:
        """For a file that says what was measured."""
        ends = {"lowest": self.lowest, "highest": self.highest}
        return {"said": str(self), "parameter": self.parameter.name, "count": self.count, **ends}

    def __str__(self) -> str:
        values = f"{self.lowest:g}" if self.lowest == self.highest else f"{self.lowest:g} to {self.highest:g}"
        return f"{self.count:,} of {self.total:,} values ({values}) lie outside the range, {self.parameter}"


class Transform(ABC):
    """A change of the input with parameters that can be measured.

    x: (B, ...), one sample in a row: images (C, H, W) in [0, 1], waveforms (1, T) in [-1, 1], points (N, 3).
    """

    parameters: tuple[Parameter, ...]
    alpha_dim: int
    default_step: float
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"default": {}}
    former_presets: ClassVar[Mapping[str, str]] = {}  # what names of runs of version 0.1 are called now
    measured: ClassVar[bool] = False  # whether the parameters come with the data instead of being chosen
    repeatable: bool = True  # whether what it changed can be changed once more

    @classmethod
    def from_preset(cls, preset: str) -> Self:
        """The transform with the settings of a named preset."""
        if preset not in cls.presets:
            known = ", ".join(cls.presets)
            raise ScnError(f'{cls.__name__} has no preset "{preset}". Known: {known}')
        return cls(**cls.presets[preset])

    def sample(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """n independent draws, uniform over the range: (n, P)."""
        low = torch.tensor([p.low for p in self.parameters])
        high = torch.tensor([p.high for p in self.parameters])
        return low + (high - low) * torch.rand(n, len(self.parameters), generator=generator)

    def evenly(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """n independent draws, even over the changes themselves, however their parameters lie: (n, P)."""
        return self.sample(n, generator)

    def grid(self, steps: int) -> Tensor:
        """`steps` values of each parameter, every combination: (steps**P, P)."""
        return torch.cartesian_prod(*(p.grid(steps) for p in self.parameters)).view(-1, len(self.parameters))

    def regular(self, step: float | None = None) -> Tensor:
        """Settings that lie `step` apart (by default `default_step`), every combination: (N, P)."""
        axes = [p.grid(p.steps(self.default_step if step is None else step)) for p in self.parameters]
        return torch.cartesian_prod(*axes).view(-1, len(axes))

    def neutral(self) -> Tensor:
        """(P,): no change, or the middle of a range without it."""
        return torch.tensor([p.neutral for p in self.parameters])

    def distance(self, params: Tensor, others: Tensor) -> Tensor:
        """How far apart settings are: (..., P) each -> (...), the largest difference of a parameter.

        Differences are shares of the parameter's range; on a circle, the shorter way round.
        """
        span = torch.tensor([p.high - p.low for p in self.parameters])
        circle = torch.tensor([p.periodic for p in self.parameters])
        apart = ((params - others) / span.to(params)).abs()
        apart = torch.where(circle.to(params.device), torch.minimum(apart % 1, 1 - apart % 1), apart)
        return apart.amax(dim=-1)

    @abstractmethod
    def encode(self, params: Tensor) -> Tensor:
        """params: (..., P) -> alpha: (..., S)."""

    def encodings(self) -> tuple[Encoding, ...] | None:
        """What `encode` does to each parameter in turn, as far as it is one of the known kinds."""
        return None

    def space(self) -> Space | None:
        """What the values of alpha are, as far as that is known: what a map with places needs to know.

        Where the encoding is not one of the known kinds, a single parameter that becomes one rising or
        falling value is a line, and one that closes to a circle and becomes two values on a circle is one.
        """
        kinds = self.encodings()
        if kinds is not None:
            return tuple(kind.axis() for kind in kinds)
        if len(self.parameters) > 1:
            return None
        alpha = self.encode(self.parameters[0].grid(LOOKED_AT).unsqueeze(1))
        if self.alpha_dim == 1 and not self.parameters[0].periodic:
            steps = alpha[:, 0].diff()
            if bool((steps > 0).all() or (steps < 0).all()):
                return (Line(float(alpha.min()), float(alpha.max())),)
        on_circle = alpha.shape[1] == 2 and bool(((alpha.norm(dim=1) - 1).abs() < ROUNDING).all())
        return (Circle(),) if on_circle and self.parameters[0].periodic else None

    @abstractmethod
    def apply(self, x: Tensor, params: Tensor) -> Tensor:
        """x: (B, ...), params: (P,), (K, P) with K dividing B, or (B, P) -> x transformed."""

    def arranged(self, x: Tensor) -> Tensor:
        """The same tensor with its memory in the order that suits repeated calls of `apply`."""
        return x

    @property
    def invertible(self) -> bool:
        return type(self).invert is not Transform.invert

    def invert(self, x: Tensor, params: Tensor) -> Tensor:
        """Undo `apply` with the same params, as far as that is possible."""
        raise WrongType(f"{type(self).__name__} cannot be undone")

    def checked(self, params: Tensor) -> Tensor:
        """params as finite numbers, with one value for each parameter in the last dimension."""
        params = torch.as_tensor(params)
        if params.dtype != torch.float64:
            params = params.float()
        count = len(self.parameters)
        if params.dim() == 0 or params.shape[-1] != count:
            names = ", ".join(p.name for p in self.parameters)
            raise ScnError(
                f"params must have {count} value(s) in a row ({names}), but their shape is "
                f"{tuple(params.shape)}"
            )
        if not torch.isfinite(params).all():
            raise ScnError("params must be finite numbers")
        return params

    def outside(self, params: Tensor) -> list[Outside]:
        """What of params (N, P) no setting has, for each parameter that has such values.

        A circle has no outside.
        """
        params, found = self.checked(params), []
        for parameter, values in zip(self.parameters, params.unbind(dim=-1), strict=True):
            low, high = torch.tensor([parameter.low, parameter.high]).to(values)
            wrong = values[(values < low) | (values > high)]
            if len(wrong) and not parameter.periodic:
                ends = wrong.min().item(), wrong.max().item()
                found.append(Outside(parameter, len(wrong), values.numel(), *ends))
        return found

    def clamped(self, params: Tensor) -> Tensor:
        """params (N, P) with what lies outside a range moved to its nearest end."""
        params = self.checked(params)
        ends = [(-math.inf, math.inf) if p.periodic else (p.low, p.high) for p in self.parameters]
        low, high = torch.tensor(ends).to(params).unbind(dim=1)
        return params.clamp(low, high)

    def within(self, params: Tensor, *, clamp: bool = False, named: str = "params") -> Tensor:
        """params (N, P) that all lie in their ranges: others are refused, or clamped if `clamp` is set."""
        if clamp:
            return self.clamped(params)
        outside = self.outside(params)
        if outside:
            raise ScnError(
                f"{named}: {'; '.join(map(str, outside))}. Give the transform the range of your sensor (a "
                "class of your own, with low and high), correct the values, or set `clamp=True`, which moves "
                "them to the nearest end"
            )
        return self.checked(params)

    def rows(self, x: Tensor, params: Tensor) -> Tensor:
        """params as (K, P) that share out the batch x."""
        params = self.checked(params).to(x.device)
        if params.dim() > 2:
            raise ScnError(f"params must have 1 or 2 dimensions, but their shape is {tuple(params.shape)}")
        params = params.view(-1, len(self.parameters))
        if len(params) == 0 or len(x) % len(params):
            raise ScnError(f"{len(params)} params cannot be shared out over a batch of {len(x)}")
        return params


registry: Registry[type[Transform]] = Registry("transform", Transform)
