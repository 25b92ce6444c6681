"""The multi-layer perceptron of the paper's traffic signs: three layers that get narrower.

Their widths are as 12 to 8 to 5, so that one number makes all of them wider, and another all of it deeper.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from scn.backbones.mlp import perceptron
from scn.backbones.sizes import check_counts
from scn.core.registry import backbones

WIDTHS = (12, 8, 5)


@backbones.register("tapering-mlp")
class TaperingMLP(nn.Module):
    """Hidden layers of `width`, 2/3 and 5/12 of it, each of them `depth` times, and the output layer.

    `norm` puts a BatchNorm behind each hidden layer: a layer of 5 units dies easily without.
    """

    def __init__(
        self,
        shape: Sequence[int] = (1, 32, 32),
        classes: int = 43,
        width: int = WIDTHS[0],
        depth: int = 1,
        norm: bool = True,
    ) -> None:
        super().__init__()
        check_counts(classes=classes, width=width, depth=depth)
        self.shape = list(shape)
        self.classes = classes
        self.width = width
        self.depth = depth
        self.norm = norm
        hidden = [max(1, round(width * part / WIDTHS[0])) for part in WIDTHS for _ in range(depth)]
        self.layers = perceptron(self.shape, hidden, classes, norm)

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, *shape) -> logits (B, classes)."""
        return self.layers(x)
