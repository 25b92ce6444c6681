"""The multi-layer perceptron of the paper: `depth` hidden layers of `width` units."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch import Tensor, nn

from scn.backbones.sizes import check_counts
from scn.core.registry import backbones


def perceptron(
    shape: Sequence[int], hidden: Sequence[int], classes: int, norm: bool, norm_first: bool = True
) -> nn.Sequential:
    """Linear layers of these widths on the flattened input, each with ReLU, and the output layer.

    `norm` puts a BatchNorm behind each of them, and `norm_first` behind the first of them too.
    """
    layers: list[nn.Module] = [nn.Flatten()]
    features = math.prod(shape)
    for place, width in enumerate(hidden):
        layers.append(nn.Linear(features, width))
        if norm and (norm_first or place):
            layers.append(nn.BatchNorm1d(width))
        layers.append(nn.ReLU())
        features = width
    return nn.Sequential(*layers, nn.Linear(features, classes))


@backbones.register("mlp")
class MLP(nn.Module):
    """Linear layers with ReLU between them, on the flattened input.

    Without norm layers it has (pixels+1)*w + (l-1)*(w*w+w) + classes*(w+1) parameters.
    `norm` puts a BatchNorm behind each hidden layer; by default networks deeper than 3 have it. Without
    `norm_first` the first hidden layer has none.
    """

    def __init__(
        self,
        shape: Sequence[int] = (1, 32, 32),
        classes: int = 10,
        width: int = 32,
        depth: int = 1,
        norm: bool | None = None,
        norm_first: bool = True,
    ) -> None:
        super().__init__()
        check_counts(classes=classes, width=width, depth=depth)
        self.shape = list(shape)
        self.classes = classes
        self.width = width
        self.depth = depth
        self.norm = depth > 3 if norm is None else norm
        self.norm_first = norm_first
        self.layers = perceptron(self.shape, [width] * depth, classes, self.norm, norm_first)

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, *shape) -> logits (B, classes)."""
        return self.layers(x)
