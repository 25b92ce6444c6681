"""A training step on this process's share of a batch, with the gradients of the whole batch.

DistributedDataParallel averages the gradients of all shares. The shares are of one size and all parts of a
loss are means, so that this is the gradient of the mean over the batch; and a BatchNorm is given the
statistics of the whole batch, on any device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parallel import DistributedDataParallel
from torch.overrides import TorchFunctionMode

from scn.core.subspace import Subspace
from scn.methods import Method
from scn.training.step import PlainStep


class SharedStep(PlainStep):
    """The same in every process, called at the same time.

    A gradient of Theta goes between the processes whole, with zeros for base models that nobody used; then it
    is left with the rows that anybody used, as one process would have them.
    """

    def __init__(self, method: Method, net: nn.Module, mixed_precision: bool = False) -> None:
        super().__init__(method, net, mixed_precision)
        self.by_rows = [m for m in net.modules() if isinstance(m, Subspace) and m.sparse_gradients]
        for subspace in self.by_rows:
            subspace.sparse_gradients = False
        self.looks_at_batch = any(isinstance(module, _BatchNorm) for module in net.modules())
        # static_graph: a parameter that is not used is so in every step, and nobody waits for its gradient.
        self.averaged = DistributedDataParallel(_Loss(self.parameters, super().loss), static_graph=True)

    def __call__(self, x: Tensor, y: Tensor, alphas: dict[str, Tensor]) -> dict[str, Tensor]:
        parts = super().__call__(x, y, alphas)
        for subspace in self.by_rows:
            subspace.theta.grad = used_rows(subspace.theta.grad)
        return parts

    def loss(self, x: Tensor, y: Tensor, alphas: dict[str, Tensor]) -> dict[str, Tensor]:
        of_batch: AbstractContextManager[Any] = WholeBatch() if self.looks_at_batch else nullcontext()
        with of_batch:
            return self.averaged(x, y, alphas)


class _Loss(nn.Module):
    """A loss as a module: DistributedDataParallel takes nothing else, and methods need the net itself.

    It has the parameters alone. Statistics are the same in all processes already.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], loss: Callable[..., dict[str, Tensor]]) -> None:
        super().__init__()
        self.weights, self.loss = nn.ParameterList(parameters), loss

    def forward(self, x: Tensor, y: Tensor, alphas: dict[str, Tensor]) -> dict[str, Tensor]:
        return self.loss(x, y, alphas)


def used_rows(gradient: Tensor | None) -> Tensor | None:
    """The rows of a gradient (D, L) that are not zero, as a sparse tensor; all of them as they are."""
    if gradient is None:
        return None
    rows = (gradient != 0).any(dim=1).nonzero().squeeze(1)
    if len(rows) == len(gradient):
        return gradient
    return torch.sparse_coo_tensor(rows.unsqueeze(0), gradient[rows], gradient.shape, check_invariants=False)


class WholeBatch(TorchFunctionMode):
    """While it lasts, a BatchNorm that trains takes the mean and variance of the shares of all processes."""

    def __torch_function__(
        self, function: Any, types: Iterable[Any], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if function is F.batch_norm:
            return _normalised(*args, **kwargs or {})
        return function(*args, **kwargs or {})


def _normalised(
    x: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """What F.batch_norm does, with the statistics of the whole batch where it would take those of x."""
    if not training:
        return F.batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps)
    places = [dim for dim in range(x.dim()) if dim != 1]
    values = x.float()
    share = torch.stack(torch.var_mean(values, places, correction=0))
    count, rank = dist.get_world_size(), dist.get_rank()
    every = _Sum.apply(F.pad(share.unsqueeze(0), (0, 0, 0, 0, rank, count - 1 - rank)))  # a row for each
    variances, means = every.unbind(dim=1)
    mean = means.mean(dim=0)
    variance = (variances + (means - mean).square()).mean(dim=0)
    if running_mean is not None and running_var is not None:
        total = count * values.numel() // values.shape[1]
        with torch.no_grad():
            running_mean.lerp_(mean.to(running_mean), momentum)
            running_var.lerp_((variance * total / (total - 1)).to(running_var), momentum)
    shape = [1, -1] + [1] * (x.dim() - 2)
    standard = (values - mean.view(shape)) * (variance + eps).rsqrt().view(shape)
    zero, one = torch.zeros_like(mean.detach()), torch.ones_like(mean.detach())
    return F.batch_norm(standard.to(x.dtype), zero, one, weight, bias, eps=0.0)


class _Sum(torch.autograd.Function):
    """The sum over all processes, of a gradient too."""

    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        total = values.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return _Sum.apply(gradient)
