"""Tent (Wang, 2021): One4All, whose norm layers go on learning at test time, from the inputs alone."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from scn.core import losses
from scn.core.compact import NORMS
from scn.core.errors import ScnError
from scn.methods.base import registry
from scn.methods.one4all import One4All
from scn.transforms import Transform

RATE = 1e-3


class Adapting(nn.Module):
    """A copy of a network that takes one step for each batch: less entropy, by its norm layers alone.

    A BatchNorm uses the statistics of the batch; of one value for each channel, those of the training.
    """

    def __init__(self, net: nn.Module, batch: int) -> None:
        super().__init__()
        self.net, self.batch = copy.deepcopy(net).eval(), batch
        self.norms = [module for module in self.net.modules() if isinstance(module, NORMS)]
        self.net.requires_grad_(False)
        learned = [p.requires_grad_() for norm in self.norms for p in norm.parameters()]
        self.optimiser = torch.optim.Adam(learned, RATE)

    def forward(self, x: Tensor) -> Tensor:
        """x: (N, ...), in batches one after the other -> what was answered before each step."""
        return torch.cat([self._step(part) for part in x.split(self.batch)])

    @torch.enable_grad()
    def _step(self, x: Tensor) -> Tensor:
        outputs: Tensor = self._answered(x)
        self.optimiser.zero_grad()
        losses.entropy(outputs).mean().backward()
        self.optimiser.step()
        return outputs.detach()

    def _answered(self, x: Tensor) -> Tensor:
        statistics = [norm for norm in self.norms if isinstance(norm, _BatchNorm)]
        kept = [(norm.running_mean, norm.running_var) for norm in statistics]
        for norm in statistics:
            norm.running_mean = norm.running_var = None  # those of the batch are used
        try:
            return self.net(x)
        except ValueError:  # a batch of one value for each channel has none
            for norm, (mean, variance) in zip(statistics, kept, strict=True):
                norm.running_mean, norm.running_var = mean, variance
            return self.net(x)
        finally:
            for norm, (mean, variance) in zip(statistics, kept, strict=True):
                norm.running_mean, norm.running_var = mean, variance


@registry.register("tent")
@dataclass(frozen=True)
class Tent(One4All):
    """Trained as One4All is; adapts to `adapted_batch` inputs at a time, in each setting from the start."""

    title: ClassVar[str] = "Tent"
    one_pass: ClassVar[bool] = False
    colour: ClassVar[str] = ""

    @classmethod
    def objection(cls, transform: Transform) -> str | None:
        if transform.measured:
            return "it needs many inputs under one setting, but each of these has its own"
        return None

    def require(self, backbone: nn.Module) -> None:
        own = [p for m in backbone.modules() if isinstance(m, NORMS) for p in m.parameters()]
        if not own:
            raise ScnError(
                f"the method tent does not work for {type(backbone).__name__}: it has no norm layers with "
                "weights, and so there is nothing to adapt"
            )
        if self.objective.part != "classification":
            raise ScnError(
                "the method tent lowers the entropy of class probabilities: it is for classification"
            )

    def configured(self, net: nn.Module, params: Tensor, into: nn.Module | None = None) -> nn.Module:
        return Adapting(net, self.terms.adapted_batch)
