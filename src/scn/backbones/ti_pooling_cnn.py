"""The branch of TI-Pooling (Laptev, 2016) as the paper compares it: 13 million weights for small images."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from scn.backbones.sizes import check_counts, image_shape
from scn.core.registry import backbones

TIMES = (1, 2, 4)  # the width, in each of three convolutions


@backbones.register("ti-pooling-cnn")
class TIPoolingCNN(nn.Module):
    """Three rounds of 3x3 convolution, ReLU and 2-fold max pooling, then a dense layer of `dense` units.

    The published one: 40, 80 and 160 channels and 5,120 units, 13,308,170 parameters for images of 32x32.
    """

    def __init__(
        self,
        shape: Sequence[int] = (1, 32, 32),
        classes: int = 10,
        width: int = 40,
        dense: int = 5120,
    ) -> None:
        super().__init__()
        check_counts(classes=classes, width=width, dense=dense)
        self.shape = image_shape(shape)
        self.classes, self.width, self.dense = classes, width, dense
        channels, height, across = self.shape
        layers: list[nn.Module] = []
        for times in TIMES:
            layers += [nn.Conv2d(channels, times * width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
            channels, height, across = times * width, height // 2, across // 2
        features = channels * height * across
        self.layers = nn.Sequential(
            *layers,
            nn.Flatten(),
            nn.Linear(features, dense),
            nn.ReLU(),
            nn.Dropout(0.5),
            nn.Linear(dense, classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, *shape) -> logits (B, classes)."""
        return self.layers(x)
