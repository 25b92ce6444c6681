"""One training step up to the gradients: plainly, or compiled to one piece of machine code.

A small network spends most of a step between its operations. `CompiledStep` records the operations of one
step, forward and backward, and has torch's compiler make one function of them, which takes some seconds
once. What was recorded is repeated: a backbone whose Python code decides anew in every step must be
trained plainly.
"""

from __future__ import annotations

import functools
import math
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from scn.core.errors import ScnError
from scn.core.substitute import weights_in_place
from scn.methods import Method

COMPILERS = ("c++", "g++", "clang++")
ROUNDING = {False: 1e-3, True: 0.05}  # the part of a gradient that may be, without and with mixed precision


class PlainStep:
    """Called with x, labels and what the method's loss is given, returns the parts of the loss.

    The gradients are left in the parameters.
    """

    def __init__(self, method: Method, net: nn.Module, mixed_precision: bool = False) -> None:
        self.method, self.net, self.mixed_precision = method, net, mixed_precision
        self.parameters = [p for p in net.parameters() if p.requires_grad]

    def __call__(self, x: Tensor, y: Tensor, alphas: dict[str, Tensor]) -> dict[str, Tensor]:
        parts = self.loss(x, y, alphas)
        for parameter in self.parameters:
            parameter.grad = None
        _total(parts).backward()
        return {name: part.detach() for name, part in parts.items()}

    def loss(self, x: Tensor, y: Tensor, alphas: dict[str, Tensor]) -> dict[str, Tensor]:
        with self._precision(x.device):
            return self.method.loss(self.net, x, y, alphas)

    def _precision(self, device: torch.device) -> AbstractContextManager[Any]:
        if self.mixed_precision:
            return torch.autocast(device.type, torch.bfloat16)
        return nullcontext()


class CompiledStep(PlainStep):
    """The same, compiled at the first call and compared with the plain step there."""

    def __init__(self, method: Method, net: nn.Module, mixed_precision: bool = False) -> None:
        require_compiler()
        super().__init__(method, net, mixed_precision)
        self.buffers = dict(net.named_buffers())
        places = [*net.named_parameters(remove_duplicate=False), *net.named_buffers(remove_duplicate=False)]
        held = [*self.parameters, *self.buffers.values()]
        self.names = [
            [name for name, tensor in places if tensor is one] for one in held
        ]  # tied ones have several
        self.parts: list[str] = []
        self.shapes: list[torch.Size] = []
        self.function: Callable[..., Any] | None = None

    def __call__(self, x: Tensor, y: Tensor, alphas: dict[str, Tensor]) -> dict[str, Tensor]:
        shapes = [tensor.shape for tensor in (x, y, *alphas.values())]
        if self.function is not None:
            if shapes != self.shapes:
                raise ScnError(
                    "batches differ in shape, and a compiled step has one: train with `compiled=False`"
                )
            return self._replay(self.function, x, y, alphas)
        self.shapes = shapes
        random = torch.get_rng_state()
        with weights_in_place(self.net, self._copied_buffers()):
            super().__call__(x, y, alphas)
        expected = [parameter.grad for parameter in self.parameters]
        self.function = self._compiled(x, y, alphas)
        torch.set_rng_state(random)
        parts = self._replay(self.function, x, y, alphas)
        rounding = ROUNDING[self.mixed_precision]
        if not _alike([parameter.grad for parameter in self.parameters], expected, rounding):
            raise ScnError("the compiled step finds other gradients: train with `compiled=False`")
        return parts

    def _copied_buffers(self) -> dict[str, Tensor]:
        return {name: buffer.clone() for name, buffer in self.buffers.items()}

    def _compiled(self, *batch: Any) -> Callable[..., Any]:
        from torch._inductor import compile, config  # slow to import
        from torch.fx.experimental.proxy_tensor import make_fx

        inputs = (list(self.parameters), list(self._copied_buffers().values()), *batch)
        try:
            graph = make_fx(functools.partial(self._gradients))(*inputs)
            with config.patch(fallback_random=True):  # the numbers that the plain step would draw
                return compile(graph, list(inputs))
        except RuntimeError as error:
            raise ScnError(
                f"{type(self.net).__name__} cannot be compiled: train with `compiled=False` "
                f"({str(error).partition(chr(10))[0]})"
            ) from error

    def _gradients(
        self, weights: list[Tensor], state: list[Tensor], x: Tensor, y: Tensor, alphas: dict[str, Tensor]
    ) -> list[Tensor | None]:
        leaves = [weight.detach().requires_grad_() for weight in weights]
        pairs = zip(self.names, [*leaves, *state], strict=True)
        held = {name: tensor for names, tensor in pairs for name in names}
        with weights_in_place(self.net, held):
            parts = self.loss(x, y, alphas)
            for given, after in zip(state, self.net.buffers(), strict=True):
                if after is not given:
                    given.copy_(after)
        self.parts = list(parts)
        # create_graph: backward passes then write to no memory in place, which the compiler would copy.
        found = torch.autograd.grad(_total(parts), leaves, allow_unused=True, create_graph=True)
        return [*parts.values(), *found]

    def _replay(self, function: Callable[..., Any], *batch: Any) -> dict[str, Tensor]:
        with torch.no_grad():
            results = function(self.parameters, list(self.buffers.values()), *batch)
        for parameter, gradient in zip(self.parameters, results[len(self.parts) :], strict=True):
            parameter.grad = gradient
        return dict(zip(self.parts, results, strict=False))


def _total(parts: dict[str, Tensor]) -> Tensor:
    first, *others = parts.values()
    return sum(others, start=first)


def _alike(gradients: list[Tensor | None], expected: list[Tensor | None], rounding: float) -> bool:
    """One that is small beside all may be nothing but rounding, like a bias before a BatchNorm."""
    lengths = [0.0 if right is None else float(right.norm()) for right in expected]
    least = 0.01 * math.hypot(*lengths)
    for found, right, length in zip(gradients, expected, lengths, strict=True):
        if found is None or right is None:
            if found is not right:
                return False
        elif float((found - right).norm()) > rounding * max(length, least):
            return False
    return True


def require_compiler() -> None:
    if not any(map(shutil.which, COMPILERS)):
        raise ScnError(f"`compiled=True` needs a C++ compiler, but there is none of {', '.join(COMPILERS)}")
