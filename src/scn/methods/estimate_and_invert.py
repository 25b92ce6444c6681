"""Estimate and invert: the setting is read off the input, the change is undone, and a plain network answers.

What a spatial transformer does, with both parts trained for what they are: the estimator of `scn search` on
settings that are known in training, and a network as that of Inverse.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from scn.backbones.estimator import Estimator, estimator_for
from scn.core.storage import load_model
from scn.methods.base import PlainMethod, registry
from scn.methods.layers import kept_shape
from scn.transforms import Transform

FINE = {1: 360, 2: 33, 3: 12}  # values of each parameter among which an estimate is looked up
SMALL = 0.3  # an error of alpha


class Restoring(nn.Module):
    """x: inputs as they come, not normalised -> outputs."""

    def __init__(self, backbone: nn.Module, estimator: Estimator, transform: Transform) -> None:
        super().__init__()
        self.mean: Tensor
        self.deviation: Tensor
        self.backbone, self.estimator, self.transform = backbone, estimator, transform
        self.settings = transform.grid(FINE.get(len(transform.parameters), 8))
        self.know(torch.zeros(1), torch.ones(1))

    def know(self, mean: Tensor, deviation: Tensor) -> None:
        """How inputs are normalised, for each channel."""
        self.register_buffer("mean", mean)
        self.register_buffer("deviation", deviation)

    def answer(self, x: Tensor, params: Tensor) -> Tensor:
        """After undoing the settings params (K, P) of K groups."""
        restored = self.transform.invert(x, params)
        ones = (1,) * (restored.dim() - 2)
        return self.backbone((restored - self.mean.view(-1, *ones)) / self.deviation.view(-1, *ones))

    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            alphas = self.transform.encode(self.settings)
            params = self.settings[torch.cdist(self.estimator(x), alphas).argmin(dim=1)]
        return self.answer(x, params)


@registry.register("estimate-and-invert")
@dataclass(frozen=True)
class EstimateAndInvert(PlainMethod):
    """Not told the setting; needs a change that can be undone."""

    title: ClassVar[str] = "Estimate and invert"
    knows_setting: ClassVar[bool] = False
    undoes: ClassVar[bool] = True
    one_pass: ClassVar[bool] = False

    @classmethod
    def objection(cls, transform: Transform) -> str | None:
        if transform.measured:
            return "it comes with the data, and nothing is there to undo"
        return None if transform.invertible else "it cannot be undone"

    def build(self, backbone: Callable[[], nn.Module]) -> nn.Module:
        made = backbone()
        values = math.prod(kept_shape(made, "estimate-and-invert"))
        return Restoring(made, estimator_for(values, self.transform.alpha_dim), self.transform)

    def prepare(self, net: nn.Module, normalisation: Any) -> None:
        assert isinstance(net, Restoring)
        net.know(torch.tensor(normalisation.mean), torch.tensor(normalisation.deviation))

    def inputs(
        self,
        samples: Tensor,
        params: Tensor,
        normalisation: Callable[[Tensor], Tensor],
        assumed: Tensor | None = None,
    ) -> Tensor:
        return self.transform.apply(samples, params)

    def alphas(self, params: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
        return {"params": params, "alpha": self.transform.encode(params)}

    def loss(self, net: nn.Module, x: Tensor, labels: Tensor, alphas: dict[str, Tensor]) -> dict[str, Tensor]:
        assert isinstance(net, Restoring)
        alpha = alphas["alpha"].repeat_interleave(len(x) // len(alphas["alpha"]), dim=0)
        return {
            self.objective.part: self.objective.loss(net.answer(x, alphas["params"]), labels),
            "estimation": F.smooth_l1_loss(net.estimator(x), alpha, beta=SMALL),
        }

    def load(self, path: Path, backbone: Callable[[], nn.Module]) -> nn.Module:
        tensors, _ = load_model(path)
        with torch.random.fork_rng():
            net = self.build(backbone)
        assert isinstance(net, Restoring)
        net.know(tensors["mean"], tensors["deviation"])
        net.load_state_dict(tensors)
        return net
