"""Values for a proof while torch.export records a network, which it does without any."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_map

from scn.core.subspace import Subspace


@contextmanager
def real_values(
    backbone: nn.Module, subspace: Subspace, args: Any, kwargs: Any
) -> Iterator[tuple[nn.Module, Subspace, Any, Any]]:
    """Backbone, base models and arguments as given, or, where they have no values, with random ones."""
    if not isinstance(subspace.theta, FakeTensor):
        yield backbone, subspace, args, kwargs
        return
    held = [*backbone.parameters(), *backbone.buffers()]
    with _disable_current_modes(), torch.random.fork_rng():
        memo: dict[int, Any] = {id(tensor): _drawn(tensor) for tensor in held}
        copied = copy.deepcopy(backbone, memo)
        bases = Subspace(subspace.slots, _drawn(subspace.theta))
        yield copied, bases, *tree_map(_drawn, (args, kwargs))


def _drawn(leaf: Any) -> Any:
    """A tensor of the same shape and type: small weights, positive statistics, the first of all tokens."""
    if not isinstance(leaf, Tensor):
        return leaf
    shape = [int(size) for size in leaf.shape]
    if not leaf.is_floating_point():
        return torch.zeros(shape, dtype=leaf.dtype)
    if isinstance(leaf, nn.Parameter):
        return nn.Parameter(0.1 * torch.randn(shape, dtype=leaf.dtype), leaf.requires_grad)
    return 0.5 + torch.rand(shape, dtype=leaf.dtype)
