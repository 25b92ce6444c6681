"""Run a backbone on a batch that holds K groups, each with weights of its own, in one pass.

Layers with a kernel treat all K weight sets in one call. Any other module that owns configurable
parameters is a *unit*, which gets each group's weights and samples in turn. A module that reaches into
the parameters of another (`F.linear(x, self.encoder.weight.t())`) is found out when it does so, and is a
unit from then on.

Sample i of a batch of B belongs to group i // (B // K). That an activation keeps this order cannot be read
off its shape, so for each new shape of the input the result is compared with runs of single groups; a
backbone that fails the comparison (time-first activations, samples that look at each other) is a unit as
a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrize import is_parametrized
from torch.utils._pytree import tree_leaves, tree_map

from scn.core.kernels import Groups, Mixed, NeedsUnit, Parameters, Unmixed, kernel_of
from scn.core.subspace import Subspace
from scn.core.substitute import call_with, weights_in_place
from scn.core.units import run_unit

# Where a group has few samples, mixing the D outputs of a linear layer costs less than mixing K
# copies of its weights. Measured for 1024-32-10, batch 256: they break even near 12 samples at D=8.
SAMPLES_TIMES_DIMS = 96

ROOT = ""  # the prefix of the backbone itself


@dataclass
class Findings:
    """What has been learned about a backbone: which modules are units, and which shapes are proven."""

    units: set[str] = field(default_factory=set)
    proven: set[tuple[Any, ...]] = field(default_factory=set)


class _Unset(Tensor):
    """Stands where a mixed parameter would be; whoever touches it needs one weight set at a time."""

    @classmethod
    def __torch_function__(cls, *_: Any, **__: Any) -> Any:
        raise NeedsUnit


def run(
    backbone: nn.Module,
    subspace: Subspace,
    beta: Tensor,
    batch: int,
    findings: Findings,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """backbone(*args, **kwargs) on a batch of K = len(beta) groups with weights beta @ Theta."""
    groups = Groups(len(beta), batch)
    shapes = [tuple(leaf.shape) for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    signature = (groups.count, *shapes)
    if signature not in findings.proven:
        _prove(backbone, subspace, groups, findings.units, args, kwargs)
        findings.proven.add(signature)
    weights: Parameters
    if groups.samples * beta.shape[1] < SAMPLES_TIMES_DIMS:
        weights = {name: Unmixed(beta, bases) for name, bases in subspace.base_sets().items()}
    else:
        weights = {name: Mixed(sets) for name, sets in subspace.weight_sets(beta).items()}
    return _run(backbone, groups, weights, findings.units, args, kwargs)


def _run(
    backbone: nn.Module, groups: Groups, weights: Parameters, units: set[str], args: Any, kwargs: Any
) -> Any:
    """Try, and learn from what was in the way."""
    while True:
        try:
            return _attempt(backbone, groups, weights, units, args, kwargs)
        except NeedsUnit as signal:
            prefix = _innermost_module(signal.__traceback__, backbone, units)
            if prefix is None:
                raise ValueError(
                    f"{type(backbone).__name__} cannot take several alpha in one call: its inputs and "
                    "outputs must have the batch as their first dimension. Call it once per alpha with "
                    "alpha of shape (S,)"
                ) from None
            units.add(prefix)


def _attempt(
    backbone: nn.Module, groups: Groups, weights: Parameters, units: set[str], args: Any, kwargs: Any
) -> Any:
    unset = torch.empty(0).as_subclass(_Unset)
    with (
        weights_in_place(backbone, dict.fromkeys(weights, unset)),
        _forwards_in_place(_replacements(backbone, groups, weights, units)),
    ):
        return backbone(*args, **kwargs)


def _replacements(
    module: nn.Module, groups: Groups, weights: Parameters, units: set[str], prefix: str = ROOT
) -> Iterator[tuple[nn.Module, Callable[..., Any]]]:
    """Which modules run differently for this call, and what runs in their place."""
    inside = {name.removeprefix(prefix): w for name, w in weights.items() if name.startswith(prefix)}
    if not inside:
        return
    own = {name: w for name, w in inside.items() if name in module._parameters}
    kernel = kernel_of(module)
    if prefix in units or is_parametrized(module) or (own and kernel is None):
        yield module, partial(_as_unit, module, groups, inside)
        return
    if own and kernel is not None:
        yield module, partial(kernel, module, groups, own)
    for name, child in module.named_children():
        yield from _replacements(child, groups, weights, units, f"{prefix}{name}.")


def _as_unit(unit: nn.Module, groups: Groups, parameters: Parameters, *args: Any, **kwargs: Any) -> Any:
    weights = {name: parameter.mixed() for name, parameter in parameters.items()}
    with _forwards_in_place([(unit, vars(unit)["forward"].original)]):
        return run_unit(unit, groups, weights, args, kwargs)


class _Replacement:
    """What runs instead of a module's forward, and that forward if it was the module's own."""

    def __init__(self, forward: Callable[..., Any], original: Callable[..., Any] | None) -> None:
        self.forward, self.original = forward, original

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)


@contextmanager
def _forwards_in_place(
    replacements: Iterator[tuple[nn.Module, Any]] | Sequence[tuple[nn.Module, Any]],
) -> Iterator[None]:
    """Modules with another forward; None stands for the forward of their class."""
    before: dict[nn.Module, Callable[..., Any] | None] = {}
    try:
        for module, forward in list(replacements):
            original = before.setdefault(module, vars(module).get("forward"))
            if forward is None:
                vars(module).pop("forward", None)
            else:
                plain = original.original if isinstance(original, _Replacement) else original
                vars(module)["forward"] = _Replacement(forward, plain)
        yield
    finally:
        for module, forward in before.items():
            vars(module).pop("forward", None)
            if forward is not None:
                vars(module)["forward"] = forward


def _innermost_module(traceback: TracebackType | None, backbone: nn.Module, units: set[str]) -> str | None:
    """The prefix of the innermost module that was running and is not a unit yet."""
    prefixes = {id(module): f"{name}." if name else ROOT for name, module in backbone.named_modules()}
    found = None
    while traceback is not None:
        prefix = prefixes.get(id(traceback.tb_frame.f_locals.get("self")))
        if prefix is not None and prefix not in units:
            found = prefix
        traceback = traceback.tb_next
    return found


@torch.no_grad()
def _prove(
    backbone: nn.Module, subspace: Subspace, groups: Groups, units: set[str], args: Any, kwargs: Any
) -> None:
    """Compare one pass over all groups with single groups, under weights that differ from group to group.

    It runs in test mode and leaves no trace; its result is thrown away. Modules that need to be units
    are found on the way.
    """
    uniform = subspace.theta.new_full((groups.count, len(subspace.theta)), 1 / len(subspace.theta))
    weights = {
        name: Mixed(sets + 0.5 * (sets.std(correction=0) + 1e-2) * torch.randn_like(sets))
        for name, sets in subspace.weight_sets(uniform).items()
    }
    chosen = sorted({0, groups.count // 2, groups.count - 1})
    with torch.random.fork_rng(), _untouched(backbone):
        together = _run(backbone, groups, weights, units, args, kwargs)
        for k in chosen:
            single = {name: weight.sets[k] for name, weight in weights.items()}
            alone = call_with(backbone, single, *tree_map(partial(_of_group, groups, k), (args, kwargs)))
            if not _alike(tree_map(partial(_of_group, groups, k), together), alone):
                units.add(ROOT)
                return


def _of_group(groups: Groups, k: int, leaf: Any) -> Any:
    if isinstance(leaf, Tensor) and leaf.dim() and leaf.shape[0] == groups.batch:
        return leaf.chunk(groups.count)[k]
    return leaf


def _alike(first: Any, second: Any) -> bool:
    pairs = zip(tree_leaves(first), tree_leaves(second), strict=False)
    return len(tree_leaves(first)) == len(tree_leaves(second)) and all(_alike_leaf(a, b) for a, b in pairs)


def _alike_leaf(a: Any, b: Any) -> bool:
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return type(a) is type(b)
    if a.shape != b.shape or not a.is_floating_point():
        return a.shape == b.shape
    tolerance = max(1e-3, 8 * torch.finfo(a.dtype).eps)
    return bool((a - b).abs().max() <= tolerance * b.abs().max()) if a.numel() else True


@contextmanager
def _untouched(backbone: nn.Module) -> Iterator[None]:
    """In test mode, with every mode and buffer put back afterwards."""
    modes = [(module, module.training) for module in backbone.modules()]
    buffers = [(buffer, buffer.clone()) for buffer in backbone.buffers()]
    backbone.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
        for buffer, before in buffers:
            buffer.copy_(before)
