"""Small backbones of every kind that an SCN must be able to make configurable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from scn.backbones import MLP

CLASSES = 3


def mlp() -> nn.Module:
    return MLP((1, 4, 4), CLASSES, width=6, depth=2)


def mlp_norm() -> nn.Module:
    return MLP((1, 4, 4), CLASSES, width=6, depth=2, norm=True)


def conv2d() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1, stride=2),
        nn.ReLU(),
        nn.Conv2d(4, 4, 3, groups=2, bias=False, padding="same", dilation=2),
        nn.Flatten(),
        nn.Linear(4 * 3 * 3, CLASSES),
    )


def conv2d_norm() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, CLASSES),
    )


def conv1d() -> nn.Module:
    return nn.Sequential(
        nn.Conv1d(1, 4, 5, stride=2),
        nn.GroupNorm(2, 4),
        nn.ReLU(),
        nn.MaxPool1d(2),
        nn.Conv1d(4, 4, 3),
        nn.InstanceNorm1d(4, affine=True),
        nn.Flatten(),
        nn.LazyLinear(CLASSES),
    )


class TiedAutoencoder(nn.Module):
    """Weights tied in both ways: one parameter in two layers, and one used through its owner."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Linear(8, 5)
        self.middle = nn.Linear(5, 5)
        self.again = nn.Linear(5, 5)
        self.again.weight = self.middle.weight
        self.output = nn.Linear(8, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.again(self.middle(self.encoder(x).relu()).relu())
        return self.output(F.linear(hidden, self.encoder.weight.t()))


class TiedLayers(nn.Module):
    """One parameter in two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 8)
        self.second.weight = self.first.weight
        self.output = nn.Linear(8, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.second(self.first(x).relu()).relu())


class OwnParameter(nn.Module):
    """A parameter that no layer of torch knows."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, CLASSES)
        self.scale = nn.Parameter(torch.rand(CLASSES))

    def reset_parameters(self) -> None:
        self.layer.reset_parameters()
        nn.init.uniform_(self.scale)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x) * self.scale


class Attention(nn.Module):
    """LayerNorm on sequences, attention as a unit, and a recurrent layer's last state."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.scale = nn.RMSNorm(4)
        self.recurrent = nn.GRU(4, 5, batch_first=True)
        self.output = nn.Linear(5, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(x)
        x = self.scale(x + self.attention(x, x, x, need_weights=False)[0])
        _, state = self.recurrent(x)
        return self.output(state[-1])


@dataclass(frozen=True)
class Case:
    name: str
    build: Callable[[], nn.Module]
    shape: tuple[int, ...]

    def backbone(self) -> nn.Module:
        """In eval mode, with statistics as after some training."""
        net = self.build()
        with torch.no_grad():
            for _ in range(2):
                net(torch.randn(8, *self.shape) * 2 + 1)
        return net.eval()


CASES = [
    Case("mlp", mlp, (1, 4, 4)),
    Case("mlp with BatchNorm", mlp_norm, (1, 4, 4)),
    Case("Conv2d", conv2d, (2, 6, 6)),
    Case("Conv2d with BatchNorm", conv2d_norm, (2, 6, 6)),
    Case("Conv1d with group and instance norm", conv1d, (1, 32)),
    Case("tied layers", TiedLayers, (8,)),
    Case("tied autoencoder", TiedAutoencoder, (8,)),
    Case("own parameter", OwnParameter, (8,)),
    Case("attention and recurrence", Attention, (7, 4)),
]
