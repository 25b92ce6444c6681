"""Networks with every map from alpha to beta, for tests of what is made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from scn import SCN, methods, transforms
from scn.core import maps
from scn.core.space import Categories, Space
from scn.data import Normalisation
from scn.export import LabelledSamples, Subject
from scn.transforms import Parameter, Transform


class Mounting(Transform):
    """Which of five places a camera is at; nothing is done to the image."""

    parameters = (Parameter("place", 0.0, 4.0),)
    alpha_dim = 1

    def encode(self, params: Tensor) -> Tensor:
        return self.checked(params)

    def space(self) -> Space:
        return (Categories(5),)

    def sample(self, count: int, generator: torch.Generator | None = None) -> Tensor:
        return torch.randint(5, (count, 1), generator=generator).float()

    def apply(self, x: Tensor, params: Tensor) -> Tensor:
        return x


@dataclass(frozen=True)
class Mapped:
    """A map by its name, over the space of a transform."""

    name: str
    transform: str
    dims: int
    arguments: dict[str, Any] = field(default_factory=dict)

    def made(self) -> Transform:
        return Mounting() if self.transform == "mounting" else transforms.get(self.transform)

    def map(self) -> maps.Map:
        space = self.made().space()
        assert space is not None
        return maps.get(self.name)(space, self.dims, **self.arguments)

    def network(self, backbone: nn.Module, **more: Any) -> SCN:
        made = self.map()
        net = SCN(
            backbone, self.made().alpha_dim, self.dims, map=made, space=made.space, seed=1, **more
        ).eval()
        with torch.no_grad():  # base models that differ in their norm layers too
            net.theta.mul_(1 + 0.3 * torch.randn_like(net.theta))
        return net

    def subject(self, net: SCN, shape: tuple[int, ...], **more: Any) -> Subject:
        method = methods.get("scn")(self.made(), dims=self.dims)
        given = {"name": "net", "data": "no such file.npz", **more}
        return Noise(network=net, method=method, shape=shape, normalisation=Normalisation(), **given)


class Noise(Subject):
    """Noise instead of data."""

    def samples(self, split: str, count: int, settings: int = 16, seed: int = 0) -> LabelledSamples:
        generator = torch.Generator().manual_seed(seed)
        params = self.transform.sample(4, generator) if self.params is None else self.params.expand(4, -1)
        x = torch.randn(16, *self.shape, generator=generator)
        return LabelledSamples(x, torch.zeros(16, dtype=torch.long), params.repeat_interleave(4, dim=0))


POSITIONS = {"positions": [0.25, 0.3, 0.7, 1.1, 1.9]}
AROUND = {"positions": [0.1, 0.35, 0.4, 0.9]}
MAPPED = {
    "learned from nodes": Mapped("learned-from-nodes", "rotation", 3),
    "nodes on a circle": Mapped("nodes", "rotation", 8),
    "many nodes on a circle": Mapped("nodes", "rotation", 64),
    "two nodes on a circle": Mapped("nodes", "rotation", 2),
    "given nodes on a circle": Mapped("nodes", "rotation", 4, AROUND),
    "nodes on a line": Mapped("nodes", "pitch", 5),
    "one node": Mapped("nodes", "pitch", 1),
    "given nodes on a line": Mapped("nodes", "brightness", 5, POSITIONS),
    "nodes on a plane": Mapped("nodes", "translation", 12),
    "nodes on a circle and a line": Mapped("nodes", "rotation+scaling", 15),
    "nodes among turns": Mapped("nodes", "rotation-3d", 24),
    "few nodes among turns": Mapped("nodes", "rotation-3d", 3),
    "experts on a circle": Mapped("experts", "rotation", 8),
    "experts on a line": Mapped("experts", "pitch", 3),
    "given experts on a line": Mapped("experts", "brightness", 5, POSITIONS),
    "experts on a plane": Mapped("experts", "translation", 9),
    "experts among turns": Mapped("experts", "rotation-3d", 24),
    "fourier on a circle": Mapped("fourier", "rotation", 7),
    "fourier on a circle, even": Mapped("fourier", "rotation", 8),
    "much fourier on a circle": Mapped("fourier", "rotation", 64),
    "fourier on a line": Mapped("fourier", "pitch", 6),
    "fourier on a plane": Mapped("fourier", "translation", 9),
    "fourier of one": Mapped("fourier", "pitch", 1),
    "categories": Mapped("categories", "mounting", 5),
    "categories that share": Mapped("categories", "mounting", 3),
    "linear": Mapped("linear", "rotation", 3),
    "generated": Mapped("generated", "translation", 6),
}
