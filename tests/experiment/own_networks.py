"""Networks of a user's own that cannot work, each for a reason of its own."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class Right(nn.Module):
    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.layer = nn.Linear(32 * 32, classes)

    def forward(self, x: Tensor) -> Any:
        return self.layer(x.flatten(1))


class TooFew(Right):
    def __init__(self) -> None:
        super().__init__(7)


class Pair(Right):
    def forward(self, x: Tensor) -> Any:
        return super().forward(x), x


class Dense(nn.Module):
    """A value for each place of the image, as for a segmentation."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.layer = nn.Conv2d(1, classes, 1)

    def forward(self, x: Tensor) -> Any:
        return self.layer(x)


class OtherSize(Right):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(28 * 28, 10)


class Demanding(Right):
    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden


class Faulty(Right):
    def forward(self, x: Tensor) -> Any:
        return torch.zeros(3) + "three"  # type: ignore[operator]
