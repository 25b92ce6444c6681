"""Mixing is exact even where torch.autocast lets layers compute with fewer bits."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor


def full_precision(like: Tensor) -> AbstractContextManager[Any]:
    """A block without autocast on the device of `like`."""
    if like.device.type != "meta" and torch.is_autocast_enabled(like.device.type):
        return torch.autocast(like.device.type, enabled=False)
    return nullcontext()
