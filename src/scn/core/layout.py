"""Which parameters of a backbone are configurable, and where each stands in it."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from scn.core.errors import ScnError


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
            raise ScnError(f'parameter "{name}" has no shape yet: run the backbone on a batch first')
        names.setdefault(parameter, []).append(name)
    trainable = {p: known for p, known in names.items() if p.requires_grad}
    if not trainable:
        raise ScnError(
            f"{type(backbone).__name__} has no trainable parameters: there is nothing to configure"
        )
    unused = [
        pattern
        for pattern in patterns
        if not any(fnmatch.filter(known, pattern) for known in trainable.values())
    ]
    if unused or not patterns:
        every = ", ".join(name for known in trainable.values() for name in known)
        raise ScnError(
            f"configurable={unused or list(patterns)} matches no parameter. The backbone has: {every}"
        )
    chosen = {
        p: known
        for p, known in trainable.items()
        if any(fnmatch.filter(known, pattern) for pattern in patterns)
    }
    kinds = {(p.dtype, p.device) for p in chosen}
    if len(kinds) > 1:
        raise ScnError(
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


def fit(pattern: nn.Module, slots: list[Slot], what: str) -> None:
    """Make the saved parameters of the pattern trainable, or say which one it lacks."""
    for slot in slots:
        for name in slot.names:
            try:
                parameter = pattern.get_parameter(name)
            except AttributeError:
                parameter = None
            if parameter is None or tuple(parameter.shape) != slot.shape:
                has = "has none" if parameter is None else f"has {tuple(parameter.shape)}"
                raise ScnError(
                    f"{what} with a parameter {name!r} of shape {slot.shape}, but the given "
                    f"{type(pattern).__name__} {has}: pass a backbone of the saved shape"
                )
            parameter.requires_grad_(True)


def refuse_what_cannot_work(backbone: nn.Module) -> None:
    """Errors about layers whose answers would be wrong, before anything is built."""
    for name, module in backbone.named_modules():
        if isinstance(module, _BatchNorm) and not module.track_running_stats:
            raise ScnError(
                f'BatchNorm "{name}" keeps no running statistics, so at test time an answer would depend on '
                "the other inputs of its batch: build it with track_running_stats=True"
            )
        if isinstance(module, nn.Embedding | nn.EmbeddingBag) and (module.sparse or module.max_norm):
            raise ScnError(
                f'embedding "{name}" has sparse gradients or max_norm, which need weights that stay in '
                "place: build it without them"
            )
