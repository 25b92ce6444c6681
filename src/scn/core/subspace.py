"""The base models: D weight sets of one backbone, kept as one (D, L) tensor.

    theta = beta @ Theta        one matrix product, however many layers the backbone has

Every parameter of the backbone owns a `Slot`, a run of the L columns. A parameter that the backbone
uses in several places (tied weights) owns a single slot, so it stays tied in every mixture.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from scn.core.errors import OutOfRange
from scn.core.layout import Slot
from scn.core.precision import full_precision


@dataclass(frozen=True)
class Bases:
    """Base models as a tensor (D, L), all or some of a network's, and how to mix them."""

    slots: tuple[Slot, ...]
    theta: Tensor

    @property
    def sizes(self) -> list[int]:
        return [slot.size for slot in self.slots]

    def weight_sets(self, beta: Tensor) -> dict[str, Tensor]:
        """beta: (K, D) -> every parameter by name, each of shape (K, *shape): K configurations."""
        with full_precision(beta):
            if torch.compiler.is_compiling():  # the compiler writes the gradient by itself
                return self._named((beta @ self.theta).split(self.sizes, dim=1))
            return self._named(_Mix.apply(beta, self.theta, self.sizes))

    def base_sets(self) -> dict[str, Tensor]:
        """Every parameter by name, each of shape (D, *shape): the bases themselves, unmixed."""
        return self._named(self.theta.split(self.sizes, dim=1))

    def _named(self, columns: Sequence[Tensor]) -> dict[str, Tensor]:
        return {
            name: part.view(len(part), *slot.shape)
            for slot, part in zip(self.slots, columns, strict=True)
            for name in slot.names
        }


class Subspace(nn.Module):
    """D base models of L weights each, and which of them are trained.

    After `give_sparse_gradients`, the gradient of Theta holds the rows that a call used, and no others. Any
    optimiser but one with the attribute `takes_rows`, such as scn's Muon, is given zeros for the others.
    """

    frozen: Tensor

    def __init__(self, slots: Sequence[Slot], bases: Tensor) -> None:
        super().__init__()
        self.slots = tuple(slots)
        self.theta = nn.Parameter(bases)
        self.register_buffer("frozen", torch.zeros(len(bases), dtype=torch.bool))
        self.some_frozen = False
        self.sparse_gradients = False
        self.register_load_state_dict_post_hook(_guard_after_loading)

    @property
    def sizes(self) -> list[int]:
        return [slot.size for slot in self.slots]

    def give_sparse_gradients(self) -> None:
        self.sparse_gradients = True
        _install_step_hooks()
        _with_sparse_gradients.add(self)

    def bases(self, rows: Tensor | None = None) -> Bases:
        """All base models, or those of these rows, through which no gradient reaches frozen ones."""
        if rows is None:
            return Bases(self.slots, self._trained(self.theta, self.frozen))
        chosen = F.embedding(rows, self.theta, sparse=self.sparse_gradients)
        return Bases(self.slots, self._trained(chosen, self.frozen[rows]))

    def weight_sets(self, beta: Tensor) -> dict[str, Tensor]:
        """beta: (K, D) -> every parameter by name, each of shape (K, *shape): K configurations."""
        return self.bases().weight_sets(beta)

    def base_sets(self) -> dict[str, Tensor]:
        """Every parameter by name, each of shape (D, *shape): the bases themselves, unmixed."""
        return self.bases().base_sets()

    @torch.no_grad()
    def replace(self, theta: Tensor, frozen: Tensor | None = None) -> None:
        """Other base models in the place of these: Theta is a new parameter."""
        self.theta = nn.Parameter(theta.detach().clone(), requires_grad=self.theta.requires_grad)
        self.frozen = self.frozen.new_zeros(len(theta)) if frozen is None else frozen
        self._guard()

    @torch.no_grad()
    def divide(self, parents: list[int], noise: float) -> None:
        """Add one base per entry of `parents`: a copy of that parent.

        Where the family (a parent and its copies) is mixed with equal coefficients, the mixture is
        the parent's old weights: the noise that tells the members apart sums to zero over them.
        A frozen parent stays as it is, so only its copies share the noise.
        """
        dims = len(self.theta)
        theta = torch.cat([self.theta, self.theta[parents]])
        for parent in set(parents):
            family = [dims + i for i, p in enumerate(parents) if p == parent]
            if not self.frozen[parent]:
                family.append(parent)
            draw = noise * self._spread(self.theta[parent]) * torch.randn_like(theta[family])
            theta[family] += draw - draw.mean(dim=0)
        self.replace(theta, torch.cat([self.frozen, self.frozen.new_zeros(len(parents))]))

    def _spread(self, base: Tensor) -> Tensor:
        """base: (L,) -> (L,): the standard deviation of the parameter that each weight is part of."""
        parts = [part.std(correction=0).expand_as(part) for part in base.split(self.sizes)]
        return torch.cat(parts)

    def freeze(self, indices: Iterable[int]) -> None:
        """Stop training these bases, whichever optimiser runs, built before or after this call."""
        dims, chosen = len(self.theta), list(indices)
        for index in chosen:
            if isinstance(index, bool) or not isinstance(index, int) or not -dims <= index < dims:
                raise OutOfRange(f"there is no base model {index!r}: they are 0 to {dims - 1}")
        self.frozen[chosen] = True
        self._guard()

    def _trained(self, theta: Tensor, frozen: Tensor) -> Tensor:
        """Rows of Theta, through which no gradient reaches the frozen ones."""
        if not self.some_frozen:
            return theta
        return torch.where(frozen.unsqueeze(1), theta.detach(), theta)

    def _guard(self) -> None:
        self.some_frozen = bool(self.frozen.any())
        if self.some_frozen:
            _keep_frozen(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.sparse_gradients = False  # a copy has an optimiser of its own
        self._guard()  # a copy of a network keeps its frozen bases frozen


def _guard_after_loading(subspace: nn.Module, _: Any) -> None:
    assert isinstance(subspace, Subspace)
    subspace._guard()


class _Mix(torch.autograd.Function):
    """(K, D) @ (D, L), handed out as one (K, size) tensor per slot.

    Autograd alone would join the slots' gradients to a (K, L) tensor before it multiplies; this
    multiplies each where it stands, which makes a training step with K = 8 a fifth faster.
    """

    @staticmethod
    def forward(ctx: Any, beta: Tensor, theta: Tensor, sizes: list[int]) -> tuple[Tensor, ...]:
        ctx.save_for_backward(beta, theta)
        ctx.sizes = sizes
        ctx.set_materialize_grads(False)
        return (beta @ theta).split(sizes, dim=1)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor, Tensor | None, None]:
        beta, theta = ctx.saved_tensors
        parts = theta.split(ctx.sizes, dim=1)
        known = [
            beta.new_zeros(len(beta), part.shape[1]) if g is None else g.to(theta.dtype)
            for g, part in zip(grads, parts, strict=True)
        ]
        if torch.is_grad_enabled() or not ctx.needs_input_grad[1]:  # a graph, or beta's gradient alone
            pairs = zip(known, parts, strict=True)
            grad_beta = torch.stack([g @ part.mT for g, part in pairs]).sum(dim=0)
            wanted = ctx.needs_input_grad[1]
            return grad_beta, torch.cat([beta.mT @ g for g in known], dim=1) if wanted else None, None
        grad_beta, grad_theta = torch.zeros_like(beta), torch.empty_like(theta)
        for g, part, out in zip(known, parts, grad_theta.split(ctx.sizes, dim=1), strict=True):
            grad_beta.addmm_(g, part.mT)
            torch.mm(beta.mT, g, out=out)
        return grad_beta, grad_theta, None


# Zero gradients alone do not keep a base frozen: momentum and weight decay move a row all the same. So
# whenever an optimiser that owns a Theta steps, its frozen rows are put aside and put back.
_with_frozen_bases: weakref.WeakSet[Subspace] = weakref.WeakSet()
_with_sparse_gradients: weakref.WeakSet[Subspace] = weakref.WeakSet()
_aside: weakref.WeakKeyDictionary[Subspace, Tensor] = weakref.WeakKeyDictionary()


def _keep_frozen(subspace: Subspace) -> None:
    _install_step_hooks()
    _with_frozen_bases.add(subspace)


@functools.cache
def _install_step_hooks() -> None:
    register_optimizer_step_pre_hook(_fill_up)
    register_optimizer_step_pre_hook(_put_aside)
    register_optimizer_step_post_hook(_put_back)


def _owned(optimizer: torch.optim.Optimizer, among: Iterable[Subspace]) -> Iterator[Subspace]:
    parameters = {id(p) for group in optimizer.param_groups for p in group["params"]}
    return (s for s in among if id(s.theta) in parameters)


def _fill_up(optimizer: torch.optim.Optimizer, *_: Any) -> None:
    """Most optimisers cannot deal with a sparse gradient."""
    if getattr(optimizer, "takes_rows", False):
        return
    for subspace in _owned(optimizer, _with_sparse_gradients):
        if subspace.theta.grad is not None and subspace.theta.grad.is_sparse:
            subspace.theta.grad = subspace.theta.grad.to_dense()


def _put_aside(optimizer: torch.optim.Optimizer, *_: Any) -> None:
    for subspace in _owned(optimizer, _with_frozen_bases):
        _aside[subspace] = subspace.theta.detach()[subspace.frozen]


@torch.no_grad()
def _put_back(optimizer: torch.optim.Optimizer, *_: Any) -> None:
    for subspace in _owned(optimizer, _with_frozen_bases):
        rows = _aside.pop(subspace, None)
        if rows is not None:
            subspace.theta[subspace.frozen] = rows
