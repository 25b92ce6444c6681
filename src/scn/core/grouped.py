"""Run a backbone on a batch that holds K groups, each with weights of its own, in one pass.

Ordinary layers treat all K weight sets in one call (kernels.py). Any other module that owns configurable
parameters is a *unit*, which gets each group's weights and samples in turn (units.py).

Sample i of a batch of B belongs to group i // (B // K). That an activation keeps this order cannot be read
off its shape, so each new kind of call is first proven on a copy (proof.py). A backbone that fails
(time-first activations, two views of the batch in a row, a module that reaches into the parameters of
another) is a unit as a whole, which is right whatever it does. So is a kind of call that may never come
again: a proof costs more than a few calls group by group.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses import FakeTensor
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils._pytree import tree_flatten, tree_leaves

from scn.core.errors import ScnError
from scn.core.kernels import Groups, NeedsUnit, Several
from scn.core.layout import Slot
from scn.core.proof import Call, Verdict, fresh, quiet_copy, trial
from scn.core.recording import real_values
from scn.core.subspace import Bases
from scn.core.substitute import Change, in_place, placing
from scn.core.units import ROOT, WHOLE, Unit, find_units

# Where a group has few samples, mixing the D outputs of a linear layer costs less than mixing K
# copies of its weights. Measured for 1024-32-10, batch 256: they break even near 12 samples at D=8.
SAMPLES_TIMES_DIMS = 96

KEPT = 128  # kinds of calls that are remembered, the last used
PROVEN_AT_ONCE = 16  # kinds of calls; others must come again before they are proven
GROUPS_A_PROOF = 16  # a proof costs as much as running so many groups one by one

# Arguments of other types may change without a sign, or look new at every call.
ATTRIBUTES = (bool, int, float, str)  # of modules; a mode such as `training` is one of them
SWITCH = 8  # numbers in a tensor that may stand for a choice
VALUES = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, torch.Size)

Sets = Mapping[str, Tensor]
Kind = tuple[Any, ...]


@dataclass(frozen=True)
class Plan:
    """How one kind of call runs: the modules that are units, and arguments that every group gets whole."""

    units: frozenset[str]
    shared: tuple[int, ...] = ()


@dataclass
class Findings:
    """What has been learned about a backbone: whether it is a unit, and the plan of each kind of call.

    A kind that was met and not proven has the number of times instead of a plan. `slots` are those of the
    base models, which a recording can look up here and nowhere else.
    """

    slots: tuple[Slot, ...]
    units: set[str] = field(default_factory=set)
    proven: OrderedDict[Kind, Plan | int] = field(default_factory=OrderedDict)
    proofs: int = 0
    trains_whole: bool | None = None  # found out when first needed

    def recall(self, kind: Kind | None) -> Plan | int:
        if kind is None or kind not in self.proven:
            return 0
        self.proven.move_to_end(kind)
        return self.proven[kind]

    def remember(self, kind: Kind | None, found: Plan | int) -> None:
        if kind is not None:
            self.proven[kind] = found
            if len(self.proven) > KEPT:
                self.proven.popitem(last=False)


def run(
    backbone: nn.Module,
    bases: Bases,
    beta: Tensor,
    findings: Findings,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    kept: tuple[Sets, Sets] | None = None,
) -> Any:
    """backbone(*args, **kwargs) on a batch of K = len(beta) groups with weights beta @ Theta.

    `kept` are these weights and the bases, where they are at hand.
    """
    groups = Groups(len(beta), len(args[0]))
    if torch.compiler.is_compiling():
        chosen, shared, sizes = _recorded_plan(backbone, findings, bases.theta, beta, *args, **kwargs)
        plan = Plan(frozenset(chosen), tuple(shared))
        assert _sizes(args, kwargs) == sizes  # so that the recording is for these sizes alone
    else:
        plan = _plan(Call(backbone, bases, groups, args, kwargs), findings)
    weights = _several(bases, groups, beta, kept)
    for units in dict.fromkeys((plan.units, WHOLE)):
        try:
            return _run(backbone, groups, weights, Plan(units, plan.shared), args, kwargs)
        except NeedsUnit:
            findings.units.add(ROOT)
    raise ScnError(
        f"{type(backbone).__name__} cannot take several alpha in one call: {NeedsUnit()}. Call it once per "
        "alpha with alpha of shape (S,)"
    )


def _several(
    bases: Bases, groups: Groups, beta: Tensor, kept: tuple[Sets, Sets] | None = None
) -> dict[str, Several]:
    if kept is not None:
        sets, unmixed = kept
        return {name: Several(groups, sets[name], beta, unmixed[name]) for name in sets}
    if groups.samples * beta.shape[1] < SAMPLES_TIMES_DIMS:
        return {name: Several(groups, None, beta, base) for name, base in bases.base_sets().items()}
    return {name: Several(groups, sets) for name, sets in bases.weight_sets(beta).items()}


def _run(
    backbone: nn.Module, groups: Groups, weights: Mapping[str, Several], plan: Plan, args: Any, kwargs: Any
) -> Any:
    with in_place([*placing(backbone, weights), *_unit_forwards(backbone, groups, weights, plan)]):
        return backbone(*args, **kwargs)


def _unit_forwards(
    backbone: nn.Module, groups: Groups, weights: Mapping[str, Several], plan: Plan
) -> Iterator[Change]:
    for name in plan.units:
        unit, prefix = backbone.get_submodule(name), f"{name}." if name else ""
        inside = {full.removeprefix(prefix): w for full, w in weights.items() if full.startswith(prefix)}
        yield vars(unit), "forward", Unit(unit, groups, inside, () if name else plan.shared)


def _plan(call: Call, findings: Findings, recorded: bool = False) -> Plan:
    """The plan for a call, which may need a proof first; one that is recorded comes again."""
    kind = _kind(call)
    found = findings.recall(kind)
    if isinstance(found, Plan):
        return found
    units = WHOLE if findings.units else find_units(call.backbone, call.bases.slots)
    if units == WHOLE or kind is None or not (recorded or _worth_a_proof(call, findings, found)):
        plan = Plan(WHOLE, _shared(call))
        findings.remember(kind, plan if units == WHOLE else found + 1)
        return plan
    findings.proofs += 1
    plan, verdict = _prove(call, units)
    if verdict is Verdict.WRONG:
        findings.units.add(ROOT)
    # Where the weights made no difference, to be on the safe side, until they do.
    findings.remember(kind, found + 1 if verdict is Verdict.UNSEEN else plan)
    return plan


def _recorded_plan(
    backbone: nn.Module, findings: Findings, theta: Tensor, beta: Tensor, *args: Any, **kwargs: Any
) -> tuple[list[str], list[int], list[tuple[int, ...]]]:
    """The plan for a call that torch.compile or torch.export records, and the sizes that it is for.

    It must be a constant of what is recorded. The compiler hands over the values of the first call; an export
    has none, and is proven on others.
    """
    call = Call(backbone, Bases(findings.slots, theta), Groups(len(beta), len(args[0])), args, kwargs)
    with real_values(call) as real:
        plan = _plan(real, findings, recorded=True)
        return [*plan.units], [*plan.shared], _sizes(real.args, real.kwargs)


# What torch.compiler.assume_constant_result does, which takes seconds because it imports the compiler.
_recorded_plan._dynamo_marked_constant = True  # type: ignore[attr-defined]


def _sizes(args: Any, kwargs: Any) -> list[tuple[int, ...]]:
    return [tuple(leaf.shape) for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]


def _worth_a_proof(call: Call, findings: Findings, met: int) -> bool:
    """A backbone that trains a BatchNorm may not be able to run group by group."""
    if findings.proofs < PROVEN_AT_ONCE or (met and met * call.groups.count >= GROUPS_A_PROOF):
        return True
    if not any(isinstance(module, _BatchNorm) and module.training for module in call.backbone.modules()):
        return False
    if findings.trains_whole is None:
        findings.trains_whole = _trains_whole(call)
    return not findings.trains_whole


def _trains_whole(call: Call) -> bool:
    """Whether a copy of the backbone, in its own modes, can run group by group."""
    copied, theta = quiet_copy(call.backbone), call.bases.theta
    for module, original in zip(copied.modules(), call.backbone.modules(), strict=True):
        module.training = original.training
    beta = theta.new_full((call.groups.count, len(theta)), 1 / len(theta))
    weights, inputs = _several(call.bases, call.groups, beta), fresh(call.args, call.kwargs)
    try:
        with torch.random.fork_rng():
            _run(copied, call.groups, weights, Plan(WHOLE, _shared(call)), *inputs)
    except Exception:  # whatever the backbone may raise
        return False
    return True


def _kind(call: Call) -> Kind | None:
    """What decides which way a call takes: structure, shapes, types and values of arguments, and modes."""
    leaves, structure = tree_flatten((call.args, call.kwargs))
    modes = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
    described: list[Any] = [call.groups, repr(structure), *modes]
    for leaf in leaves:
        if isinstance(leaf, Tensor):
            described.append((type(leaf), leaf.shape, leaf.dtype, leaf.device, leaf.requires_grad))
            described.append(_switch(leaf, call.groups))
        elif type(leaf) in VALUES or isinstance(leaf, Enum):
            described.append((type(leaf), repr(leaf)))
        else:
            return None
    for module in call.backbone.modules():
        described += [(name, value) for name, value in vars(module).items() if type(value) in ATTRIBUTES]
    return tuple(described)


def _switch(leaf: Tensor, groups: Groups) -> tuple[float, ...]:
    """The values of a tensor of a few numbers for the whole batch, by which a backbone may choose its way."""
    if leaf.numel() > SWITCH or groups.holds_batch(leaf) or not leaf.is_cpu or isinstance(leaf, FakeTensor):
        return ()
    return tuple(leaf.flatten().tolist())


def _shared(call: Call) -> tuple[int, ...]:
    """The arguments that every group gets whole, for a backbone that runs group by group."""
    if not call.doubtful():
        return ()
    with trial(call) as tried:
        return tried.shared


def _prove(call: Call, units: frozenset[str]) -> tuple[Plan, Verdict]:
    """The plan that gives every group its own, and what became of the first one, with these units."""
    with trial(call) as tried:
        if tried.failure is not None:  # with arguments that the backbone cannot take: let it say so itself
            return Plan(WHOLE), Verdict.UNSEEN

        def attempt(plan: Plan) -> Verdict:
            return tried.verdict(
                lambda copied, bases, beta, *inputs: _run(
                    copied, call.groups, _several(bases, call.groups, beta), plan, *inputs
                )
            )

        plan, whole = Plan(units, tried.shared), Plan(WHOLE, tried.shared)
        verdict = attempt(plan)
        if verdict is Verdict.RIGHT:
            return plan, verdict
        if verdict is Verdict.WRONG and attempt(whole) is Verdict.WRONG:
            reason = str(tried.failure or "its answers are random, or its samples look at each other")
            raise ScnError(
                f"{type(call.backbone).__name__} does not give a group of the batch what it gets alone "
                f"({reason.partition(chr(10))[0]}): call it once per alpha with alpha of shape (S,)"
            ) from tried.failure
        return whole, verdict
