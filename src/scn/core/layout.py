"""Which parameters of a backbone are configurable, and where each stands in it."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from torch import nn


@dataclass(frozen=True)
class Slot:
    """One parameter of the backbone: every name it goes by, and its shape."""

    names: tuple[str, ...]
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def find_slots(backbone: nn.Module, patterns: Sequence[str]) -> list[Slot]:
    """One slot for each configurable parameter, with every name it goes by."""
    names: dict[nn.Parameter, list[str]] = {}
    for name, parameter in backbone.named_parameters(remove_duplicate=False):
        if isinstance(parameter, nn.UninitializedParameter):
            raise ValueError(f'parameter "{name}" has no shape yet: run the backbone on a batch first')
        names.setdefault(parameter, []).append(name)
    trainable = {p: known for p, known in names.items() if p.requires_grad}
    if not trainable:
        raise ValueError(
            f"{type(backbone).__name__} has no trainable parameters: there is nothing to configure"
        )
    unused = [
        pattern
        for pattern in patterns
        if not any(fnmatch.filter(known, pattern) for known in trainable.values())
    ]
    if unused or not patterns:
        every = ", ".join(name for known in trainable.values() for name in known)
        raise ValueError(
            f"configurable={unused or list(patterns)} matches no parameter. The backbone has: {every}"
        )
    chosen = {
        p: known
        for p, known in trainable.items()
        if any(fnmatch.filter(known, pattern) for pattern in patterns)
    }
    kinds = {(p.dtype, p.device) for p in chosen}
    if len(kinds) > 1:
        raise ValueError(
            f"the configurable parameters differ in type or device ({sorted(map(str, kinds))}): "
            "convert the backbone by .to(...) first, or choose parameters by configurable="
        )
    return [Slot(tuple(known), tuple(p.shape)) for p, known in chosen.items()]


def places(module: nn.Module, slots: Iterable[Slot]) -> Iterator[tuple[nn.Module, str]]:
    """Each module and attribute where the parameters of these slots stand."""
    for slot in slots:
        for full in slot.names:
            owner, _, name = full.rpartition(".")
            yield module.get_submodule(owner), name
