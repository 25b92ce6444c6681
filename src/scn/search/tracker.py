"""Follow a setting that drifts, over a stream of single inputs, and notice when it is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from scn.core.errors import ScnError
from scn.core.network import SCN
from scn.search.grid import Grid
from scn.transforms import Transform

NEAR = 1 / 12  # of a parameter's range: what counts as one place
ENOUGH = 0.5  # of the belief near one place, or the tracker is lost
WORTH = 0.05  # change of beta, summed over bases, from which on it pays to mix the weights anew


@dataclass(frozen=True)
class Tracked:
    """What is believed after one input."""

    params: Tensor  # (P,)
    spread: Tensor  # (P,): standard deviation of the belief, in the unit of the parameter
    lost: bool  # whether the belief is spread over several places
    logits: Tensor | None  # (classes,) of the configured network; None if the input was skipped
    reconfigured: bool  # whether the weights were mixed anew for this input


def move_weights(away: Tensor, moved: Tensor) -> Tensor:
    """How much speaks for a move by `away`, along one parameter that moves by `moved`, both in grid steps.

    A drift below one step of the grid becomes a step to a neighbour now and then, of the same variance.
    """
    often = moved.square()
    neighbour = torch.where(away < 0.5, 1 - often, torch.where(away < 1.5, often / 2, 0.0))
    return torch.where(moved < 1, neighbour, torch.exp(-0.5 * (away / moved).square()))


class Tracker:
    """A Bayes filter on a grid of settings.

    `drift` says how far the setting may move from one input to the next (standard deviation of each
    parameter, in its unit), `jump` how likely it is anywhere at all from one input to the next. An input
    that holds NaN is skipped: what is believed only spreads as it does with time.
    """

    def __init__(
        self,
        net: SCN,
        transform: Transform,
        drift: float | Sequence[float],
        jump: float = 0.01,
        steps: int | None = None,
        doubt: str = "evidence",
    ) -> None:
        if not 0 <= jump < 1:
            raise ScnError(f"jump is a probability below 1, but is {jump}")
        self.search = Grid(net, transform, steps, doubt)
        self.net, self.transform = self.search.net, transform
        self.candidates, self.bank = self.search.candidates, self.search.bank
        self.belief = torch.full((len(self.candidates),), 1 / len(self.candidates))
        self.drift, self.jump = torch.as_tensor(drift, dtype=torch.float32), jump
        self.move = self._transition(self.drift, jump)
        self.plain: nn.Module | None = None
        self.beta = torch.zeros(net.dims)  # of the configured network

    def _transition(self, drift: Tensor, jump: float) -> Tensor:
        """(C, C): how likely each setting follows on each."""
        count = len(self.transform.parameters)
        if drift.numel() not in (1, count) or not bool(((drift >= 0) & drift.isfinite()).all()):
            raise ScnError(f"drift must be one number of at least 0, or {count}, but is {drift.tolist()}")
        away = self.search.offset(self.candidates.unsqueeze(0), self.candidates.unsqueeze(1)).abs()
        away, moved = away / self.search.cells, drift.expand(count) / self.search.cells
        kernel = move_weights(away, moved).prod(dim=-1)
        kernel /= kernel.sum(dim=1, keepdim=True)
        return (1 - jump) * kernel + jump / len(kernel)

    @torch.no_grad()
    def __call__(self, x: Tensor) -> Tracked:
        """x: one input as the network takes it: a batch of one.

        The batch dimension may be left out where the backbone has a `shape`, as those of scn do.
        """
        x = self._batch(x)
        self.belief = self.belief @ self.move
        usable = bool(torch.isfinite(x).all())
        if usable:
            doubts = self.search.doubts(self.bank(x), 1).squeeze(1)
            log = self.belief.log() - doubts / self.search.doubt.temperature
            self.belief = log.softmax(dim=0)
        params, spread, lost = self._estimate()
        reconfigured = self._configure(params) if usable or self.plain is None else False
        assert self.plain is not None
        logits = self.plain(x).squeeze(0) if usable else None
        return Tracked(params, spread, lost, logits, reconfigured)

    def _batch(self, x: Tensor) -> Tensor:
        """x as a batch of one."""
        shape = getattr(self.net.backbone, "shape", None)
        x = x.unsqueeze(0) if shape is not None and x.dim() == len(shape) else x
        if len(x) != 1:
            raise ScnError(f"a tracker takes one input at a time, but got a batch of {len(x)}")
        return x

    def _estimate(self) -> tuple[Tensor, Tensor, bool]:
        """The mean of the belief around its peak, the spread of all of it, and whether it is lost."""
        peak = self.candidates[self.belief.argmax()]
        offset = self.search.offset(self.candidates, peak)
        near = self.transform.distance(self.candidates, peak) <= NEAR
        inside = self.belief * near
        mean = (offset * inside.unsqueeze(1)).sum(dim=0) / inside.sum()
        spread = ((offset - mean).square() * self.belief.unsqueeze(1)).sum(dim=0).sqrt()
        return self.search.bounded(peak + mean), spread, bool(inside.sum() < ENOUGH)

    def _configure(self, params: Tensor) -> bool:
        """Mix the weights for this setting, if they would differ enough from what they are."""
        alpha = self.transform.encode(params)
        beta = self.net.beta(alpha)
        if self.plain is not None and float((beta - self.beta).abs().sum()) < WORTH:
            return False
        self.plain, self.beta = self.net.configure(alpha, into=self.plain).eval(), beta
        return True
