"""What `torchrun` starts in tests: several trainings one after the other, because a start takes seconds.

Its argument is a file of JSON: a list with the words of each command.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from torch import Tensor, nn

from scn.cli.main import main
from scn.training.processes import launched


class WithNorms(nn.Sequential):
    """Norm layers that look at the batch, one with a mean over all steps."""

    def __init__(self) -> None:
        super().__init__(
            nn.AvgPool2d(4),
            nn.Conv2d(1, 4, 3),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(4 * 6 * 6, 8),
            nn.BatchNorm1d(8, momentum=None),
            nn.ReLU(),
            nn.Linear(8, 10),
        )


class WithUnused(nn.Module):
    """A layer that is there and never asked."""

    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused = nn.Linear(32 * 32, 10), nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.used(x.flatten(1))


def train(words: list[str]) -> None:
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise


if __name__ == "__main__":
    with launched().joined(torch.device("cpu")):
        for each in json.loads(Path(sys.argv[1]).read_text()):
            train(each)
