"""How each layer with weights is held: in flash as it is, mixed to RAM, or mixed while it is used.

| weights of the layer | theta ram | theta row | one configuration |
|---|---|---|---|
| mixed by alpha | mixed to RAM | mixed in strips | - |
| shared, float32 | used from flash | used from flash | used from flash |
| shared, float16 or int8 | unpacked in strips | unpacked in strips | unpacked in strips |
| shared, whole numbers | used from flash | used from flash | used from flash |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scn.export.operations.affine import Affine


class Place(Enum):
    """Where the rows of a layer are when they are multiplied."""

    RAM = "mixed to RAM"
    STRIPS = "mixed or unpacked while they are used"
    FLASH = "constants"


@dataclass
class Layer:
    """One layer with weights, and where its parts are, counted in weights."""

    number: int
    op: Affine
    place: Place
    size: int
    theta: int = 0  # where its rows start in theta
    base: int = 0  # where its rows start in the table of base models, or of shared weights
    vectors: int | None = None  # where its biases start beside theta; None: they do not depend on alpha

    @property
    def in_bases(self) -> bool:
        """Whether it has a set of weights in each base model."""
        return self.op.bases > 1


@dataclass(frozen=True)
class Arrangement:
    """All layers, with the sizes of what they are kept in."""

    layers: list[Layer]
    base_size: int  # weights of one base model
    theta_size: int  # weights that are mixed to RAM
    vectors_size: int  # biases (in whole numbers: factors and biases) that are mixed

    def of(self, op: Affine) -> Layer:
        return next(layer for layer in self.layers if layer.op is op)


def arrange(layers: list[Layer], vectors: Callable[[Affine], int]) -> Arrangement:
    """Give each layer its places. `vectors`: how many numbers of a layer are mixed beside its rows."""
    base = shared = theta = beside = 0
    for layer in layers:
        if layer.place is Place.RAM:
            layer.theta, theta = theta, theta + layer.size
        if layer.in_bases:
            layer.base, base = base, base + layer.size
        else:
            layer.base, shared = shared, shared + layer.size
        count = vectors(layer.op)
        if count:
            layer.vectors, beside = beside, beside + count
    return Arrangement(layers, base, theta, beside)
