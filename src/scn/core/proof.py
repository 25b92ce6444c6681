"""Proof that a pass over K groups gives every group what it would get alone.

Whether an activation still has sample after sample in its first dimension cannot be read off its shape. So
the pass is carried out on a copy of the backbone, under random mixtures of the base models, and compared
with single groups. The yardstick is what the weights do: the difference must be small against the
difference that another group's weights would make.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from scn.core.kernels import Groups
from scn.core.precision import full_precision
from scn.core.subspace import Bases
from scn.core.substitute import call_with
from scn.core.units import batch_leaves, divided

CHECKED_GROUPS = 3
TOLERATED = 0.02  # of the difference that other weights make
ROUNDING = 64  # times the precision of the largest value
TRIED_LEAVES = 4  # arguments of which each may be divided or not; of more, all or none

Pass = Callable[[nn.Module, Bases, Tensor, Any, Any], Any]  # ..., beta, args, kwargs


class Verdict(Enum):
    RIGHT = "every group gets its own"
    WRONG = "groups are mixed up"
    UNSEEN = "the weights made no difference that could be seen"


@dataclass(frozen=True)
class Call:
    """A backbone, its base models, the groups of the batch, and the arguments of a call."""

    backbone: nn.Module
    bases: Bases
    groups: Groups
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def doubtful(self) -> list[int]:
        """Arguments beside the first that look as if they held the batch, as numbers of leaves."""
        first = len(tree_leaves(self.args[:1]))
        leaves = batch_leaves(self.backbone, self.groups, self.args, self.kwargs)
        return [i for i in leaves if i >= first]


@contextmanager
def trial(call: Call) -> Iterator[Trial]:
    """A trial that leaves no trace in the random numbers of others, and in which mixtures are exact."""
    with torch.random.fork_rng(), full_precision(call.bases.theta):
        torch.manual_seed(call.groups.count)
        yield Trial(call)


class Trial:
    """One kind of call on a copy of the backbone, under random mixtures of the base models.

    `shared` are the arguments that look as if they held the batch, but are for all samples; `failure` is what
    the backbone raised.
    """

    def __init__(self, call: Call) -> None:
        self.groups, self.doubtful = call.groups, call.doubtful()
        self.backbone, self.bases = quiet_copy(call.backbone), _varied(call.bases)
        self.args, self.kwargs = _with_other_values(self.doubtful, call.args, call.kwargs)
        self.shared: tuple[int, ...] = ()
        self.failure: Exception | None = None
        theta, count = self.bases.theta, self.groups.count
        self.beta = (3 * torch.randn(count, len(theta))).softmax(dim=1).to(theta)
        self.chosen = torch.randperm(count)[:CHECKED_GROUPS].tolist()
        try:
            whole = self._call(self.chosen[0], self.args, self.kwargs)
            if _differ(whole, self._call(self.chosen[0], self.args, self.kwargs)):
                self.backbone.eval()  # its answers are random in training
                whole = self._call(self.chosen[0], self.args, self.kwargs)
            self.shared = self._find_shared(whole)
        except Exception as error:  # whatever the backbone may raise
            self.failure = error

    def _find_shared(self, whole: list[Tensor]) -> tuple[int, ...]:
        """Under one weight set, a group must get what it gets as a part of the batch.

        Where samples look at each other no division does that: the first that the backbone can take serves.
        """
        repeat = min(len(self.doubtful), TRIED_LEAVES)
        possible: list[tuple[int, ...]] = []
        k = self.chosen[0]
        part = [_group_of(self.groups, value, k) for value in whole]
        for choice in itertools.product((False, True), repeat=repeat) if self.doubtful else ():
            last = choice[-1:] * (len(self.doubtful) - repeat)
            shared = tuple(itertools.compress(self.doubtful, (*choice, *last)))
            try:
                alone = self._alone(shared, k, k)
            except Exception:  # whatever the backbone may raise for a part of its arguments
                continue
            if _verdict(part, alone, alone) is not Verdict.WRONG:
                return shared
            possible.append(shared)
        return possible[0] if possible else ()

    def verdict(self, run: Pass) -> Verdict:
        """Whether `run` gives every group what it gets alone."""
        try:
            alone = [self._alone(self.shared, k, k) for k in self.chosen]
            others = [self._alone(self.shared, k, (k + 1) % self.groups.count) for k in self.chosen]
            copied = copy.deepcopy(self.backbone)
            together = [*_values(run(copied, self.bases, self.beta, *fresh(self.args, self.kwargs)))]
        except Exception as error:  # whatever the backbone may raise for a part of its arguments
            self.failure = error
            return Verdict.WRONG
        parts = ([_group_of(self.groups, value, k) for value in together] for k in self.chosen)
        found = [_verdict(*three) for three in zip(parts, alone, others, strict=True)]
        return next((v for v in (Verdict.WRONG, Verdict.RIGHT) if v in found), Verdict.UNSEEN)

    def _alone(self, shared: Collection[int], k: int, coefficients: int) -> list[Tensor]:
        parts = divided(self.backbone, self.groups, self.args, self.kwargs, shared)
        return self._call(coefficients, *next(itertools.islice(parts, k, None)))

    def _call(self, coefficients: int, args: Any, kwargs: Any) -> list[Tensor]:
        sets = self.bases.weight_sets(self.beta[coefficients : coefficients + 1])
        weights = {name: values.squeeze(0) for name, values in sets.items()}
        return [*_values(call_with(copy.deepcopy(self.backbone), weights, *fresh(args, kwargs)))]


def _with_other_values(chosen: Collection[int], args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments with values that differ from row to row, which those given may not do."""
    leaves, spec = tree_flatten((args, kwargs))
    changed = [_varied_values(x.detach()) if i in chosen else x for i, x in enumerate(leaves)]
    return tree_unflatten(changed, spec)


def _varied_values(values: Tensor) -> Tensor:
    """With noise that keeps the sign of every number."""
    if values.is_floating_point() or values.is_complex():
        noise = torch.rand_like(values.real) - 0.5
        return torch.where(values == 0, 0.1 * noise, values * (1 + noise))
    noise = torch.randint(2, values.shape, device=values.device).to(values.dtype)
    return noise if values.dtype == torch.bool else torch.where(values > 0, values - noise, values + noise)


def _varied(bases: Bases) -> Bases:
    """The base models with noise that makes them differ, but keeps the sign of every weight."""
    return Bases(bases.slots, _varied_values(bases.theta.detach()))


def quiet_copy(backbone: nn.Module) -> nn.Module:
    """A copy that may be changed at will: without hooks, dropout or new statistics."""
    quiet = copy.deepcopy(backbone)
    for module in quiet.modules():
        module._forward_hooks.clear()
        module._forward_pre_hooks.clear()
        if isinstance(module, _BatchNorm | _DropoutNd):
            module.training = False
    return quiet


def fresh(args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments with tensors of their own, which the backbone may change in place."""
    return tree_map(lambda leaf: leaf.clone() if isinstance(leaf, Tensor) else leaf, (args, kwargs))


def _group_of(groups: Groups, value: Tensor, k: int) -> Tensor:
    """Group k's part of a result with one row for each sample; any other as it is."""
    return value.chunk(groups.count)[k] if value.dim() and len(value) == groups.batch else value


def _verdict(ours: list[Tensor], alone: list[Tensor], other: list[Tensor]) -> Verdict:
    if [v.shape for v in ours] != [v.shape for v in alone]:
        return Verdict.WRONG
    verdict = Verdict.UNSEEN
    for a, b, c in zip(ours, alone, other, strict=False):
        error, effect = _distance(a, b), _distance(b, c) if b.shape == c.shape else 0.0
        noise = ROUNDING * torch.finfo(b.dtype).eps * _largest(b)
        if error > max(TOLERATED * effect, noise):
            return Verdict.WRONG
        if effect > 4 * noise:
            verdict = Verdict.RIGHT
    return verdict


def _differ(first: list[Tensor], second: list[Tensor]) -> bool:
    pairs = zip(first, second, strict=False)
    return any(a.shape != b.shape or _distance(a, b) > 0 for a, b in pairs)


def _values(result: Any) -> Iterator[Tensor]:
    """Every tensor in a result as real numbers; unknown objects are searched for tensors."""
    for leaf in tree_leaves(result):
        found = [leaf] if isinstance(leaf, Tensor) else [*getattr(leaf, "__dict__", {}).values()]
        for value in found:
            if isinstance(value, Tensor):
                real = (torch.view_as_real(value) if value.is_complex() else value).detach()
                yield real if real.is_floating_point() else real.double()


def _distance(a: Tensor, b: Tensor) -> float:
    """The largest difference; values that are not finite must agree."""
    if not a.numel():
        return 0.0
    same = (a == b) | (a.isnan() & b.isnan())
    return float(torch.where(same, torch.zeros_like(a), (a - b).abs().nan_to_num(nan=torch.inf)).max())


def _largest(a: Tensor) -> float:
    finite = a[a.isfinite()].abs()
    return float(finite.max()) if finite.numel() else 0.0
