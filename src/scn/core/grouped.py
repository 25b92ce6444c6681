"""Run a backbone on a batch that holds K groups, each with weights of its own, in one pass.

Layers with a kernel treat all K weight sets in one call. Any other module that owns configurable
parameters is a *unit*, which gets each group's weights and samples in turn. A module that reaches
into the parameters of another (`F.linear(x, self.encoder.weight.t())`) is found out when it does so,
and is a unit from then on.

Sample i of a batch of B belongs to group i // (B // K). Activations must be batch-first; a layer
that sees anything else hands the matter to the module around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.utils.parametrize import is_parametrized

from scn.core.kernels import Groups, Mixed, NeedsUnit, Parameters, Unmixed, kernel_of, normalisation
from scn.core.subspace import Subspace

# Where a group has few samples, mixing the D outputs of a linear layer costs less than mixing K
# copies of its weights. Measured for 1024-32-10, batch 256: they break even near 12 samples at D=8.
SAMPLES_TIMES_DIMS = 96


def with_weights(
    module: nn.Module, weights: Mapping[str, Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """module(*args, **kwargs) with these weights in place. Tied parameters come under every name."""
    return functional_call(module, dict(weights), args, kwargs, tie_weights=False)


def _run_unit(unit: nn.Module, groups: Groups, parameters: Parameters, *args: Any, **kwargs: Any) -> Any:
    """A module without a kernel: each group with its own weights and samples."""
    if not any(groups.holds_batch(t, 0) for t in _tensors((args, kwargs))):
        raise NeedsUnit
    weights = {name: w.mixed() for name, w in parameters.items()}
    norms = [m for m in unit.modules() if isinstance(m, _BatchNorm)] if unit.training else []
    patched = vars(unit).pop("forward")
    try:
        if norms:
            return _run_at_once(unit, groups, weights, norms, args, kwargs)
        return _run_one_by_one(unit, groups, weights, args, kwargs)
    finally:
        vars(unit)["forward"] = patched


def _run_one_by_one(
    unit: nn.Module,
    groups: Groups,
    weights: Mapping[str, Tensor],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """One call per group: works for whatever the module does."""
    recurrent = isinstance(unit, nn.RNNBase)
    if recurrent and not unit.batch_first:
        raise NeedsUnit
    state = 1 if recurrent else 0  # recurrent layers have the batch of their states in dimension 1
    outputs = []
    for k in range(groups.count):
        first = _piece(args[:1], groups, 0, k)
        rest, named = _piece((args[1:], kwargs), groups, state, k)
        one = {name: sets[k] for name, sets in weights.items()}
        outputs.append(with_weights(unit, one, (*first, *rest), named))
    if recurrent:
        out, states = zip(*outputs, strict=True)
        return _joined(out, groups, 0), _joined(states, groups, state)
    return _joined(outputs, groups, 0)


def _run_at_once(
    unit: nn.Module,
    groups: Groups,
    weights: Mapping[str, Tensor],
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
    axes = _mapped(inputs, lambda leaf: 0 if _holds_batch(leaf, groups) else None)
    for norm in norms:
        vars(norm)["forward"] = partial(_whole_batch_norm, norm, groups)
    try:
        run_group = torch.func.vmap(
            lambda w, values: with_weights(unit, w, *values), in_dims=(0, axes), randomness="different"
        )
        return _mapped(run_group(dict(weights), _mapped(inputs, divided)), joined)
    finally:
        for norm in norms:
            del vars(norm)["forward"]


def _whole_batch_norm(norm: nn.Module, groups: Groups, x: Tensor) -> Tensor:
    return _WholeBatchNorm.apply(
        x, norm._parameters.get("weight"), norm._parameters.get("bias"), norm, groups
    )


class _WholeBatchNorm(torch.autograd.Function):
    """A BatchNorm that, inside vmap over the groups, normalises over all groups together."""

    @staticmethod
    def forward(*_: Any) -> Tensor:
        raise AssertionError("runs inside vmap only")

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing to keep: the operations of `vmap` have derivatives of their own."""

    @staticmethod
    def vmap(
        _: Any,
        in_dims: tuple[int | None, ...],
        x: Tensor,
        weight: Any,
        bias: Any,
        norm: Any,
        groups: Groups,
    ) -> tuple[Tensor, int]:
        rows = x.movedim(in_dims[0] or 0, 0).flatten(0, 1)
        values = zip(("weight", "bias"), (weight, bias), in_dims[1:3], strict=True)
        sets = {name: Mixed(v.movedim(dim, 0)) for name, v, dim in values if dim is not None}
        return groups.divide(normalisation(norm, groups, sets, rows)), 0


def _holds_batch(leaf: Any, groups: Groups) -> bool:
    return isinstance(leaf, Tensor) and groups.holds_batch(leaf, 0)


def _tensors(value: Any) -> list[Tensor]:
    found: list[Tensor] = []
    _mapped(value, lambda leaf: found.append(leaf) if isinstance(leaf, Tensor) else None)
    return found


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A nested value with every leaf changed."""
    if isinstance(value, tuple | list):
        items = [_mapped(item, change) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: _mapped(item, change) for key, item in value.items()}
    return change(value)


def _piece(value: Any, groups: Groups, dim: int, k: int) -> Any:
    """A nested value with group k's part of each tensor that holds the batch."""

    def part(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor) or not groups.holds_batch(leaf, dim):
            return leaf
        return leaf.chunk(groups.count, dim)[k]

    return _mapped(value, part)


def _joined(values: Sequence[Any], groups: Groups, dim: int) -> Any:
    """The inverse of `_piece` for what the K calls returned."""
    first = values[0]
    if isinstance(first, Tensor):
        if first.dim() <= dim or first.shape[dim] % groups.samples:
            raise NeedsUnit
        return torch.cat(list(values), dim)
    if isinstance(first, tuple | list):
        items = [_joined(v, groups, dim) for v in zip(*values, strict=True)]
        return type(first)(*items) if hasattr(first, "_fields") else type(first)(items)
    if isinstance(first, dict):
        return {key: _joined([v[key] for v in values], groups, dim) for key in first}
    return first


class _Unset(Tensor):
    """Stands where a mixed parameter would be; whoever touches it needs one weight set at a time."""

    @classmethod
    def __torch_function__(cls, *_: Any, **__: Any) -> Any:
        raise NeedsUnit


def _install(
    module: nn.Module,
    groups: Groups,
    weights: Parameters,
    units: set[str],
    prefix: str = "",
) -> Iterator[tuple[nn.Module, Callable[..., Any]]]:
    """Which modules run differently for this call, and what runs in their place."""
    inside = {name.removeprefix(prefix): w for name, w in weights.items() if name.startswith(prefix)}
    if not inside:
        return
    own = {name: w for name, w in inside.items() if name in module._parameters}
    kernel = kernel_of(module)
    if prefix in units or is_parametrized(module) or (own and kernel is None):
        yield module, partial(_run_unit, module, groups, inside)
        return
    if own and kernel is not None:
        yield module, partial(kernel, module, groups, own)
    for name, child in module.named_children():
        yield from _install(child, groups, weights, units, f"{prefix}{name}.")


def _attempt(
    backbone: nn.Module,
    groups: Groups,
    weights: Parameters,
    units: set[str],
    args: Any,
    kwargs: Any,
) -> Any:
    unset = torch.empty(0).as_subclass(_Unset)
    patched = list(_install(backbone, groups, weights, units))
    try:
        for module, forward in patched:
            vars(module)["forward"] = forward
        return with_weights(backbone, dict.fromkeys(weights, unset), args, kwargs)
    finally:
        for module, _ in patched:
            vars(module).pop("forward", None)


def _innermost_module(traceback: TracebackType | None, backbone: nn.Module, units: set[str]) -> str | None:
    """The prefix of the innermost module that was running and is not a unit yet."""
    prefixes = {module: f"{name}." if name else "" for name, module in backbone.named_modules()}
    found = None
    while traceback is not None:
        prefix = prefixes.get(traceback.tb_frame.f_locals.get("self"))
        if prefix is not None and prefix not in units:
            found = prefix
        traceback = traceback.tb_next
    return found


def run(
    backbone: nn.Module,
    subspace: Subspace,
    beta: Tensor,
    batch: int,
    units: set[str],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """backbone(*args, **kwargs) on a batch of K = len(beta) groups with weights beta @ Theta.

    `units` collects what was found to need a run of its own per group; keep it between calls.
    """
    groups = Groups(len(beta), batch)
    weights: Parameters
    if groups.samples * beta.shape[1] < SAMPLES_TIMES_DIMS:
        weights = {name: Unmixed(beta, bases) for name, bases in subspace.base_sets().items()}
    else:
        weights = {name: Mixed(sets) for name, sets in subspace.weight_sets(beta).items()}
    while True:
        try:
            return _attempt(backbone, groups, weights, units, args, kwargs)
        except NeedsUnit as signal:
            prefix = _innermost_module(signal.__traceback__, backbone, units)
            if prefix is None:
                raise ValueError(
                    f"{type(backbone).__name__} cannot take several alpha in one call: its inputs "
                    "and outputs must have the batch as their first dimension. Call it once per "
                    "alpha with alpha of shape (S,)"
                ) from None
            units.add(prefix)
