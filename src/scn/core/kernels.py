"""Layers that treat K weight sets in one batched or grouped call.

The samples of a batch form K groups, each with weights of its own. While a batch runs, a `Several` stands
where a layer has a parameter. torch hands each function that meets it to a kernel, which does what the
function does, for all groups at once and on the whole batch, so that the statistics of a BatchNorm are those
of the batch and not of one group.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm

from scn.core.gains import Gains
from scn.core.precision import full_precision


class NeedsUnit(Exception):
    """What was asked for takes one weight set at a time: the groups must run one by one."""

    def __str__(self) -> str:
        return "its inputs and outputs must have the batch as their first dimension"


@dataclass(frozen=True)
class Groups:
    """How the batch is divided: `batch` samples in `count` groups of equal size."""

    count: int
    batch: int

    @property
    def samples(self) -> int:
        """Samples in one group."""
        return self.batch // self.count

    def holds_batch(self, x: Any, dim: int = 0) -> bool:
        """Whether x is a tensor whose dimension `dim` counts samples (or several rows for each sample)."""
        return isinstance(x, Tensor) and x.dim() > dim and x.shape[dim] > 0 and x.shape[dim] % self.batch == 0

    def divide(self, x: Tensor) -> Tensor:
        """(m*B, ...) -> (K, m*B/K, ...): samples of one group together."""
        if not self.holds_batch(x):
            raise NeedsUnit
        return x.reshape(self.count, x.shape[0] // self.count, *x.shape[1:])


class Several:
    """One parameter under K configurations, in the place of a tensor.

    It has K mixed `sets` (K, *shape); or D `bases` (D, *shape) still to be mixed by `beta` (K, D); or both,
    for layers that may be shown the same in every group.
    """

    def __init__(
        self, groups: Groups, sets: Tensor | None, beta: Tensor | None = None, bases: Tensor | None = None
    ) -> None:
        self.groups, self.sets, self.beta, self.bases = groups, sets, beta, bases

    @classmethod
    def __torch_function__(
        cls, function: Callable[..., Any], _: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if function not in KERNELS:
            raise NeedsUnit
        return KERNELS[function](*args, **(kwargs or {}))

    def __getattr__(self, name: str) -> Any:
        raise NeedsUnit

    def mixed(self) -> Tensor:
        """(K, *shape)."""
        if self.sets is not None:
            return self.sets
        assert self.beta is not None
        assert self.bases is not None
        with full_precision(self.beta):
            return (self.beta @ self.bases.flatten(1)).view(len(self.beta), *self.bases.shape[1:])

    def shared_input(self, grouped: Tensor) -> Tensor | None:
        """grouped: (K, n, ...) -> (n, ...) if D bases can do for K networks: all groups are the same."""
        if self.sets is None or self.bases is None or len(grouped) <= len(self.bases):
            return None
        first = grouped[:1]
        if not torch.equal(grouped[-1:], first) or not torch.equal(grouped, first.expand_as(grouped)):
            return None
        return grouped[0]

    def mix_outputs(self, every: Tensor) -> Tensor:
        """every: (n, D*O, ...), the outputs of all bases -> (K, n, O, ...)."""
        assert self.beta is not None
        assert self.bases is not None
        return torch.tensordot(
            self.beta.to(every.dtype), every.unflatten(1, (len(self.bases), -1)), ([1], [1])
        )


def _groups(*parameters: Any) -> Groups:
    return next(p.groups for p in parameters if isinstance(p, Several))


def _sets(parameter: Any) -> Any:
    """(K, *shape), or (1, *shape) for a shared parameter, or None where the layer has none."""
    if isinstance(parameter, Several):
        return parameter.mixed()
    return None if parameter is None else parameter.unsqueeze(0)


def _linear(x: Tensor, weight: Any, bias: Any = None) -> Tensor:
    if x.dim() < 2:
        raise NeedsUnit
    groups = _groups(weight, bias)
    grouped, shifts = groups.divide(x), _sets(bias)
    same = weight.shared_input(grouped) if isinstance(weight, Several) else None
    if same is not None:
        out = weight.mix_outputs(F.linear(same.flatten(0, -2), weight.bases.flatten(0, 1)))
    elif isinstance(weight, Several) and weight.sets is None:
        out = _mixed_outputs(grouped.flatten(1, -2), weight.beta, weight.bases)
    else:
        # W x^T rather than x W^T: the gradient of W then has the layout of W, and nothing is copied.
        out = torch.bmm(_sets(weight).expand(groups.count, -1, -1), grouped.flatten(1, -2).mT).mT
    out = out if shifts is None else out + shifts.unsqueeze(1)
    return out.reshape(*x.shape[:-1], out.shape[-1])


def _mixed_outputs(x: Tensor, beta: Any, bases: Any) -> Tensor:
    """x: (K, rows, I), beta: (K, D), bases: (D, O, I) -> (K, rows, O): sum_i beta_i (x W_i^T)."""
    every = F.linear(x, bases.flatten(0, 1)).unflatten(2, bases.shape[:2])
    return (every * beta[:, None, :, None]).sum(dim=2)


def _convolution(
    convolve: Callable[..., Tensor],
    x: Tensor,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """One grouped convolution: the K groups of samples become K groups of channels."""
    sets, biases = _sets(weight), _sets(bias)
    if x.dim() != sets.dim() - 1:
        raise NeedsUnit
    divided = _groups(weight, bias)
    count, grouped = divided.count, divided.divide(x)
    same = weight.shared_input(grouped) if isinstance(weight, Several) and groups == 1 else None
    if same is not None:
        out = weight.mix_outputs(convolve(same, weight.bases.flatten(0, 1), None, stride, padding, dilation))
        return _shifted(out, None, biases, trailing=False).flatten(0, 1)
    channels = grouped.transpose(0, 1).flatten(1, 2)
    kernels = sets.expand(count, *sets.shape[1:]).flatten(0, 1)
    shifts = None if biases is None else biases.expand(count, -1).flatten()
    out = convolve(channels, kernels, shifts, stride, padding, dilation, count * groups)
    return out.unflatten(1, (count, -1)).transpose(0, 1).flatten(0, 1)


def _shifted(out: Tensor, weight: Any, bias: Any, trailing: bool) -> Tensor:
    """out: (K, n, ...), scaled and shifted by (K, *shape): shape last, or, for channels, after (K, n)."""
    for value, apply in ((weight, torch.mul), (bias, torch.add)):
        if value is not None:
            ones = (1,) * (out.dim() - value.dim())
            shape = (*ones, *value.shape[1:]) if trailing else (1, *value.shape[1:], *ones[1:])
            out = apply(out, value.view(len(value), *shape))
    return out


def affine(x: Tensor, normalised: Tensor, weight: Any, bias: Any, trailing: bool = False) -> Tensor:
    """What a norm layer made of the whole batch x, under scale and shift of each group."""
    out = _shifted(_groups(weight, bias).divide(normalised), _sets(weight), _sets(bias), trailing)
    return out.reshape_as(x).to(x.dtype)


def _by_statistics(
    normalise: Callable[..., Tensor], x: Tensor, mean: Any, var: Any, weight: Any = None, bias: Any = None,
    *rest: Any, **options: Any,
) -> Tensor:  # fmt: skip
    """Under autocast x has fewer bits than the statistics have."""
    exact = x if mean is None else x.to(mean.dtype)
    return affine(x, normalise(exact, mean, var, None, None, *rest, **options), weight, bias)


def _layer_norm(x: Tensor, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    return affine(x, F.layer_norm(x, shape, None, None, eps), weight, bias, trailing=True)


def _group_norm(x: Tensor, count: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    return affine(x, F.group_norm(x, count, None, None, eps), weight, bias)


def _rms_norm(x: Tensor, shape: Any, weight: Any = None, eps: float | None = None) -> Tensor:
    return affine(x, F.rms_norm(x, shape, None, eps), weight, None, trailing=True)


KERNELS: dict[Callable[..., Any], Callable[..., Tensor]] = {
    F.linear: _linear,
    F.conv1d: partial(_convolution, F.conv1d),
    F.conv2d: partial(_convolution, F.conv2d),
    F.conv3d: partial(_convolution, F.conv3d),
    F.batch_norm: partial(_by_statistics, F.batch_norm),
    F.instance_norm: partial(_by_statistics, F.instance_norm),
    F.layer_norm: _layer_norm,
    F.group_norm: _group_norm,
    F.rms_norm: _rms_norm,
}

# By the forward function, so that a subclass with a forward of its own is not mistaken for its parent.
LAYERS = {
    kind.forward
    for kind in (
        nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, _BatchNorm, _InstanceNorm, nn.LayerNorm, nn.GroupNorm,
        nn.RMSNorm, Gains,
    )
}  # fmt: skip


def is_ordinary(module: nn.Module) -> bool:
    """Whether a layer calls no function on its parameters but one that has a kernel."""
    return "forward" not in vars(module) and type(module).forward in LAYERS
