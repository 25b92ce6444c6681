"""BatchNorm statistics for a network that stays at one alpha."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from scn.core.errors import ScnError


def recalibrated(plain: nn.Module, batches: Iterable[Any]) -> nn.Module:
    """The network with statistics of these batches alone, each sample counting alike."""
    plain.eval()
    norms = [m for m in plain.modules() if isinstance(m, _BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.train()
    seen = 0
    with torch.no_grad():
        for batch in batches:
            x = batch[0] if isinstance(batch, tuple | list) else batch
            seen += len(x)
            for norm in norms:
                norm.momentum = len(x) / max(seen, 1)  # a mean in which every sample counts alike
            plain(x)
    if not seen:
        raise ScnError("recalibrate needs at least one batch, but was given none")
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    return plain.eval()
