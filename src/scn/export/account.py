"""One account for every method: what it takes on a device, what an answer and a change of alpha cost, and
what it must be given.

Flash and RAM are those of the C export, as float32, where it can express the network; elsewhere they are
counted: all weights, and theta with the largest layer's input and output.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from scn.core.errors import ScnError
from scn.export.base import Options
from scn.export.c import facts_of
from scn.export.subject import subject_of
from scn.runs.collection import LoadedRun
from scn.runs.cost import FLOAT, cost_of, one_input, plain_of

CHANGED = "changed inputs"


@dataclass(frozen=True)
class Account:
    """Of one network."""

    flash: int  # bytes
    ram: int
    exported: bool  # whether these are of the C export; else they are counted
    operations: int | None  # multiply-accumulates of an answer, without undoing a change
    change: int  # multiply-accumulates of a change of alpha
    given: str  # what it must be given for an answer
    labels: str  # what it needs labels of

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def account_of(one: LoadedRun) -> Account:
    """The account of a run's network."""
    cost, kind = cost_of(one), type(one.run.method())
    flash, ram, exported = _on_device(one, cost.stored_bytes, cost.theta_bytes)
    given = "alpha" if kind.knows_setting else "nothing"
    if kind.undoes:
        given += ", undoes the change"
    labels = CHANGED if kind.needs_labels else "unchanged inputs"
    return Account(flash, ram, exported, cost.operations, cost.change, given, labels)


def _on_device(one: LoadedRun, stored: int, theta: int) -> tuple[int, int, bool]:
    try:
        facts = facts_of(subject_of(one.run, "network", network=one.network), Options())
    except ScnError:
        return stored, theta + FLOAT * _largest(one), False
    return facts["flash"]["total"], facts["ram"]["total"], True


@torch.no_grad()
def _largest(one: LoadedRun) -> int:
    """Values of the layer that has most of them before and behind it; 0 where no input is known."""
    x = one_input(one)
    if x is None:
        return 0
    found = [2 * x.numel()]

    def note(layer: nn.Module, given: tuple[Any, ...], made: Any) -> None:
        values = [t.numel() for t in (*given, made) if isinstance(t, Tensor)]
        found.append(sum(values))

    plain = plain_of(one)
    hooks = [m.register_forward_hook(note) for m in plain.modules() if not any(m.children())]
    try:
        plain(x)
    finally:
        for hook in hooks:
            hook.remove()
    return max(found)
