"""The shallow CNN of the paper (after Neyshabur, 2020): one wide look at the image, then one at all of it."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from scn.backbones.sizes import check_counts, image_shape
from scn.core.errors import ScnError
from scn.core.registry import backbones

FIRST, MIDDLE, LAST = 9, 3, 13  # kernel sizes
STRIDE = 2
MOST_PADDING = FIRST // 2


@backbones.register("shallow-cnn")
class ShallowCNN(nn.Module):
    """`depth` convolutions of `width` channels with ReLU, the average over what is left, and a linear layer.

    The first convolution is 9x9 with stride 2, the last one 13x13 without padding, and those between
    them, when depth > 2, are 3x3 with padding 1. An image of 32x32, padded by 1 pixel on each side,
    leaves the first convolution as 13x13, which the last one sees whole: the average is then over one
    position. Smaller images are padded by up to 4 pixels, so that 25x25 is the least; larger ones leave
    more positions to the average. With depth 1 there is no 13x13 convolution, and any size will do.

    Without norm layers it has (81*channels+1)*w + classes*(w+1) parameters at depth 1; the last
    convolution adds (169*w+1)*w and each 3x3 one (9*w+1)*w. (At depth 1 and 2 that is the formula of the
    paper, which has a 13x13 convolution in each further layer too.)
    `norm` puts a BatchNorm behind each convolution; by default networks deeper than 3 have it.
    """

    def __init__(
        self,
        shape: Sequence[int] = (3, 32, 32),
        classes: int = 10,
        width: int = 32,
        depth: int = 2,
        norm: bool | None = None,
    ) -> None:
        super().__init__()
        check_counts(classes=classes, width=width, depth=depth)
        self.shape = image_shape(shape)
        self.classes = classes
        self.width = width
        self.depth = depth
        self.norm = depth > 3 if norm is None else norm
        channels, *size = self.shape
        if depth > 1 and min(size) < _least_size():
            raise ScnError(
                f"an image of {size[0]}x{size[1]} is too small for the {LAST}x{LAST} convolution: resize it "
                f"to at least {_least_size()}x{_least_size()} (32x32 is usual), or use depth=1"
            )
        convolutions = [
            nn.Conv2d(channels, width, FIRST, STRIDE, (_padding(size[0]), _padding(size[1]))),
            *(nn.Conv2d(width, width, MIDDLE, padding=MIDDLE // 2) for _ in range(depth - 2)),
        ]
        if depth > 1:
            convolutions.append(nn.Conv2d(width, width, LAST))
        layers: list[nn.Module] = []
        for convolution in convolutions:
            layers.append(convolution)
            if self.norm:
                layers.append(nn.BatchNorm2d(width))
            layers.append(nn.ReLU())
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes))

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, *shape) -> logits (B, classes)."""
        return self.layers(x)


def _needed() -> int:
    """How many padded pixels the first convolution turns into 13 positions."""
    return FIRST + STRIDE * (LAST - 1)


def _least_size() -> int:
    return _needed() - 2 * MOST_PADDING


def _padding(size: int) -> int:
    """On each side: 1 where that is enough for the last convolution, more for smaller images."""
    missing = -(-(_needed() - size) // 2)
    return min(max(missing, 1), MOST_PADDING)
