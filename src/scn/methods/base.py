"""What the training loop and the evaluation ask of a method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from scn.core.compact import FULL
from scn.core.maps import LEARNED
from scn.core.registry import Registry, describe_backbone
from scn.core.storage import load_model, save_model
from scn.methods.terms import Terms
from scn.objectives import Classification, Objective
from scn.transforms import Transform


@dataclass(frozen=True)
class Method(ABC):
    """One way to deal with a change of the input.

    `fixed` (P,) is the one setting that a method without adaptation is trained for, where it has one;
    `configurable` says which parameters are mixed by a method that mixes, by patterns of their names,
    `map` how alpha becomes beta (its name, and what it is made with) and `subspace` what is stored.
    """

    transform: Transform
    terms: Terms = field(default_factory=Terms)
    dims: int = 1
    fixed: Tensor | None = None
    configurable: tuple[str, ...] = ("*",)
    objective: Objective = field(default_factory=Classification)
    map: Mapping[str, Any] = field(default_factory=lambda: {"name": LEARNED})
    subspace: str = FULL

    title: ClassVar[str] = ""  # how tables and legends call it, with {dims} where it has base models
    colour: ClassVar[str] = ""  # of its curves, where it has one of its own
    knows_setting: ClassVar[bool] = True  # whether it is given the setting in any form
    undoes: ClassVar[bool] = False  # whether the change is undone first, which is work outside the network
    mixes: ClassVar[bool] = False  # whether it has base models, so that dims matters
    takes: ClassVar[tuple[str, ...]] = ()  # which of map and subspace a person may choose
    factors: ClassVar[tuple[int, ...]] = ()  # by which its backbones are wider, where dims is that
    needs_fixed: ClassVar[bool] = False
    may_fix: ClassVar[bool] = False  # whether it can be trained for one setting
    needs_labels: ClassVar[bool] = True  # of changed inputs
    one_pass: ClassVar[bool] = True  # whether a plain network answers in one pass, and so can be exported
    shows_input: ClassVar[bool] = True  # whether the network sees the sample at all

    @classmethod
    def objection(cls, transform: Transform) -> str | None:
        """Why this method cannot deal with such a change, if it cannot."""
        return None

    @property
    def noise(self) -> float:
        """The noise of base models that start alike, 0 where each starts from a draw of its own."""
        return self.terms.base_noise or 0.0

    @property
    def together(self) -> float:
        """The part of a step that all base models take together."""
        return self.terms.together or 0.0

    @classmethod
    def usual_map(cls, transform: Transform, dims: int, searched: bool = False) -> str:
        """The map that a method which mixes takes for such a change, unless a person names another.

        `searched`: whether the setting is to be found from the input.
        """
        return LEARNED

    def require(self, backbone: nn.Module) -> None:  # noqa: B027
        """Refuse dims, map and subspace that do not fit this backbone and change, before any work."""

    @abstractmethod
    def build(self, backbone: Callable[[], nn.Module]) -> nn.Module:
        """The network to train, from new backbones drawn from torch's global generator."""

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """The settings of one batch: (K, P)."""
        return self.transform.sample(count, generator)

    def inputs(
        self,
        samples: Tensor,
        params: Tensor,
        normalisation: Callable[[Tensor], Tensor],
        assumed: Tensor | None = None,
    ) -> Tensor:
        """What the network is given of samples (B, ...), floats, whose K groups are changed by params (K, P).

        The result has the samples in its first dimension; the rest is the method's own, such as several
        versions of each. `assumed` is what the method takes the setting for, by default what it is.
        """
        changed = self.transform.apply(samples, params)
        return normalisation(self.see(changed, params if assumed is None else assumed))

    def training_inputs(
        self, samples: Tensor, params: Tensor, normalisation: Callable[[Tensor], Tensor]
    ) -> Tensor:
        """The same in training, where a method may show its network something else."""
        return self.inputs(samples, params, normalisation)

    def prepare(self, net: nn.Module, normalisation: Callable[[Tensor], Tensor]) -> None:  # noqa: B027
        """Give a new network what it must know of the data; it is saved with it."""

    def see(self, x: Tensor, params: Tensor) -> Tensor:
        """What the network is shown of the changed input x, before it is normalised."""
        return x

    @property
    def shows_the_sample(self) -> bool:
        """Whether the network is given the changed sample, and nothing else is done to it."""
        kind = type(self)
        return kind.inputs is Method.inputs and kind.see is Method.see

    def shape_of(self, inputs: Tensor) -> tuple[int, ...]:
        """The shape of one input of the backbone, from what `inputs` gave; a method of several versions
        of a sample leaves their number out."""
        return tuple(inputs.shape[1:])

    def blank(self, shape: tuple[int, ...]) -> Tensor:
        """An empty input for a backbone of this shape, as `inputs` gives one."""
        return torch.zeros(1, *shape)

    def kept(self, net: nn.Module) -> nn.Module:
        """What of a network is needed after training."""
        return net

    @abstractmethod
    def outputs(self, net: nn.Module, x: Tensor, params: Tensor) -> Tensor:
        """The network's outputs for x (B, ...), whose K groups are under the settings params (K, P)."""

    def alphas(self, params: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
        """What the loss is given beside x and labels: for each row of params one row of each tensor.

        Everything random is drawn here, for many batches at once, so that the loss is a plain function.
        """
        return {}

    def loss(self, net: nn.Module, x: Tensor, labels: Tensor, alphas: dict[str, Tensor]) -> dict[str, Tensor]:
        """The parts of the loss of one batch, by name; their sum is what is minimised.

        The first is the objective's.
        """
        return {self.objective.part: self.objective.loss(net(x), labels)}

    def statistics(self, net: nn.Module) -> dict[str, float]:
        """What is worth noting about the network after an epoch."""
        return {}

    @abstractmethod
    def configured(self, net: nn.Module, params: Tensor, into: nn.Module | None = None) -> nn.Module:
        """The plain network that answers under the setting params (P,); `into` may be reused."""

    def save(self, net: nn.Module, path: Path) -> None:
        """Write a trained network that `build` made."""
        save_model(path, net.state_dict(), {"backbone": describe_backbone(net)})

    def load(self, path: Path, backbone: Callable[[], nn.Module]) -> nn.Module:
        """The network that `save` wrote: built as for a training, around whatever wraps the backbone."""
        tensors, _ = load_model(path)
        with torch.random.fork_rng():
            net = self.build(backbone)
        net.load_state_dict(tensors)
        return net


@dataclass(frozen=True)
class PlainMethod(Method):
    """A method that trains the backbone as it is."""

    def build(self, backbone: Callable[[], nn.Module]) -> nn.Module:
        return backbone()

    def outputs(self, net: nn.Module, x: Tensor, params: Tensor) -> Tensor:
        return net(x)

    def configured(self, net: nn.Module, params: Tensor, into: nn.Module | None = None) -> nn.Module:
        return net


registry: Registry[type[Method]] = Registry("method", Method)
