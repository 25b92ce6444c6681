"""Proof that a pass over K groups gives every group what it would get alone.

Whether an activation still has sample after sample in its first dimension cannot be read off its shape. So
the pass is carried out on a copy of the backbone, under random mixtures of the base models, and compared
with single groups. The yardstick is what the weights do: the difference must be small against the
difference that another group's weights would make.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd
from torch.utils._pytree import tree_leaves, tree_map

from scn.core.kernels import Groups
from scn.core.precision import full_precision
from scn.core.subspace import Subspace
from scn.core.substitute import call_with

CHECKED_GROUPS = 3
TOLERATED = 0.02  # of the difference that other weights make

Pass = Callable[[nn.Module, Subspace, Groups, Tensor, Any, Any], Any]  # ..., beta, args, kwargs


class Verdict(Enum):
    RIGHT = "every group gets its own"
    WRONG = "groups are mixed up"
    UNSEEN = "the weights made no difference that could be seen"


@torch.no_grad()
def prove(
    backbone: nn.Module, subspace: Subspace, groups: Groups, run: Pass, args: Any, kwargs: Any
) -> tuple[Verdict, Groups, Exception | None]:
    """Compare `run` with single groups.

    Also says how the arguments are to be divided, and what the backbone raised if it raised something.
    """
    failure: Exception | None = None
    with torch.random.fork_rng(), full_precision(subspace.theta):
        torch.manual_seed(groups.count)
        trial = _Trial(_quiet_copy(backbone), _told_apart(subspace), groups.count, args, kwargs)
        for divided in (groups, groups.without_extras()):
            try:
                alone, others = trial.references(divided)
                quiet = copy.deepcopy(trial.backbone)
                together = [*_values(run(quiet, trial.subspace, divided, trial.beta, *_fresh(args, kwargs)))]
            except Exception as error:  # whatever the backbone may raise for a part of its arguments
                failure = error
                continue
            parts = ([groups.group_of(value, k) for value in together] for k in trial.chosen)
            found = [_verdict(*three) for three in zip(parts, alone, others, strict=True)]
            if Verdict.WRONG not in found:
                return (Verdict.RIGHT if Verdict.RIGHT in found else Verdict.UNSEEN), divided, None
    return Verdict.WRONG, groups, failure


class _Trial:
    """One backbone under random mixtures, group by group."""

    def __init__(self, backbone: nn.Module, subspace: Subspace, count: int, args: Any, kwargs: Any) -> None:
        self.backbone, self.subspace, self.args, self.kwargs = backbone, subspace, args, kwargs
        self.beta = (3 * torch.randn(count, len(subspace.theta))).softmax(dim=1).to(subspace.theta)
        self.chosen = torch.randperm(count)[:CHECKED_GROUPS].tolist()

    def references(self, groups: Groups) -> tuple[list[list[Tensor]], list[list[Tensor]]]:
        """The chosen groups alone, under their own coefficients and under those of the next group."""
        own = [self._single(groups, k, k) for k in self.chosen]
        if _differ(own[0], self._single(groups, self.chosen[0], self.chosen[0])):
            self.backbone.eval()  # its answers are random in training
            own = [self._single(groups, k, k) for k in self.chosen]
        return own, [self._single(groups, k, (k + 1) % groups.count) for k in self.chosen]

    def _single(self, groups: Groups, k: int, coefficients: int) -> list[Tensor]:
        sets = self.subspace.weight_sets(self.beta[coefficients : coefficients + 1])
        weights = {name: values.squeeze(0) for name, values in sets.items()}
        args, kwargs = groups.arguments_of(self.args, self.kwargs, k)
        return [*_values(call_with(copy.deepcopy(self.backbone), weights, *_fresh(args, kwargs)))]


def _told_apart(subspace: Subspace) -> Subspace:
    """The base models with noise that makes them differ, but keeps the sign of every weight."""
    theta = subspace.theta
    noise = torch.rand_like(theta) - 0.5
    return Subspace(subspace.slots, torch.where(theta == 0, 0.1 * noise, theta * (1 + noise)))


def _quiet_copy(backbone: nn.Module) -> nn.Module:
    """A copy that may be changed at will: without hooks, dropout or new statistics."""
    quiet = copy.deepcopy(backbone)
    for module in quiet.modules():
        module._forward_hooks.clear()
        module._forward_pre_hooks.clear()
        if isinstance(module, _BatchNorm | _DropoutNd):
            module.training = False
    return quiet


def _fresh(args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments with tensors of their own, which the backbone may change in place."""
    return tree_map(lambda leaf: leaf.clone() if isinstance(leaf, Tensor) else leaf, (args, kwargs))


def _verdict(ours: list[Tensor], alone: list[Tensor], other: list[Tensor]) -> Verdict:
    if [v.shape for v in ours] != [v.shape for v in alone]:
        return Verdict.WRONG
    verdict = Verdict.UNSEEN
    for a, b, c in zip(ours, alone, other, strict=False):
        error, effect = _distance(a, b), _distance(b, c) if b.shape == c.shape else 0.0
        noise = 64 * torch.finfo(b.dtype).eps * _largest(b)
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
                real = torch.view_as_real(value) if value.is_complex() else value
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
