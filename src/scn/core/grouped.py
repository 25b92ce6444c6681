"""Run a backbone on a batch that holds K groups, each with weights of its own, in one pass.

Layers with a kernel treat all K weight sets in one call. Any other module that owns configurable
parameters is a *unit*, which gets each group's weights and samples in turn. A module that reaches into
the parameters of another (`F.linear(x, self.encoder.weight.t())`) is found out when it does so, and is a
unit from then on.

Sample i of a batch of B belongs to group i // (B // K). That an activation keeps this order cannot be read
off its shape, so each new kind of call is first proven on a copy (see proof.py); a backbone that fails
(time-first activations, two views of the batch in a row) is a unit as a whole.
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
from torch.utils._pytree import tree_leaves

from scn.core.errors import ScnError
from scn.core.kernels import Groups, Mixed, NeedsUnit, Parameters, Unmixed, kernel_of
from scn.core.proof import Verdict, prove
from scn.core.subspace import Subspace
from scn.core.substitute import weights_in_place
from scn.core.units import run_unit

# Where a group has few samples, mixing the D outputs of a linear layer costs less than mixing K
# copies of its weights. Measured for 1024-32-10, batch 256: they break even near 12 samples at D=8.
SAMPLES_TIMES_DIMS = 96

ROOT = ""  # the prefix of the backbone itself


@dataclass
class Findings:
    """What has been learned about a backbone: which modules are units, and what has been proven."""

    units: set[str] = field(default_factory=set)
    proven: dict[tuple[Any, ...], Groups] = field(default_factory=dict)


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
    mixed: Parameters | None = None,
) -> Any:
    """backbone(*args, **kwargs) on a batch of K = len(beta) groups with weights beta @ Theta.

    `mixed` are these weights, where they are at hand.
    """
    groups = Groups(len(beta), batch)
    signature = (groups, *_described(backbone, args, kwargs))
    if signature not in findings.proven:
        groups, units = _examined(backbone, subspace, groups, findings, signature, args, kwargs)
    else:
        groups, units = findings.proven[signature], findings.units
    weights = _parameters(subspace, groups, beta) if mixed is None else mixed
    return _run(backbone, groups, weights, units, args, kwargs)


def _parameters(subspace: Subspace, groups: Groups, beta: Tensor) -> Parameters:
    if groups.samples * beta.shape[1] < SAMPLES_TIMES_DIMS:
        return {name: Unmixed(beta, bases) for name, bases in subspace.base_sets().items()}
    return {name: Mixed(sets) for name, sets in subspace.weight_sets(beta).items()}


def _described(backbone: nn.Module, args: Any, kwargs: Any) -> Iterator[Any]:
    """What decides which way a call takes: shapes and types, other arguments, and modes."""
    for leaf in tree_leaves((args, kwargs)):
        yield (tuple(leaf.shape), leaf.dtype) if isinstance(leaf, Tensor) else repr(leaf)
    yield tuple(module.training for module in backbone.modules())


def _examined(
    backbone: nn.Module,
    subspace: Subspace,
    groups: Groups,
    findings: Findings,
    signature: tuple[Any, ...],
    args: Any,
    kwargs: Any,
) -> tuple[Groups, set[str]]:
    """Prove a new kind of call: how the arguments are divided, and which modules are units."""
    if any("." not in name for slot in subspace.slots for name in slot.names) and kernel_of(backbone) is None:
        return groups, findings.units  # the backbone itself is a unit: group by group in any case

    def examine(units: set[str]) -> tuple[Verdict, Groups, Exception | None]:
        def run_all(copied: nn.Module, bases: Subspace, divided: Groups, beta: Tensor, *inputs: Any) -> Any:
            return _run(copied, divided, _parameters(bases, divided, beta), units, *inputs)

        return prove(backbone, subspace, groups, run_all, args, kwargs)

    verdict, divided, _ = examine(findings.units)
    if verdict is Verdict.RIGHT:
        findings.proven[signature] = divided
        return divided, findings.units
    whole = {*findings.units, ROOT}
    if verdict is Verdict.UNSEEN:
        return divided, whole  # to be on the safe side, until the weights make a difference
    verdict, divided, failure = examine(whole)
    if verdict is Verdict.WRONG:
        reason = str(failure or "its answers are random, or its samples look at each other")
        raise ScnError(
            f"{type(backbone).__name__} does not give a group of the batch the answer that the group gets "
            f"alone ({reason.partition(chr(10))[0]}): call it once per alpha with alpha of shape (S,)"
        ) from failure
    findings.units.add(ROOT)
    findings.proven[signature] = divided
    return divided, findings.units


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
                raise ScnError(
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
        yield module, partial(_as_unit, module, groups if prefix == ROOT else groups.inside(), inside)
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
