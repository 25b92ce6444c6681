"""Checks of what a person hands to a network, before anything is computed."""

from __future__ import annotations

import math
import operator
from typing import Any

import torch
from torch import Tensor

from scn.core.errors import ScnError, WrongType
from scn.core.maps.base import Map


def checked_alpha(alpha: Any, alpha_dim: int, theta: Tensor, mapped: Map) -> Tensor:
    """alpha as a finite tensor of Theta's type and device, with S values in a row that the map takes."""
    alpha = given = alpha if isinstance(alpha, Tensor) else torch.as_tensor(alpha)
    if alpha.dtype != theta.dtype or alpha.device != theta.device:
        if alpha.dtype == torch.bool or alpha.is_complex():
            raise WrongType(f"alpha must hold real numbers, but its type is {alpha.dtype}")
        alpha = alpha.to(theta)
    if alpha.dim() == 0 or alpha.shape[-1] != alpha_dim:
        raise ScnError(
            f"alpha must have {alpha_dim} values in its last dimension, but its shape is "
            f"{tuple(alpha.shape)}: encode the parameters first (alpha = transform.encode(params))"
        )
    # One by one where they are few; else where their sum, which takes a moment, says that one is wrong.
    if can_be_read(given) and (given.numel() <= 16 or not math.isfinite(given.sum().item())):
        wrong = [value for value in given.flatten().tolist() if not math.isfinite(value)]
        if wrong:
            raise ScnError(f"alpha must be finite, but it holds {wrong[0]}: check the sensor or file")
    if mapped.bounded and can_be_read(given):
        mapped.refuse_outside(alpha)
    return alpha


def at_least_one(name: str, value: Any) -> int:
    try:
        count = operator.index(value) if not isinstance(value, bool) else 0
    except TypeError:
        count = 0
    if count < 1:
        raise ScnError(f"{name} must be a whole number of at least 1, but is {value!r}")
    return count


def can_be_read(alpha: Tensor) -> bool:
    """Whether the values can be seen without waiting for an accelerator, or breaking a recording."""
    return not torch.compiler.is_compiling() and alpha.is_cpu and not torch._C._len_torch_dispatch_stack()
