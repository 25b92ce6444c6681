"""A CNN whose answer does not depend on where in the frame an object is, as far as pooling allows.

The paper trains an SCN on it to show that, where the backbone is invariant to the transform, one base
model is all that is learned.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from scn.backbones.sizes import check_counts, image_shape
from scn.core.registry import backbones

KERNEL = 4  # of convolutions and pooling alike
FIELD = 2 * KERNEL - 1  # pixels that one output of the first pooling sees


@backbones.register("shift-invariant-cnn")
class ShiftInvariantCNN(nn.Module):
    """Two 4x4 convolutions of `width` channels, each with max pooling and ReLU, and a linear layer.

    The first pooling is 4x4 with stride 4. The second is over all positions (4x4 pooling again and then
    the largest of what is left would be the same number), so that only what is seen counts, not where.

    Shifting an object on an even background by multiples of 4 pixels, the stride of the first pooling,
    changes nothing as long as the object stays in the frame; other shifts change which responses are
    pooled together, which is the checkered pattern that the paper shows. Two things make that exact at
    the edges too. The frame is widened by background until each window that touches a pixel of it is
    seen whole. And the background is made to be 0, which is what the frame is widened with, by taking
    the least value of each channel of each image as its background. So objects are expected to be
    brighter than their background; the answer does not change when a constant is added to an image.

    It has (16*channels+1)*w + (16*w+1)*w + classes*(w+1) parameters, whatever the size of the frame.
    """

    def __init__(self, shape: Sequence[int] = (1, 32, 32), classes: int = 10, width: int = 16) -> None:
        super().__init__()
        check_counts(classes=classes, width=width)
        self.shape = image_shape(shape)
        self.classes = classes
        self.width = width
        channels, height, breadth = self.shape
        self.layers = nn.Sequential(
            nn.ZeroPad2d((*_margins(breadth), *_margins(height))),
            nn.Conv2d(channels, width, KERNEL),
            nn.MaxPool2d(KERNEL),
            nn.ReLU(),
            # The outermost responses are those to background alone: more of them are the same again.
            nn.ReplicationPad2d(KERNEL - 2),
            nn.Conv2d(width, width, KERNEL),
            nn.AdaptiveMaxPool2d(1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(width, classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, *shape) -> logits (B, classes)."""
        background = x.amin(dim=(-2, -1), keepdim=True)
        return self.layers(x - background)


def _margins(size: int) -> tuple[int, int]:
    """Background before and after `size` pixels: enough for one pooled response to it alone on each side.

    Pooled responses start at multiples of 4 and see 7 pixels: the one from -8 sees nothing of the frame,
    and the first that starts behind the last pixel neither. 32 pixels are widened by 8 and 7.
    """
    before = 2 * KERNEL
    behind = (size - 1) // KERNEL * KERNEL + KERNEL
    return before, behind + FIELD - size
