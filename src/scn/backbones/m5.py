"""M5 (Dai, 2016): a network of five layers that hears the raw waveform."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from scn.backbones.sizes import check_counts, checked_shape
from scn.core.errors import ScnError
from scn.core.registry import backbones

FIRST, OTHER = 80, 3  # kernel sizes
POOL = 4
ROUNDS = 4
STRIDES = (16, 8, 4, 2, 1)


@backbones.register("m5")
class M5(nn.Module):
    """Four rounds of convolution, BatchNorm, ReLU and 4-fold max pooling, the average over time, linear.

    The first convolution has kernel 80 and `stride`, the others kernel 3; they have w, w, 2w and 2w
    channels. With 1 channel, width 32 and 35 classes it has 26,915 parameters, at any stride.

    Only the stride decides how many steps of time survive the four poolings. A second at 16 kHz with
    stride 16: 16,000 samples become 996, pooled 249, 61, 14 and at last 3. At 8 kHz stride 16 would leave
    8,000 samples as 496, 124, 30, 7 and 1: there is nothing to average, and the end of the clip is lost in
    the remainders. With stride 8 they are 991, 247, 61, 14 and 3, and a step lasts as long as at 16 kHz;
    stride 4 gives 1,981, 495, 123, 30 and 7 for twice the work.
    By default the stride is the largest of 16, 8, 4, 2, 1 that leaves at least 2 steps: 16 for 16,000
    samples and more, 8 for 8,000, 4 for 4,000.
    """

    def __init__(
        self,
        shape: Sequence[int] = (1, 16_000),
        classes: int = 35,
        width: int = 32,
        stride: int | None = None,
    ) -> None:
        super().__init__()
        self.shape = checked_shape(shape, ("channels", "samples"))
        channels, samples = self.shape
        self.stride = _usual_stride(samples) if stride is None else stride
        check_counts(classes=classes, width=width, stride=self.stride)
        if _steps(samples, self.stride) < 1:
            raise ScnError(
                f"a waveform of {samples} samples is too short for stride {self.stride}: "
                f"{_least_samples(self.stride)} are the least; pad it"
                + (" or use a smaller stride" if self.stride > 1 else "")
            )
        self.classes = classes
        self.width = width
        self.layers = nn.Sequential(
            *_round(channels, width, FIRST, self.stride),
            *_round(width, width, OTHER),
            *_round(width, 2 * width, OTHER),
            *_round(2 * width, 2 * width, OTHER),
            nn.AdaptiveAvgPool1d(1),
            nn.Flatten(),
            nn.Linear(2 * width, classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, channels, samples) -> logits (B, classes)."""
        return self.layers(x)


def _round(channels: int, width: int, kernel: int, stride: int = 1) -> list[nn.Module]:
    return [
        nn.Conv1d(channels, width, kernel, stride),
        nn.BatchNorm1d(width),
        nn.ReLU(),
        nn.MaxPool1d(POOL),
    ]


def _steps(samples: int, stride: int) -> int:
    """How many steps of time are left to the average."""
    steps = max((samples - FIRST) // stride + 1, 0) // POOL
    for _ in range(ROUNDS - 1):
        steps = max(steps - OTHER + 1, 0) // POOL
    return steps


def _usual_stride(samples: int) -> int:
    return next((stride for stride in STRIDES if _steps(samples, stride) >= 2), STRIDES[-1])


def _least_samples(stride: int) -> int:
    """How many samples leave one step."""
    steps = 1
    for _ in range(ROUNDS - 1):
        steps = steps * POOL + OTHER - 1
    return FIRST + (steps * POOL - 1) * stride
