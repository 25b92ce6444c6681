"""LeNet-5 (LeCun, 1998), in the size that the paper uses."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from scn.backbones.sizes import check_counts, image_shape
from scn.core.errors import ScnError
from scn.core.registry import backbones

LEAST_SIZE = 16  # what two rounds of convolution and pooling turn into 1x1


@backbones.register("lenet5")
class LeNet5(nn.Module):
    """Two rounds of 5x5 convolution, ReLU and 2x2 max pooling, then three linear layers.

    For one channel of 32x32 and 10 classes:

        convolution 1 -> 4       28x28      104 parameters, pooled to 14x14
        convolution 4 -> 16      10x10    1,616 parameters, pooled to 5x5
        linear 400 -> 256               102,656 parameters
        linear 256 -> 128                32,896 parameters
        linear 128 -> 10                  1,290 parameters

    These are the 138,562 of the paper, which gives no sizes of layers: we searched for some that
    explain the number (the sizes of 1998, 6-16-120-84, have 61,706).
    """

    def __init__(self, shape: Sequence[int] = (1, 32, 32), classes: int = 10) -> None:
        super().__init__()
        check_counts(classes=classes)
        self.shape = image_shape(shape)
        self.classes = classes
        channels, *size = self.shape
        if min(size) < LEAST_SIZE:
            raise ScnError(
                f"an image of {size[0]}x{size[1]} is too small for two 5x5 convolutions with pooling: "
                f"resize it to at least {LEAST_SIZE}x{LEAST_SIZE} (32x32 is usual)"
            )
        height, width = (((pixels - 4) // 2 - 4) // 2 for pixels in size)
        self.features = nn.Sequential(
            nn.Conv2d(channels, 4, 5),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(4, 16, 5),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(
            nn.Flatten(),
            nn.Linear(16 * height * width, 256),
            nn.ReLU(),
            nn.Linear(256, 128),
            nn.ReLU(),
            nn.Linear(128, classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, *shape) -> logits (B, classes)."""
        return self.classifier(self.features(x))
