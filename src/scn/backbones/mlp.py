"""The multi-layer perceptron of the paper: `depth` hidden layers of `width` units."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch import Tensor, nn

from scn.core.registry import backbones


@backbones.register("mlp")
class MLP(nn.Module):
    """Linear layers with ReLU between them, on the flattened input.

    Without norm layers it has (pixels+1)*w + (l-1)*(w*w+w) + classes*(w+1) parameters.
    `norm` puts a BatchNorm behind each hidden layer; by default networks deeper than 3 have it.
    """

    def __init__(
        self,
        shape: Sequence[int] = (1, 32, 32),
        classes: int = 10,
        width: int = 32,
        depth: int = 1,
        norm: bool | None = None,
    ) -> None:
        super().__init__()
        for name, count in (("classes", classes), ("width", width), ("depth", depth)):
            if count < 1:
                raise ValueError(f"{name} must be at least 1, but is {count}")
        self.shape = list(shape)
        self.classes = classes
        self.width = width
        self.depth = depth
        self.norm = depth > 3 if norm is None else norm
        layers: list[nn.Module] = [nn.Flatten()]
        features = math.prod(self.shape)
        for _ in range(depth):
            layers.append(nn.Linear(features, width))
            if self.norm:
                layers.append(nn.BatchNorm1d(width))
            layers.append(nn.ReLU())
            features = width
        self.layers = nn.Sequential(*layers, nn.Linear(features, classes))

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, *shape) -> logits (B, classes)."""
        return self.layers(x)
