"""Run a backbone on a batch that holds K groups, each with weights of its own, in one pass.

Layers with a kernel treat all K weight sets in one call. Any other module that owns configurable
parameters is a *unit*: it runs once per group. A module that reaches into the parameters of another
(`F.linear(x, self.encoder.weight.t())`) is found out when it does so, and is a unit from then on.

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

from scn.core.kernels import Groups, NeedsUnit, Parameters, Weights, kernel_of
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
    """A module without a kernel: once per group, with that group's weights and samples."""
    recurrent = isinstance(unit, nn.RNNBase)  # its states have the batch in dimension 1
    if recurrent and not unit.batch_first:
        raise NeedsUnit
    if unit.training and any(isinstance(m, _BatchNorm) for m in unit.modules()):
        raise ValueError(
            f"{type(unit).__name__} uses the parameters {', '.join(parameters)} itself and has a "
            "BatchNorm inside, which would not see the whole batch when several alpha share one: "
            "give these parameters a module of their own, leave them out by configurable=, or "
            "train with one alpha per batch"
        )
    state_dim = 1 if recurrent else 0
    if not any(groups.holds_batch(t, 0) for t in _tensors((args, kwargs))):
        raise NeedsUnit
    first = _pieces(args[:1], groups, 0)
    rest = _pieces((args[1:], kwargs), groups, state_dim)
    weights = {name: w.mixed().unbind() for name, w in parameters.items()}
    patched = vars(unit).pop("forward")
    try:
        outputs = [
            with_weights(unit, {n: sets[k] for n, sets in weights.items()}, (*first[k], *more), named)
            for k, (more, named) in enumerate(rest)
        ]
    finally:
        vars(unit)["forward"] = patched
    if recurrent:
        out, state = zip(*outputs, strict=True)
        return _joined(out, groups, 0), _joined(state, groups, state_dim)
    return _joined(outputs, groups, 0)


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))


def _pieces(value: Any, groups: Groups, dim: int) -> list[Any]:
    """K copies of a nested value, in which each tensor that holds the batch is divided."""
    if isinstance(value, Tensor) and groups.holds_batch(value, dim):
        return list(value.chunk(groups.count, dim))
    if isinstance(value, tuple | list):
        parts = [_pieces(item, groups, dim) for item in value]
        return [_rebuilt(value, [part[k] for part in parts]) for k in range(groups.count)]
    if isinstance(value, dict):
        named = {key: _pieces(item, groups, dim) for key, item in value.items()}
        return [{key: part[k] for key, part in named.items()} for k in range(groups.count)]
    return [value] * groups.count


def _joined(values: Sequence[Any], groups: Groups, dim: int) -> Any:
    """The inverse of `_pieces` for what the K calls returned."""
    first = values[0]
    if isinstance(first, Tensor):
        if first.dim() <= dim or first.shape[dim] % groups.samples:
            raise NeedsUnit
        return torch.cat(list(values), dim)
    if isinstance(first, tuple | list):
        return _rebuilt(first, [_joined(v, groups, dim) for v in zip(*values, strict=True)])
    if isinstance(first, dict):
        return {key: _joined([v[key] for v in values], groups, dim) for key in first}
    return first


def _rebuilt(like: Any, items: list[Any]) -> Any:
    return type(like)(*items) if hasattr(like, "_fields") else type(like)(items)


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


def _innermost_module(
    traceback: TracebackType | None, backbone: nn.Module, units: set[str]
) -> str | None:
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
    if groups.samples * beta.shape[1] < SAMPLES_TIMES_DIMS:
        weights = {name: Weights(beta, bases=b) for name, b in subspace.base_sets().items()}
    else:
        weights = {name: Weights(beta, sets=s) for name, s in subspace.weight_sets(beta).items()}
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
