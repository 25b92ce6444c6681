"""How the sums of a layer become its values: by whole numbers, from tables that the generated C holds too.

A row's sum is multiplied by (step of its weights) * (gain) * (scale of the input) / (scale of its values).
The tables are scaled by powers of two, row by row, so that what is mixed from them fits whole numbers; what
was scaled is taken back by `unit` and `joint`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from scn.export.fixed_point import LARGEST, WORD, high, whole

MOST_FRACTION = 16
SPARE = 8  # by how much a factor may exceed that of the largest base model: maps that are no mean
OFFSET = 2**30
SHARE = 32768  # parts of a whole in which the base models' shares are counted
MOST_SHARE = SHARE - 1
MOST_WEIGHT = 127


@dataclass(frozen=True)
class Rescaling:
    """The tables of one layer. scale: (M, rows), of its stored weights; gain, inner: (D, rows) or None.

    `source` and `target` are the scales of the values that it reads and makes.
    """

    scale: Tensor
    bias: Tensor
    gain: Tensor | None
    inner: Tensor | None
    source: float
    target: float
    dims: int

    @property
    def mixed(self) -> bool:
        """Whether anything here depends on alpha."""
        return len(self.scale) > 1 or len(self.bias) > 1 or self.gain is not None

    @property
    def limit(self) -> int:
        """Of each term of a sum over the base models."""
        return 2**30 // self.dims

    @cached_property
    def fraction(self) -> int:
        """Bits of a value behind the point before it is rounded."""
        largest = unit_of(self.scale, self.gain, self.source) / self.target
        most = float(self.bias.abs().max())
        if self.gain is not None and self.inner is not None:
            most += float((self.gain.abs().amax(0) * self.inner.abs().amax(0)).max())
        room = min(1 / (SPARE * largest), OFFSET / 2 / max(most / self.target, 1e-30))
        return max(0, min(MOST_FRACTION, math.floor(math.log2(room))))

    @property
    def half(self) -> int:
        return 2**self.fraction // 2

    @property
    def _bits(self) -> int:
        return min(22, self.limit.bit_length() - 2)

    def _powers(self, values: Tensor) -> Tensor:
        """For each row, a power of two that makes its largest value a whole number of `bits`."""
        largest = values.abs().amax(dim=0)
        largest = largest.where(largest > 0, 1.0)
        return torch.exp2(self._bits - torch.log2(largest).ceil())

    @cached_property
    def scales(self) -> Tensor:
        """(M, rows) in float32: the scales, made comparable."""
        return (self.scale * self._powers(self.scale)).float()

    @cached_property
    def gains(self) -> Tensor | None:
        return None if self.gain is None else (self.gain * self._powers(self.gain)).float()

    @cached_property
    def inners(self) -> Tensor | None:
        return None if self.inner is None else (self.inner * self._powers(self.inner)).float()

    @cached_property
    def biases(self) -> Tensor:
        """(V, rows) in float32: what the offset is mixed from."""
        return (self.bias * 2**self.fraction / self.target).float()

    @cached_property
    def unit(self) -> Tensor:
        """(rows,) in float32: what makes a multiplier of a mixed scale, and of a mixed gain."""
        unit = 2 ** (WORD + self.fraction) * self.source / self.target / self._powers(self.scale)
        return (unit if self.gain is None else unit / self._powers(self.gain)).float()

    @cached_property
    def joint(self) -> Tensor | None:
        """(rows,) in float32: what makes a part of the offset of a mixed gain and a mixed inner bias."""
        if self.gain is None or self.inner is None:
            return None
        powers = self._powers(self.gain) * self._powers(self.inner)
        return (2**self.fraction / self.target / powers).float()

    def _terms(self, values: Tensor, beta: Tensor) -> Tensor:
        """Each base model's part of a mixture (D, rows) in whole numbers."""
        return whole(beta.float().unsqueeze(1) * values, self.limit)

    def _mixed_gain(self, beta: Tensor) -> Tensor | None:
        return None if self.gains is None else self._terms(self.gains, beta).sum(0).float()

    def offset(self, beta: Tensor) -> Tensor:
        """(rows,) whole numbers; with what rounds the values."""
        if not self.mixed:
            return whole(self.biases[0], OFFSET // 2) + self.half
        sums = self._terms(self.biases.expand(self.dims, -1), beta).sum(0)
        gain = self._mixed_gain(beta)
        if gain is not None and self.inners is not None and self.joint is not None:
            inner = self._terms(self.inners, beta).sum(0).float()
            sums = sums + whole(gain * inner * self.joint, OFFSET // 2)
        return sums.clamp(-OFFSET // 2, OFFSET // 2) + self.half

    def shares(self, beta: Tensor) -> tuple[Tensor, Tensor]:
        """(D, rows): the part of each base model in a row; and the row's mixed scale (rows,)."""
        terms = self._terms(self.scales, beta)
        step = terms.abs().sum(0)
        part = torch.tensor(float(SHARE)) / step.where(step > 0, 1).float()
        return whole(terms.float() * part, MOST_SHARE), step

    def multiplier(self, beta: Tensor) -> Tensor:
        """(rows,): what the sums of mixed rows are multiplied by."""
        step = self.scales[0] if len(self.scales) == 1 else self.shares(beta)[1].float()
        return self._by_unit(step, beta)

    def multipliers(self, beta: Tensor) -> Tensor:
        """(D, rows): what the sums of each base model's own rows are multiplied by."""
        return self._by_unit(beta.float().unsqueeze(1) * self.scales, beta)

    def _by_unit(self, step: Tensor, beta: Tensor) -> Tensor:
        gain = self._mixed_gain(beta)
        return whole(step * self.unit if gain is None else step * self.unit * gain, LARGEST)

    def values(self, high_words: Tensor, beta: Tensor) -> Tensor:
        """From high words (N, rows, ...) to numbers of steps."""
        return (high_words + self.offset(beta).view(-1, 1, 1)) >> self.fraction


def unit_of(scale: Tensor, gain: Tensor | None, source: float) -> float:
    """What a sum of 1 stands for, in the row where that is most."""
    rows = scale.amax(dim=0) if gain is None else scale.amax(dim=0) * gain.abs().amax(dim=0)
    return float(rows.max()) * source


def row_values(sums: Tensor, multiplier: Tensor) -> Tensor:
    """High words of sums (N, rows, ...) by multipliers (rows,)."""
    return high(sums, multiplier.view(-1, 1, 1))


def mixed_rows(weight: Tensor, shares: Tensor) -> Tensor:
    """(D, rows, columns) whole weights by their shares (D, rows): rows of 8 bits."""
    sums = (shares.unsqueeze(2) * weight.long()).sum(dim=0)
    return ((sums + SHARE // 2) >> 15).clamp(-MOST_WEIGHT, MOST_WEIGHT).double()


def rounded_shares(weight: Tensor, beta: Tensor) -> Tensor:
    """(D, rows): beta, where base models of 8 bits (D, rows, columns) are mixed to floats by whole numbers.

    What a row of each is multiplied by, beta times its step, is counted in parts of their sum.
    """
    step = weight.abs().amax(dim=2) / MOST_WEIGHT
    step = step.where(step > 0, 1.0)
    terms = beta.to(step).unsqueeze(1) * step
    total = terms.abs().sum(dim=0)
    part = total.where(total > 0, 1.0) / MOST_SHARE
    return (terms / part).round() * part / step
