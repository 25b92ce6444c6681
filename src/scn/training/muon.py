"""Muon: matrices take steps of orthogonalised momentum, everything else takes Adam's.

A step of Adam follows the few directions that dominate a gradient. Muon (Jordan et al., 2024) makes all
singular values of a matrix's step about equal, so that the weak directions are learned as well.

torch.optim.Muon takes two-dimensional parameters only. Theta holds D copies of every matrix of the backbone
as runs of its columns; here they are orthogonalised where they stand, all D in one call. Where a map mixes a
few base models, only those that a batch used take a step of their own, and all may take one together.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from scn.core.errors import ScnError
from scn.core.network import SCN

POLYNOMIAL = (3.4445, -4.7750, 2.0315)  # of a singular value s: a s + b s^3 + c s^5 (Jordan et al.)
ITERATIONS = 5
LENGTH = 0.2  # root mean square of a step at learning rate 1, to match Adam's (Liu et al., 2025)
MOMENTUM, SECOND_MOMENT, EPSILON = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class Piece:
    """Some columns of a parameter seen as `copies` rows: one weight of the backbone, in each base."""

    parameter: nn.Parameter
    copies: int
    start: int
    stop: int
    height: int  # rows of the weight as a matrix; 0 for what is no matrix

    def of(self, values: Tensor) -> Tensor:
        """The columns of a tensor of the parameter's shape, as (copies, height, width) or (copies, width).

        Some rows of Theta instead of all give as many copies.
        """
        rows = self.copies if values.shape == self.parameter.shape else len(values)
        columns = values.view(rows, -1)[:, self.start : self.stop]
        return columns.unflatten(1, (self.height, -1)) if self.height else columns


def pieces(net: nn.Module) -> list[Piece]:
    """Everything that is trained. The configuration network is small: none of it counts as a matrix."""
    shapes = {p: [tuple(p.shape)] for p in net.parameters() if p.requires_grad and p.numel()}
    small: set[nn.Parameter] = set()
    if isinstance(net, SCN):
        small = set(net.map.parameters())
        if net.theta in shapes:
            shapes[net.theta] = [slot.shape for slot in net.subspace.slots]
    found = []
    for parameter, inside in shapes.items():
        sizes = [math.prod(shape) for shape in inside]
        copies = parameter.numel() // sum(sizes)
        for shape, stop, size in zip(inside, itertools.accumulate(sizes), sizes, strict=True):
            height = shape[0] if len(shape) > 1 and parameter not in small else 0
            found.append(Piece(parameter, copies, stop - size, stop, height))
    return found


class Muon(torch.optim.Optimizer):
    """For the whole of a network; `weight_decay` shrinks the matrices themselves, by lr times itself.

    With `together`, all base models also take one step, of so many times their own, by the sum of their
    gradients: what they have in common is learned from every sample, and not anew by each of them.
    """

    takes_rows = True
    # Without the wrappers that keep torch's compiler out of them: they import it, which takes a second.
    add_param_group = inspect.unwrap(torch.optim.Optimizer.add_param_group)
    zero_grad = inspect.unwrap(torch.optim.Optimizer.zero_grad)
    state_dict = inspect.unwrap(torch.optim.Optimizer.state_dict)
    load_state_dict = inspect.unwrap(torch.optim.Optimizer.load_state_dict)

    def __init__(self, net: nn.Module, lr: float, weight_decay: float = 0.0, together: float = 0.0) -> None:
        found, self.together = pieces(net), together
        self.matrices = [piece for piece in found if piece.height]
        self.vectors = [piece for piece in found if not piece.height]
        self.of_bases: list[Piece] = []  # vectors of base models that a batch may leave out
        if isinstance(net, SCN) and net.map.entries is not None and net.theta.requires_grad:
            net.subspace.give_sparse_gradients()
            self.of_bases = [piece for piece in self.vectors if piece.parameter is net.theta]
            self.vectors = [piece for piece in self.vectors if piece.parameter is not net.theta]
        parameters = list(dict.fromkeys(piece.parameter for piece in found))
        if not all(parameter.is_contiguous() for parameter in parameters):
            raise ScnError("Muon needs parameters in ordinary memory order: say `optimiser=adam`")
        super().__init__(parameters, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        (group,) = self.param_groups
        rows = {p: _rows(p.grad) for p in group["params"] if p.grad is not None and p.grad.is_sparse}
        for piece in self.matrices:
            gradient = piece.parameter.grad
            if gradient is None:
                continue
            if self.together and piece.copies > 1:
                used = rows[piece.parameter][1] if piece.parameter in rows else gradient
                self._common_step(piece, piece.of(used), group["lr"])
            if piece.parameter in rows:
                used_rows = rows[piece.parameter]
                self._orthogonal_step_of_rows(piece, *used_rows, group["lr"], group["weight_decay"])
            else:
                self._orthogonal_step(piece, piece.of(gradient), group["lr"], group["weight_decay"])
        if self.vectors:
            self._adam_step(group["params"][0], group["lr"])
        for theta in {piece.parameter for piece in self.of_bases}:
            if theta.grad is not None:
                every = torch.arange(len(theta), device=theta.device)
                self._adam_step_of_rows(theta, *rows.get(theta, (every, theta.grad)), group["lr"])
        return loss

    def _momentum(self, piece: Piece, like: Tensor, named: str = "momentum", copies: int = 0) -> Tensor:
        state, name = self.state[piece.parameter], f"{named}.{piece.start}"
        if name not in state:
            shape = (copies or piece.copies, *like.shape[1:])
            state[name] = torch.zeros(shape, dtype=like.dtype, device=like.device)
        return state[name]

    def _common_step(self, piece: Piece, gradient: Tensor, lr: float) -> None:
        """Move all base models alike, by the gradients of those that a batch used."""
        summed, weight = gradient.sum(dim=0, keepdim=True), piece.of(piece.parameter)
        momentum = self._momentum(piece, summed, "common", 1).lerp_(summed, 1 - MOMENTUM)
        scale = self.together * LENGTH * max(weight.shape[1:]) ** 0.5
        weight.sub_(orthogonal(torch.lerp(summed, momentum, MOMENTUM)), alpha=lr * scale)

    def _orthogonal_step(self, piece: Piece, gradient: Tensor, lr: float, decay: float) -> None:
        weight = piece.of(piece.parameter)
        momentum = self._momentum(piece, gradient).lerp_(gradient, 1 - MOMENTUM)
        if decay:
            weight.mul_(1 - lr * decay)
        scale = LENGTH * max(weight.shape[1:]) ** 0.5
        weight.sub_(orthogonal(torch.lerp(gradient, momentum, MOMENTUM)), alpha=lr * scale)

    def _orthogonal_step_of_rows(
        self, piece: Piece, rows: Tensor, values: Tensor, lr: float, decay: float
    ) -> None:
        """The same for the base models that a batch used."""
        weight, gradient = piece.of(piece.parameter), piece.of(values)
        kept = self._momentum(piece, gradient)
        momentum = kept[rows].lerp_(gradient, 1 - MOMENTUM)
        kept[rows] = momentum
        scale = LENGTH * max(weight.shape[1:]) ** 0.5
        change = orthogonal(torch.lerp(gradient, momentum, MOMENTUM)).mul_(-lr * scale)
        if decay:
            change.sub_(weight[rows], alpha=lr * decay)
        weight.index_add_(0, rows, change)

    def _adam_step(self, owner: nn.Parameter, lr: float) -> None:
        """All vectors as one, because each by itself would cost more calls than arithmetic."""
        weights = [piece.of(piece.parameter) for piece in self.vectors]
        gradient = torch.cat(
            [
                w.new_zeros(w.numel()) if p.parameter.grad is None else p.of(p.parameter.grad).reshape(-1)
                for p, w in zip(self.vectors, weights, strict=True)
            ]
        )
        state = self.state[owner]
        if "step" not in state:
            zero = torch.zeros_like(gradient)
            state |= {"step": torch.zeros(()), "mean": zero, "square": zero.clone()}
        state["step"] += 1
        count = float(state["step"])
        mean = state["mean"].lerp_(gradient, 1 - MOMENTUM)
        square = state["square"].lerp_(gradient.square(), 1 - SECOND_MOMENT)
        deviation = (square / (1 - SECOND_MOMENT**count)).sqrt_().add_(EPSILON)
        change = (mean / deviation).mul_(-lr / (1 - MOMENTUM**count))
        changes = change.split([w.numel() for w in weights])
        torch._foreach_add_(weights, [c.view_as(w) for c, w in zip(changes, weights, strict=True)])

    def _adam_step_of_rows(self, theta: nn.Parameter, rows: Tensor, values: Tensor, lr: float) -> None:
        """The same for the vectors of the base models that a batch used, each with a count of its own."""
        gradient = torch.cat([piece.of(values) for piece in self.of_bases], dim=1)
        state, dims = self.state[theta], len(theta)
        if "rows.count" not in state:
            zero = gradient.new_zeros(dims, gradient.shape[1])
            state |= {"rows.count": zero.new_zeros(dims, 1), "rows.mean": zero, "rows.square": zero.clone()}
        kept = [state[f"rows.{name}"] for name in ("count", "mean", "square")]
        count, mean, square = (values.index_select(0, rows) for values in kept)
        count += 1
        mean.lerp_(gradient, 1 - MOMENTUM)
        square.lerp_(gradient.square(), 1 - SECOND_MOMENT)
        for before, after in zip(kept, (count, mean, square), strict=True):
            before.index_copy_(0, rows, after)
        deviation = (square / -torch.expm1(count * math.log(SECOND_MOMENT))).sqrt_().add_(EPSILON)
        change = (mean / deviation).div_(torch.expm1(count * math.log(MOMENTUM))).mul_(lr)
        changes = change.split([piece.stop - piece.start for piece in self.of_bases], dim=1)
        for piece, own in zip(self.of_bases, changes, strict=True):
            piece.of(theta).index_add_(0, rows, own)


def _rows(gradient: Tensor) -> tuple[Tensor, Tensor]:
    """Which rows a sparse gradient has, each once, and their values. Those of one call need no sorting."""
    rows = gradient._indices()[0]
    if bool((rows.diff() > 0).all()):
        return rows, gradient._values()
    gradient = gradient.coalesce()
    return gradient.indices()[0], gradient.values()


def orthogonal(several: Tensor) -> Tensor:
    """(N, height, width) -> matrices with the same singular vectors and singular values near 1.

    The iteration runs on the smaller Gram matrix, which is a polynomial of itself all the way.
    """
    if several.shape[1] > several.shape[2]:
        return orthogonal(several.mT).mT
    a, b, c = POLYNOMIAL
    length = several.flatten(1).norm(dim=1).clamp_min(1e-12).view(-1, 1, 1)
    gram = several @ several.mT / length.square()
    product = torch.eye(several.shape[1], dtype=several.dtype, device=several.device)
    for i in range(ITERATIONS):
        factor = torch.baddbmm(gram, gram, gram, beta=b, alpha=c)
        factor.diagonal(dim1=1, dim2=2).add_(a)
        product = factor @ product
        if i < ITERATIONS - 1:
            gram = factor @ gram @ factor
    return product @ several / length
