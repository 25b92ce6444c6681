"""Layers that treat K weight sets in one batched or grouped call.

The samples of a batch form K groups, each with weights of its own. A kernel does what the layer's
own forward does, for all groups at once and on the whole batch, so that the statistics of a
BatchNorm are those of the batch and not of one group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm
from torch.utils._pytree import tree_map

from scn.core.precision import full_precision


class NeedsUnit(Exception):
    """The module around the place this was raised at must run once per group."""


@dataclass(frozen=True)
class Mixed:
    """One parameter under K configurations, mixed already."""

    sets: Tensor  # (K, *shape)

    def mixed(self) -> Tensor:
        return self.sets


@dataclass(frozen=True)
class Unmixed:
    """One parameter under K configurations, as D bases still to be mixed."""

    beta: Tensor  # (K, D)
    bases: Tensor  # (D, *shape)

    def mixed(self) -> Tensor:
        """(K, *shape)."""
        with full_precision(self.beta):
            return (self.beta @ self.bases.flatten(1)).view(len(self.beta), *self.bases.shape[1:])


@dataclass(frozen=True)
class Kept(Mixed):
    """Mixed already, and the bases at hand for a layer that is shown the same in every group."""

    beta: Tensor  # (K, D)
    bases: Tensor  # (D, *shape)

    def shared(self, grouped: Tensor) -> Tensor | None:
        """grouped: (K, n, ...) -> (n, ...) if all groups are the same, so that D bases do for K networks."""
        first = grouped[:1]
        if len(grouped) <= len(self.bases) or not torch.equal(grouped[-1:], first):
            return None
        return grouped[0] if torch.equal(grouped, first.expand_as(grouped)) else None

    def mix_answers(self, every: Tensor, dim: int) -> Tensor:
        """every: the outputs of all bases, D*O of them in dimension `dim` -> (K, ...) with O there."""
        return torch.tensordot(
            self.beta.to(every.dtype), every.unflatten(dim, (len(self.bases), -1)), ([1], [dim])
        )


@dataclass(frozen=True)
class Groups:
    """How the batch is divided: `batch` samples in `count` groups of equal size."""

    count: int
    batch: int
    extras: bool = True  # whether arguments of the backbone beside the first may hold the batch

    @property
    def samples(self) -> int:
        """Samples in one group."""
        return self.batch // self.count

    def holds_batch(self, x: Tensor, dim: int) -> bool:
        """Whether dimension `dim` counts samples (or several rows for each sample)."""
        return x.dim() > dim and x.shape[dim] > 0 and x.shape[dim] % self.batch == 0

    def without_extras(self) -> Groups:
        """The same groups, for a backbone whose further arguments are for all samples."""
        return replace(self, extras=False)

    def inside(self) -> Groups:
        """The same groups for a module inside the backbone, whose arguments are activations."""
        return replace(self, extras=True)

    def group_of(self, leaf: Any, k: int) -> Any:
        """Group k's part of a tensor with one row for each sample; anything else as it is."""
        if isinstance(leaf, Tensor) and leaf.dim() and leaf.shape[0] == self.batch:
            return leaf.chunk(self.count)[k]
        return leaf

    def arguments_of(self, args: tuple[Any, ...], kwargs: dict[str, Any], k: int) -> tuple[Any, Any]:
        """Group k's part of the arguments of the backbone."""
        first = tree_map(lambda leaf: self.group_of(leaf, k), args[:1])
        if not self.extras:
            return (*first, *args[1:]), kwargs
        rest, named = tree_map(lambda leaf: self.group_of(leaf, k), (args[1:], kwargs))
        return (*first, *rest), named

    def divide(self, x: Tensor) -> Tensor:
        """(m*B, ...) -> (K, m*B/K, ...): samples of one group together."""
        if not self.holds_batch(x, 0):
            raise NeedsUnit
        return x.reshape(self.count, x.shape[0] // self.count, *x.shape[1:])


Parameters = Mapping[str, Mixed | Unmixed]  # Kept is a Mixed
Kernel = Callable[[nn.Module, Groups, Parameters, Tensor], Tensor]


def _mixed(module: nn.Module, parameters: Parameters, name: str) -> Tensor | None:
    """(K, *shape), or (1, *shape) for a shared parameter, or None where the layer has none."""
    if name in parameters:
        return parameters[name].mixed()
    shared = module._parameters.get(name)
    return None if shared is None else shared.unsqueeze(0)


def _linear(module: nn.Module, groups: Groups, parameters: Parameters, x: Tensor) -> Tensor:
    if x.dim() < 2:
        raise NeedsUnit
    grouped = groups.divide(x)
    bias = _mixed(module, parameters, "bias")
    weight = parameters.get("weight")
    same = weight.shared(grouped) if isinstance(weight, Kept) else None
    if isinstance(weight, Unmixed):
        out = _mix_outputs(grouped, weight.beta, weight.bases)
    elif isinstance(weight, Kept) and same is not None:
        out = weight.mix_answers(F.linear(same.flatten(0, -2), weight.bases.flatten(0, 1)), 1)
    else:
        sets = _mixed(module, parameters, "weight")
        assert sets is not None
        # W x^T rather than x W^T: the gradient of W then has the layout of W, and nothing is copied.
        out = torch.bmm(sets.expand(groups.count, -1, -1), grouped.flatten(1, -2).mT).mT
    out = out if bias is None else out + bias.unsqueeze(1)
    return out.reshape(*x.shape[:-1], out.shape[-1])


def _mix_outputs(x: Tensor, beta: Tensor, bases: Tensor) -> Tensor:
    """x: (K, n, ..., I), beta: (K, D), bases: (D, O, I) -> (K, rows, O): sum_i beta_i (x W_i^T)."""
    dims, features, _ = bases.shape
    every = F.linear(x.flatten(1, -2), bases.reshape(dims * features, -1))
    every = every.view(*every.shape[:2], dims, features)
    return (every * beta[:, None, :, None]).sum(dim=2)


_CONVOLUTIONS: dict[type[nn.Module], Callable[..., Tensor]] = {
    nn.Conv1d: F.conv1d,
    nn.Conv2d: F.conv2d,
    nn.Conv3d: F.conv3d,
}


def _convolution(module: nn.Module, groups: Groups, parameters: Parameters, x: Tensor) -> Tensor:
    """One grouped convolution: the K groups of samples become K groups of channels."""
    assert isinstance(module, nn.Conv1d | nn.Conv2d | nn.Conv3d)
    if x.dim() != len(module.kernel_size) + 2:
        raise NeedsUnit
    count = groups.count
    weight = _mixed(module, parameters, "weight")
    bias = _mixed(module, parameters, "bias")
    assert weight is not None
    grouped = groups.divide(x)
    convolve = next(f for kind, f in _CONVOLUTIONS.items() if isinstance(module, kind))
    how = {"stride": module.stride, "padding": module.padding, "dilation": module.dilation}
    kept = parameters.get("weight")
    same = kept.shared(grouped) if isinstance(kept, Kept) and module.groups == 1 else None
    if isinstance(kept, Kept) and same is not None:
        out = kept.mix_answers(convolve(same, kept.bases.flatten(0, 1), **how), 1)
        return (out if bias is None else out + _aligned(bias, out.dim(), trailing=False)).flatten(0, 1)
    channels = grouped.transpose(0, 1).flatten(1, 2)
    out = convolve(
        channels,
        weight.expand(count, *weight.shape[1:]).flatten(0, 1),
        None if bias is None else bias.expand(count, -1).flatten(),
        groups=count * module.groups,
        **how,
    )
    return out.unflatten(1, (count, -1)).transpose(0, 1).flatten(0, 1)


def normalisation(module: nn.Module, groups: Groups, parameters: Parameters, x: Tensor) -> Tensor:
    """The layer's own normalisation over the whole batch, then scale and shift of each group."""
    weight, bias = (_mixed(module, parameters, name) for name in ("weight", "bias"))
    with _removed(module, "weight", "bias"):
        out = groups.divide(type(module).forward(module, _as_statistics(module, x)))
    trailing = isinstance(module, nn.LayerNorm | nn.RMSNorm)
    for value, apply in ((weight, torch.mul), (bias, torch.add)):
        if value is not None:
            out = apply(out, _aligned(value, out.dim(), trailing))
    return out.reshape_as(x).to(x.dtype)


def _as_statistics(module: nn.Module, x: Tensor) -> Tensor:
    """x in the type of the layer's statistics: under autocast x has fewer bits than they have."""
    mean = module._buffers.get("running_mean")
    return x if mean is None else x.to(mean.dtype)


def _aligned(value: Tensor, dim: int, trailing: bool) -> Tensor:
    """(K, *shape) -> `dim` dimensions: shape last, or, for channels, right after (K, samples)."""
    ones = (1,) * (dim - value.dim())
    if trailing:
        return value.view(len(value), *ones, *value.shape[1:])
    return value.view(len(value), 1, *value.shape[1:], *ones[1:])


@contextmanager
def _removed(module: nn.Module, *names: str) -> Iterator[None]:
    """The module without these parameters, for as long as the block lasts."""
    present = {name: module._parameters[name] for name in names if name in module._parameters}
    module._parameters.update(dict.fromkeys(present))
    try:
        yield
    finally:
        module._parameters.update(present)


# By the forward function, so that a subclass with a forward of its own is not mistaken for its parent.
KERNELS: dict[Callable[..., Any], Kernel] = {
    nn.Linear.forward: _linear,
    nn.Conv1d.forward: _convolution,
    nn.Conv2d.forward: _convolution,
    nn.Conv3d.forward: _convolution,
    _BatchNorm.forward: normalisation,
    _InstanceNorm.forward: normalisation,
    nn.LayerNorm.forward: normalisation,
    nn.GroupNorm.forward: normalisation,
    nn.RMSNorm.forward: normalisation,
}


def kernel_of(module: nn.Module) -> Kernel | None:
    if "forward" in vars(module) or getattr(module, "padding_mode", "zeros") != "zeros":
        return None
    return KERNELS.get(type(module).forward)
