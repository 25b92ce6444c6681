"""Which settings an explorer holds: as fine a grid as keeps the page small and its making short.

Everything on the page is known at the grid's settings. The network can also be configured for another setting
than that of its input, one of a coarser grid that lies within the first: every pair of both is computed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from scn.plots.style import ROUNDING
from scn.transforms import Parameter

INTERVALS = (180, 120, 90, 72, 60, 48, 36, 24, 20, 18, 16, 12, 9, 8, 6, 4, 3, 2, 1)
MOST_ASSUMED = 60  # settings for one parameter that a network can be configured for against its input
MOST_SETTINGS = 2000
OWN_BYTES = 4_500_000  # for what belongs to one setting, before compression
PAIR_BYTES = 11_500_000  # for what belongs to two; these compress to less than half
PAIR_VALUES = 6e8  # input values that the networks are shown for all pairs
PAIR_OPERATIONS = 3.5e11  # that the networks take for all pairs: a minute or so

MOST = (PAIR_BYTES, PAIR_VALUES, PAIR_OPERATIONS)


@dataclass(frozen=True)
class Demand:
    """What a setting, and a pair of settings, asks for."""

    own_bytes: int
    pair_bytes: int
    pair_values: int
    pair_operations: int = 0


@dataclass(frozen=True)
class PageGrid:
    """`intervals` divide the range of each parameter; every `stride`-th value is in the coarser grid.

    The coarser grid holds the place where the page begins: the one nearest to no change.
    """

    parameters: tuple[Parameter, ...]
    intervals: int
    stride: int

    @property
    def axes(self) -> list[Tensor]:
        """The values of each parameter; what is 0 but for rounding is 0."""
        exact = [p.grid(_values(p, self.intervals)) for p in self.parameters]
        least = [ROUNDING * (p.high - p.low) for p in self.parameters]
        return [axis.where(axis.abs() >= tiny, 0.0) for axis, tiny in zip(exact, least, strict=True)]

    @property
    def settings(self) -> Tensor:
        """(N, P), the last parameter changing fastest."""
        return self._product([list(range(len(axis))) for axis in self.axes])

    @property
    def coarse(self) -> list[list[int]]:
        """For each parameter the places of the finer grid that the coarser one holds."""
        return [
            list(range(first % self.stride, len(axis), self.stride))
            for first, axis in zip(self._first, self.axes, strict=True)
        ]

    @property
    def start(self) -> list[int]:
        """Where a page begins, as places on the coarser grid."""
        return [places.index(first) for first, places in zip(self._first, self.coarse, strict=True)]

    @property
    def first(self) -> Tensor:
        """(P,): the setting that a page begins with."""
        return torch.stack([axis[first] for first, axis in zip(self._first, self.axes, strict=True)])

    @property
    def holds_no_change(self) -> bool:
        neutral = torch.tensor([p.neutral for p in self.parameters])
        return torch.allclose(self.first, neutral, atol=1e-4)

    @property
    def assumed(self) -> Tensor:
        """(K, P): the settings of the coarser grid, for which the network can be configured wrongly."""
        return self._product(self.coarse)

    @property
    def _first(self) -> list[int]:
        return [
            int((axis - p.neutral).abs().argmin()) for p, axis in zip(self.parameters, self.axes, strict=True)
        ]

    def _product(self, places: Sequence[Sequence[int]]) -> Tensor:
        chosen = [axis[list(some)] for axis, some in zip(self.axes, places, strict=True)]
        return torch.cartesian_prod(*chosen).view(-1, len(self.parameters))


def candidates(parameters: Sequence[Parameter], demand: Demand) -> Iterator[PageGrid]:
    """Grids that meet the limits, the finest first.

    A coarser grid of three values a parameter, and a dozen in all, is worth more than a finer one with less.
    So is a grid that holds no change itself.
    """
    for least, in_all in ((3, 12), (3, 1), (2, 1), (1, 1)):
        for holding in (True, False):
            for intervals in INTERVALS:
                coarse = _coarse_intervals(parameters, intervals, demand)
                if coarse is None or coarse < least or _count(parameters, coarse) < in_all:
                    continue
                grid = PageGrid(tuple(parameters), intervals, intervals // coarse)
                if grid.holds_no_change is holding:
                    yield grid


def _coarse_intervals(parameters: Sequence[Parameter], intervals: int, demand: Demand) -> int | None:
    """The most intervals of the coarser grid that the limits allow for."""
    own = _count(parameters, intervals)
    if own > MOST_SETTINGS or own * demand.own_bytes > OWN_BYTES:
        return None
    for coarse in (n for n in range(min(intervals, MOST_ASSUMED), 0, -1) if intervals % n == 0):
        pairs = own * _count(parameters, coarse)
        costs = (demand.pair_bytes, demand.pair_values, demand.pair_operations)
        if all(pairs * cost <= most for cost, most in zip(costs, MOST, strict=True)):
            return coarse
    return None


def _count(parameters: Sequence[Parameter], intervals: int) -> int:
    return math.prod(_values(p, intervals) for p in parameters)


def _values(parameter: Parameter, intervals: int) -> int:
    return intervals + (not parameter.periodic)


def described(grid: PageGrid) -> str:
    """How the grid was chosen, for people."""
    steps = ", ".join(
        f"{p.name} in steps of {(p.high - p.low) / grid.intervals:.3g} {p.unit}".rstrip()
        for p in grid.parameters
    )
    return (
        f"Computed in advance for {len(grid.settings):,} settings ({steps}): the finest grid that keeps this "
        f"page below 12 MB and its making short. With the wrong setting switched on, the network can be "
        f"configured for {len(grid.assumed):,} of them, whatever the input."
    )
