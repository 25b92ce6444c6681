"""Where the base models start: independent draws, or one pretrained backbone with a little noise."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from scn.core.errors import ScnError
from scn.core.layout import Slot

Initialisation = Literal["independent", "pretrained"] | Callable[[], nn.Module]

_RESETS = ("reset_parameters", "_reset_parameters")


@torch.no_grad()
def draw_bases(
    backbone: nn.Module, slots: Sequence[Slot], dims: int, init: Initialisation, noise: float
) -> Tensor:
    """The (D, L) tensor of base models to start from."""
    if callable(init):
        return torch.stack([_flat(init(), slots).to(_flat(backbone, slots)) for _ in range(dims)])
    if not 0 <= noise < float("inf"):
        raise ScnError(f"noise must be a number of at least 0, but is {noise}")
    if init == "pretrained":
        return torch.stack([_flat(backbone, slots, noise) for _ in range(dims)])
    if init != "independent":
        raise ScnError(
            f'init must be "independent", "pretrained" or a function that makes a new backbone, '
            f"but is {init!r}"
        )
    if dims > 1:
        _warn_of_parameters_that_cannot_be_drawn(backbone, slots)
    others = [_flat(_redrawn(backbone), slots) for _ in range(dims - 1)]
    return torch.stack([_flat(backbone, slots), *others])


def _flat(module: nn.Module, slots: Sequence[Slot], noise: float = 0.0) -> Tensor:
    """The slots' parameters of this module as one vector (L,)."""
    parts = []
    for slot in slots:
        values = module.get_parameter(slot.names[0]).detach().flatten()
        if tuple(module.get_parameter(slot.names[0]).shape) != slot.shape:
            raise ScnError(f'init made a backbone whose "{slot.names[0]}" has another shape')
        if noise:
            values = values + noise * values.std(correction=0) * torch.randn_like(values)
        parts.append(values)
    return torch.cat(parts)


def _redrawn(backbone: nn.Module) -> nn.Module:
    """A copy with new initial weights. Inner modules first: an outer one may refine their choice."""
    fresh = copy.deepcopy(backbone)
    for module in reversed(list(fresh.modules())):
        for reset in _RESETS:
            if callable(getattr(module, reset, None)):
                getattr(module, reset)()
                break
    return fresh


def _warn_of_parameters_that_cannot_be_drawn(backbone: nn.Module, slots: Sequence[Slot]) -> None:
    """A parameter of a module without `reset_parameters` starts alike in every base.

    That is right for a constant start (a scale of ones), and worth a word for a random one.
    """
    drawn: set[str] = set()
    for prefix, module in backbone.named_modules():
        if any(hasattr(module, reset) for reset in _RESETS):
            names = (f"{prefix}.{n}".removeprefix(".") for n, _ in module.named_parameters())
            drawn.update(name for name in names if "parametrizations." not in name)
    alike = [
        slot.names[0]
        for slot in slots
        if drawn.isdisjoint(slot.names)
        and slot.size
        and backbone.get_parameter(slot.names[0]).unique().numel() > 1
    ]
    if alike:
        warnings.warn(
            f"no reset_parameters draws {', '.join(alike)}, so every base model starts with the same "
            "values there: give the module that owns them a reset_parameters, or pass "
            "init=a function that makes a new backbone",
            stacklevel=5,
        )
