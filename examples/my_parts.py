"""Parts of your own: a network, changes of the input, a method and data that scn does not know.

Each is named on the command line as package.module:Name, in the folder of this file for instance

    scn train --data my_parts:stripes --transform my_parts:Fading --method my_parts:Blurred \\
        --backbone my_parts:TinyNet -o RUN
    scn evaluate RUN --allow my_parts:stripes,my_parts:Fading,my_parts:Blurred,my_parts:TinyNet
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from scn.methods.base import PlainMethod
from scn.transforms import Light, Parameter, Transform, registry


class TinyNet(nn.Module):
    """Any torch module will do. `shape` and `classes` are filled in from the data if it takes them."""

    def __init__(self, shape: Sequence[int], classes: int) -> None:
        super().__init__()
        self.features = nn.Conv2d(shape[0], 6, kernel_size=8, stride=4)
        self.norm = nn.BatchNorm2d(6)
        self.answer = nn.Linear(6 * 7 * 7, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.answer(self.norm(self.features(x)).relu().flatten(1))


@registry.register("fading")
class Fading(Transform):
    """The picture fades to grey, as in fog: what is left of it is measured by a visibility sensor."""

    parameters = (Parameter("visibility", 0.1, 1.0),)
    alpha_dim = 1
    default_step = 0.1

    def encode(self, params: Tensor) -> Tensor:
        return self.checked(params)

    def apply(self, x: Tensor, params: Tensor) -> Tensor:
        left = self.rows(x, params).repeat_interleave(len(x) // len(params.view(-1, 1)), 0)
        return torch.lerp(torch.full_like(x, 0.5), x, left.view(-1, 1, 1, 1))


class Daylight(Light):
    """Light that your own sensor measured beside each sample, over the range of that sensor."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "default": {"low": 1000.0, "high": 5000.0, "unit": "lux"},
        "outdoors": {"low": 1000.0, "high": 100_000.0, "unit": "lux"},
    }


@dataclass(frozen=True)
class Blurred(PlainMethod):
    """A plain network that sees a blurred picture, whatever the setting."""

    def see(self, x: Tensor, params: Tensor) -> Tensor:
        return nn.functional.avg_pool2d(x, 3, stride=1, padding=1)


def stripes() -> dict[str, np.ndarray[Any, Any]]:
    """Pictures of upright and of level stripes, as arrays of the form that a data file has."""
    rng = np.random.default_rng(0)
    found = {}
    for split, count in (("train", 400), ("test", 100)):
        level = np.arange(count) % 2
        stripe = np.sin(np.arange(32) + rng.uniform(0, 6, (count, 1)))[:, None]
        upright = np.broadcast_to(stripe, (count, 32, 32))
        pictures = np.where(level[:, None, None], upright.transpose(0, 2, 1), upright)
        noisy = 128 + 60 * pictures + rng.normal(0, 30, pictures.shape)
        found[f"x_{split}"] = noisy.clip(0, 255).astype(np.uint8)
        found[f"y_{split}"] = level.astype(np.uint8)
    return {**found, "classes": np.array(["upright", "level"])}
