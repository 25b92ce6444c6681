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

from scn.core.proof import Call
from scn.core.subspace import Bases


@contextmanager
def real_values(call: Call) -> Iterator[Call]:
    """The call as it is, or, where tensors have no values, with random ones."""
    if not isinstance(call.bases.theta, FakeTensor):
        yield call
        return
    held = [*call.backbone.parameters(), *call.backbone.buffers()]
    with _disable_current_modes(), torch.random.fork_rng():
        memo: dict[int, Any] = {id(tensor): _drawn(tensor) for tensor in held}
        copied = copy.deepcopy(call.backbone, memo)
        bases = Bases(call.bases.slots, _drawn(call.bases.theta))
        yield Call(copied, bases, call.groups, *tree_map(_drawn, (call.args, call.kwargs)))


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
