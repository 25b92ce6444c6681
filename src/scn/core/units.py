"""What no kernel serves: each group of the batch gets its own weights and samples in turn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.utils.parametrize import is_parametrized
from torch.nn.utils.rnn import PackedSequence
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from scn.core.errors import ScnError
from scn.core.kernels import Groups, NeedsUnit, Several, is_ordinary
from scn.core.layout import Slot
from scn.core.substitute import in_place, weights_in_place

ROOT = ""  # the name of the backbone itself


WHOLE = frozenset({ROOT})


def find_units(backbone: nn.Module, slots: Iterable[Slot]) -> frozenset[str]:
    """The outermost modules that use parameters of these slots otherwise than an ordinary layer does."""
    names = {name for slot in slots for name in slot.names}
    found: list[str] = []
    for name, module in backbone.named_modules():
        inside = f"{name}." if name else ""
        own = any(f"{inside}{parameter}" in names for parameter in module._parameters)
        computed = is_parametrized(module) and any(full.startswith(inside) for full in names)
        covered = any(name.startswith(f"{unit}.") for unit in found)
        if not covered and (computed or (own and not is_ordinary(module))):
            if name == ROOT:
                return WHOLE
            found.append(name)
    return frozenset(found)


class Unit:
    """What runs in the place of a module's forward: that forward, group by group.

    `shared` are the arguments, numbered as leaves, that every group gets whole.
    """

    def __init__(
        self, module: nn.Module, groups: Groups, weights: Mapping[str, Several], shared: Collection[int] = ()
    ) -> None:
        self.module, self.groups, self.weights, self.shared = module, groups, weights, shared
        self.forward: Callable[..., Any] = module.forward

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not any(self.groups.holds_batch(leaf) for leaf in tree_leaves((args, kwargs))):
            raise NeedsUnit
        weights = {name: several.mixed() for name, several in self.weights.items()}
        norms = [m for m in self.module.modules() if isinstance(m, _BatchNorm) and m.training]
        if not norms:
            return self._one_by_one(weights, args, kwargs)
        special = [m for m in norms if type(m).forward is not _BatchNorm.forward]
        if special:
            raise ScnError(
                f"{type(special[0]).__name__} is a BatchNorm with a forward of its own, inside a module that "
                "several alpha run through: train it with one alpha per batch (alpha of shape (S,))"
            )
        try:
            return self._at_once(weights, norms, args, kwargs)
        except (RuntimeError, TypeError) as error:
            raise ScnError(
                f"{type(self.module).__name__} has parameters of its own and a BatchNorm inside, and cannot "
                f"be run for several alpha at once while it trains ({str(error).partition(chr(10))[0]}): "
                "give these parameters a module of their own, leave them out by configurable=, or train "
                "with one alpha per batch"
            ) from error

    def _with(self, weights: Mapping[str, Tensor], args: Any, kwargs: Any) -> Any:
        with weights_in_place(self.module, weights):
            return self.forward(*args, **kwargs)

    def _one_by_one(self, weights: Mapping[str, Tensor], args: tuple[Any, ...], kwargs: Any) -> Any:
        """One call per group: works for whatever the module does."""
        recurrent = isinstance(self.module, nn.RNNBase)
        if any(isinstance(value, PackedSequence) for value in args) or (
            recurrent and not self.module.batch_first
        ):
            raise NeedsUnit
        parts = divided(self.module, self.groups, args, kwargs, self.shared)
        outputs = [
            self._with({name: sets[k] for name, sets in weights.items()}, *part)
            for k, part in enumerate(parts)
        ]
        if recurrent:
            out, state = zip(*outputs, strict=True)
            return _joined(out, self.groups), _joined(state, self.groups, dim=1)
        return _joined(outputs, self.groups)

    def _at_once(
        self, weights: Mapping[str, Tensor], norms: Iterable[nn.Module], args: Any, kwargs: Any
    ) -> Any:
        """All groups in step, by vmap, so that each BatchNorm inside can see the whole batch."""
        leaves, spec = tree_flatten((args, kwargs))
        dims = batch_leaves(self.module, self.groups, args, kwargs)
        axes = [0 if i in dims and i not in self.shared else None for i in range(len(leaves))]
        values = [x if axis is None else self.groups.divide(x) for x, axis in zip(leaves, axes, strict=True)]

        def run_group(one: Mapping[str, Tensor], values: list[Any]) -> Any:
            return self._with(one, *tree_unflatten(values, spec))

        whole = [(vars(norm), "forward", partial(_whole_batch_norm, norm, self.groups)) for norm in norms]
        with in_place(whole):
            run_groups = torch.func.vmap(run_group, in_dims=(0, axes), randomness="different")
            return tree_map(self._flattened, run_groups(dict(weights), values))

    def _flattened(self, leaf: Any) -> Any:
        if not isinstance(leaf, Tensor) or leaf.dim() < 2 or leaf.shape[1] % self.groups.samples:
            raise NeedsUnit
        return leaf.flatten(0, 1)


def batch_leaves(module: nn.Module, groups: Groups, args: tuple[Any, ...], kwargs: Any) -> dict[int, int]:
    """Which leaves of a module's arguments look as if they held the batch, and in which dimension.

    A recurrent layer has that of its states, which come after its first argument, in dimension 1.
    """
    first, states = len(tree_leaves(args[:1])), int(isinstance(module, nn.RNNBase))
    dims = ((i, leaf, states if i >= first else 0) for i, leaf in enumerate(tree_leaves((args, kwargs))))
    return {i: dim for i, leaf, dim in dims if groups.holds_batch(leaf, dim)}


def divided(
    module: nn.Module, groups: Groups, args: tuple[Any, ...], kwargs: Any, shared: Collection[int]
) -> Iterator[tuple[Any, Any]]:
    """The arguments of each group in turn."""
    leaves, spec = tree_flatten((args, kwargs))
    dims = batch_leaves(module, groups, args, kwargs)
    chunks = {i: leaves[i].chunk(groups.count, dim) for i, dim in dims.items() if i not in shared}
    for k in range(groups.count):
        yield tree_unflatten([chunks[i][k] if i in chunks else leaf for i, leaf in enumerate(leaves)], spec)


def _joined(values: Sequence[Any], groups: Groups, dim: int = 0) -> Any:
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
        with in_place(
            (norm._parameters, name, v if dim is None else Several(groups, v.movedim(dim, 0)))
            for name, v, dim in values
        ):
            return groups.divide(_BatchNorm.forward(norm, rows)), 0
