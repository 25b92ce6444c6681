"""Modules that no kernel serves: each group of the batch gets its own weights and samples in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.utils.rnn import PackedSequence
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from scn.core.errors import ScnError
from scn.core.kernels import Groups, Mixed, NeedsUnit, normalisation
from scn.core.substitute import call_with

Weights = Mapping[str, Tensor]  # parameters by name, each (K, *shape)


def run_unit(unit: nn.Module, groups: Groups, weights: Weights, args: tuple[Any, ...], kwargs: Any) -> Any:
    """unit(*args, **kwargs), each group under its own weights."""
    if not any(_holds_batch(leaf, groups) for leaf in tree_leaves((args, kwargs))):
        raise NeedsUnit
    norms = [m for m in unit.modules() if isinstance(m, _BatchNorm) and m.training]
    if not norms:
        return _one_by_one(unit, groups, weights, args, kwargs)
    special = [m for m in norms if type(m).forward is not _BatchNorm.forward]
    if special:
        raise ScnError(
            f"{type(special[0]).__name__} is a BatchNorm with a forward of its own, inside a module that "
            "several alpha run through: train it with one alpha per batch (alpha of shape (S,))"
        )
    try:
        return _at_once(unit, groups, weights, norms, args, kwargs)
    except (RuntimeError, TypeError) as error:
        raise ScnError(
            f"{type(unit).__name__} has parameters of its own and a BatchNorm inside, and cannot be run "
            f"for several alpha at once while it trains ({str(error).partition(chr(10))[0]}): give these "
            "parameters a module of their own, leave them out by configurable=, or train with one alpha "
            "per batch"
        ) from error


def _one_by_one(unit: nn.Module, groups: Groups, weights: Weights, args: tuple[Any, ...], kwargs: Any) -> Any:
    """One call per group: works for whatever the module does."""
    recurrent = isinstance(unit, nn.RNNBase)
    if any(isinstance(value, PackedSequence) for value in args) or (recurrent and not unit.batch_first):
        raise NeedsUnit
    states = 1 if recurrent else 0  # recurrent layers have the batch of their states in dimension 1
    outputs = []
    for k in range(groups.count):
        first = tree_map(partial(_part, groups, 0, k), args[:1])
        rest, named = args[1:], kwargs
        if groups.extras:
            rest, named = tree_map(partial(_part, groups, states, k), (rest, named))
        one = {name: sets[k] for name, sets in weights.items()}
        outputs.append(call_with(unit, one, (*first, *rest), named))
    if recurrent:
        out, state = zip(*outputs, strict=True)
        return _joined(out, groups, 0), _joined(state, groups, states)
    return _joined(outputs, groups, 0)


def _holds_batch(leaf: Any, groups: Groups) -> bool:
    return isinstance(leaf, Tensor) and groups.holds_batch(leaf, 0)


def _part(groups: Groups, dim: int, k: int, leaf: Any) -> Any:
    """Group k's part of a tensor that holds the batch; anything else as it is."""
    if not isinstance(leaf, Tensor) or not groups.holds_batch(leaf, dim):
        return leaf
    return leaf.chunk(groups.count, dim)[k]


def _joined(values: Sequence[Any], groups: Groups, dim: int) -> Any:
    """What the K calls returned as what one call would have returned."""
    flat = [tree_flatten(value) for value in values]
    columns = zip(*(leaves for leaves, _ in flat), strict=True)
    return tree_unflatten([_joined_leaf(column, groups, dim) for column in columns], flat[0][1])


def _joined_leaf(values: Sequence[Any], groups: Groups, dim: int) -> Any:
    first = values[0]
    if isinstance(first, Tensor):
        if first.dim() <= dim or first.shape[dim] % groups.samples:
            raise NeedsUnit
        return torch.cat(list(values), dim)
    if not isinstance(first, str | float | int | torch.dtype | None) or any(v != first for v in values):
        raise ScnError(
            f"a module of the backbone returns a {type(first).__name__}, which cannot be joined over "
            "several alpha: return tensors, or tuples, lists and dicts of them, or pass alpha of shape (S,)"
        )
    return first


def _at_once(
    unit: nn.Module,
    groups: Groups,
    weights: Weights,
    norms: Sequence[nn.Module],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """All groups in step, by vmap, so that each BatchNorm inside can see the whole batch."""

    def divided(leaf: Any) -> Any:
        return groups.divide(leaf) if _holds_batch(leaf, groups) else leaf

    def joined(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor) or leaf.dim() < 2 or leaf.shape[1] % groups.samples:
            raise NeedsUnit
        return leaf.flatten(0, 1)

    inputs = (args, kwargs)
    axes = tree_map(lambda leaf: 0 if _holds_batch(leaf, groups) else None, inputs)
    for norm in norms:
        vars(norm)["forward"] = partial(_whole_batch_norm, norm, groups)
    try:
        run_group = torch.func.vmap(
            lambda w, values: call_with(unit, w, *values), in_dims=(0, axes), randomness="different"
        )
        return tree_map(joined, run_group(dict(weights), tree_map(divided, inputs)))
    finally:
        for norm in norms:
            del vars(norm)["forward"]


def _whole_batch_norm(norm: nn.Module, groups: Groups, x: Tensor) -> Tensor:
    parameters = norm._parameters
    return _WholeBatchNorm.apply(x, parameters.get("weight"), parameters.get("bias"), norm, groups)


class _WholeBatchNorm(torch.autograd.Function):
    """A BatchNorm that, inside vmap over the groups, normalises over all groups together."""

    @staticmethod
    def forward(*_: Any) -> Tensor:
        raise RuntimeError("a BatchNorm sees something other than the batch")

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing to keep: the operations of `vmap` have derivatives of their own."""

    @staticmethod
    def vmap(
        _: Any, in_dims: tuple[int | None, ...], x: Tensor, weight: Any, bias: Any, norm: Any, groups: Groups
    ) -> tuple[Tensor, int]:
        rows = x.movedim(in_dims[0] or 0, 0).flatten(0, 1)
        values = zip(("weight", "bias"), (weight, bias), in_dims[1:3], strict=True)
        sets = {name: Mixed(v.movedim(dim, 0)) for name, v, dim in values if dim is not None}
        return groups.divide(normalisation(norm, groups, sets, rows)), 0
