"""ResNet18 (He, 2015) for small images: a 3x3 convolution in front, and no pooling before the blocks."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from scn.backbones.sizes import check_counts, image_shape
from scn.core.registry import backbones

BLOCKS = 2  # in each of the four layers


@backbones.register("resnet18")
class ResNet18(nn.Module):
    """Four layers of two residual blocks each, with 1, 2, 4 and 8 times `width` channels.

    Each layer but the first halves the image; the average over what is left goes to a linear layer.
    At width 64 it has 11,173,962 parameters for 3 channels and 10 classes, at width 16 about 0.7 million.
    The layers are named layer1 to layer4, so that configurable="layer4.*" selects the last two blocks.
    """

    def __init__(self, shape: Sequence[int] = (3, 32, 32), classes: int = 10, width: int = 64) -> None:
        super().__init__()
        check_counts(classes=classes, width=width)
        self.shape = image_shape(shape)
        self.classes = classes
        self.width = width
        self.stem = nn.Sequential(*_convolution(self.shape[0], width, 1), nn.ReLU())
        self.layer1 = _layer(width, width, stride=1)
        self.layer2 = _layer(width, 2 * width, stride=2)
        self.layer3 = _layer(2 * width, 4 * width, stride=2)
        self.layer4 = _layer(4 * width, 8 * width, stride=2)
        self.output = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * width, classes))

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, *shape) -> logits (B, classes)."""
        x = self.layer2(self.layer1(self.stem(x)))
        return self.output(self.layer4(self.layer3(x)))


class Block(nn.Module):
    """relu(f(x) + shortcut(x)), f two 3x3 convolutions with norm layers.

    The shortcut is x itself, or a 1x1 convolution with a norm layer where f changes the shape.
    """

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.residual = nn.Sequential(
            *_convolution(channels, width, stride),
            nn.ReLU(),
            *_convolution(width, width, 1),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride > 1 or channels != width:
            self.shortcut = nn.Sequential(*_convolution(channels, width, stride, kernel=1))
        self.activation = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, channels, H, W) -> (B, width, H/stride, W/stride)."""
        return self.activation(self.residual(x) + self.shortcut(x))


def _convolution(channels: int, width: int, stride: int, kernel: int = 3) -> list[nn.Module]:
    """A convolution, which needs no bias because a norm layer follows it."""
    return [
        nn.Conv2d(channels, width, kernel, stride, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(width),
    ]


def _layer(channels: int, width: int, stride: int) -> nn.Sequential:
    return nn.Sequential(Block(channels, width, stride), *(Block(width, width, 1) for _ in range(BLOCKS - 1)))
