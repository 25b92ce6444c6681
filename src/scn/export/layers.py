"""How each layer with weights is held: in flash as it is, mixed to RAM, or mixed while it is used.

| weights of the layer | theta ram | theta row | one configuration |
|---|---|---|---|
| mixed by alpha | mixed to RAM | mixed in strips | - |
| shared, float32 | used from flash | used from flash | used from flash |
| shared, float16 or int8 | unpacked in strips | unpacked in strips | unpacked in strips |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from scn.export.base import Options
from scn.export.graph import Affine, Graph
from scn.export.pack import packed

Place = Literal["ram", "strips", "flash"]


@dataclass
class Layer:
    """One layer with weights, and where its parts are, counted in weights."""

    number: int
    op: Affine
    place: Place
    theta: int = 0  # where its rows start in theta
    bias: int | None = None  # where its biases start beside theta; None where they do not depend on alpha
    base: int = 0  # where its rows start in the table of base models, or of shared weights

    @property
    def in_bases(self) -> bool:
        """Whether it has a set of weights in each base model."""
        return self.op.bases > 1

    @property
    def size(self) -> int:
        return self.op.rows * self.op.columns


@dataclass(frozen=True)
class Arrangement:
    """All layers, with the sizes of what they are kept in."""

    layers: list[Layer]
    base_size: int  # weights of one base model
    theta_size: int  # weights that are mixed to RAM
    bias_size: int  # biases that are mixed

    def of(self, op: Affine) -> Layer:
        return next(layer for layer in self.layers if layer.op is op)


def arrange(graph: Graph, options: Options) -> Arrangement:
    """Decide the place of each layer, by the table above."""
    layers = []
    base = shared = theta = 0
    for number, op in enumerate(graph.affine):
        layer = Layer(number, op, _place(op, options))
        if layer.place == "ram":
            layer.theta, theta = theta, theta + layer.size
        if layer.in_bases:
            layer.base, base = base, base + layer.size
        else:
            layer.base, shared = shared, shared + layer.size
        layers.append(layer)
    biases = 0
    for layer in layers:
        if len(layer.op.bias) > 1:
            layer.bias, biases = biases, biases + layer.op.rows
    return Arrangement(layers, base, theta, biases)


def _place(op: Affine, options: Options) -> Place:
    if op.mixed:
        return "ram" if options.theta == "ram" else "strips"
    return "flash" if options.weights == "float32" else "strips"


def is_linear(graph: Graph, op: Affine) -> bool:
    """Whether a layer sees its whole input once: a linear layer, or a convolution as large as its input."""
    once = graph.shapes[op.target][1:] == (1, 1) and op.groups == 1 and op.window.padding == (0, 0)
    return once and op.columns == graph.size(op.sources[0])


def tables(layers: list[Layer], weights: list[Tensor]) -> tuple[Tensor, Tensor]:
    """The weights of all layers as base models (D, L) and as shared weights (1, N), packed."""
    parts = [packed(w, layer.op.groups) for layer, w in zip(layers, weights, strict=True)]
    mixed = [part for layer, part in zip(layers, parts, strict=True) if layer.in_bases]
    shared = [part for layer, part in zip(layers, parts, strict=True) if not layer.in_bases]
    return (
        torch.cat(mixed, dim=1) if mixed else torch.empty(1, 0),
        torch.cat(shared, dim=1) if shared else torch.empty(1, 0),
    )
