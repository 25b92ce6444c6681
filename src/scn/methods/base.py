"""What the training loop and the evaluation ask of a method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from scn.core.registry import Registry
from scn.training.recipe import Recipe
from scn.transforms import Transform


@dataclass(frozen=True)
class Method(ABC):
    """One way to deal with a change of the input.

    `fixed` (P,) is the one setting that a method without adaptation is trained for, where it has one;
    `configurable` says which parameters are mixed by a method that mixes, by patterns of their names.
    """

    transform: Transform
    recipe: Recipe = field(default_factory=Recipe)
    dims: int = 1
    fixed: Tensor | None = None
    configurable: tuple[str, ...] = ("*",)

    mixes: ClassVar[bool] = False  # whether it has base models, so that dims matters
    needs_fixed: ClassVar[bool] = False
    shows_input: ClassVar[bool] = True  # whether the network sees the sample at all

    @classmethod
    def objection(cls, transform: Transform) -> str | None:
        """Why this method cannot deal with such a change, if it cannot."""
        return None

    @abstractmethod
    def build(self, backbone: Callable[[], nn.Module]) -> nn.Module:
        """The network to train, from new backbones drawn from torch's global generator."""

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """The settings of one batch: (K, P)."""
        return self.transform.sample(count, generator)

    def see(self, x: Tensor, params: Tensor) -> Tensor:
        """What the network is shown of the changed input x."""
        return x

    @abstractmethod
    def logits(self, net: nn.Module, x: Tensor, params: Tensor) -> Tensor:
        """The answers to x (B, ...), whose K groups are under the settings params (K, P)."""

    def told(self, params: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
        """What the loss needs to know beside x and y: for each row of params one row of each tensor.

        Everything random is drawn here, for many batches at once, so that the loss is a plain function.
        """
        return {}

    def loss(self, net: nn.Module, x: Tensor, y: Tensor, told: dict[str, Tensor]) -> dict[str, Tensor]:
        """The parts of the loss of one batch, by name; their sum is what is minimised."""
        return {"classification": self.classification(net(x), y)}

    def statistics(self, net: nn.Module) -> dict[str, float]:
        """What is worth noting about the network after an epoch."""
        return {}

    @abstractmethod
    def configured(self, net: nn.Module, params: Tensor, into: nn.Module | None = None) -> nn.Module:
        """The plain network that answers under the setting params (P,); `into` may be reused."""

    def classification(self, logits: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(logits, y, label_smoothing=self.recipe.label_smoothing)


@dataclass(frozen=True)
class Plain(Method):
    """A method that trains the backbone as it is."""

    def build(self, backbone: Callable[[], nn.Module]) -> nn.Module:
        return backbone()

    def logits(self, net: nn.Module, x: Tensor, params: Tensor) -> Tensor:
        return net(x)

    def configured(self, net: nn.Module, params: Tensor, into: nn.Module | None = None) -> nn.Module:
        return net


registry: Registry[type[Method]] = Registry("method", Method)
