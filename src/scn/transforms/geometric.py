"""Geometric transforms of images: every output pixel is looked up where it came from.

The places are worked out once for each set of parameters and used for all images that share it. What
comes from outside the image has the background value `fill`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor

from scn.core.errors import ScnError
from scn.core.registry import nearest
from scn.transforms.base import Parameter, Transform, registry
from scn.transforms.encoding import Angle, Encoding, Linear

Interpolation = Literal["bilinear", "nearest"]


def warp(x: Tensor, inverse: Tensor, interpolation: Interpolation, fill: float) -> Tensor:
    """Move the pixels of x: (B, C, H, W) by K affine maps.

    inverse: (K, 2, 3) takes a place (right, down, 1) in the output, counted in pixels from the
    centre, to its place in the input. The first map is for the first B/K images, and so on.
    """
    if x.dim() != 4 or not x.is_floating_point():
        raise ScnError(
            f"images must be floating-point (B, C, H, W) in [0, 1], but these samples are {x.dtype} of shape "
            f"{tuple(x.shape)}"
        )
    if x.dtype in (torch.float16, torch.bfloat16):  # too coarse for places in an image
        return warp(x.float(), inverse, interpolation, fill).to(x.dtype)
    if len(x) == 0:
        return x.clone()
    height, width = x.shape[-2:]
    column, row = _sources(inverse.to(x), height, width)
    if len(inverse) == 1 and x.permute(2, 3, 0, 1).is_contiguous():
        return _warp_pixel_major(x, column, row, interpolation, fill)
    planes = x.reshape(len(inverse), -1, height, width)
    if interpolation == "nearest":
        index, inside = _index(column.round(), row.round(), height, width)
        seen = planes.flatten(2).gather(2, index.unsqueeze(1).expand(-1, planes.shape[1], -1))
        return seen.where(inside.unsqueeze(1), fill).view_as(x)
    across, down = max(width - 1, 1), max(height - 1, 1)
    places = torch.stack([2 * column / across - 1, 2 * row / down - 1], dim=-1)
    shifted = planes - fill if fill else planes
    out = F.grid_sample(shifted, places.view(-1, height, width, 2), align_corners=True)
    return (out + fill if fill else out).reshape(x.shape)


def pixel_major(x: Tensor) -> Tensor:
    """The same (B, C, H, W) tensor with its memory in the order H, W, B, C.

    For a single map `warp` then adds up whole rows of values, and returns a tensor of this order.
    """
    return x.permute(2, 3, 0, 1).contiguous().permute(2, 3, 0, 1)


def _warp_pixel_major(
    x: Tensor, column: Tensor, row: Tensor, interpolation: Interpolation, fill: float
) -> Tensor:
    batch, channels, height, width = x.shape
    table = x.permute(2, 3, 0, 1).view(height * width, batch * channels)
    taps = [(column.round(), row.round(), torch.ones_like(row))]
    if interpolation == "bilinear":
        left, top = column.floor(), row.floor()
        right, down = column - left, row - top
        taps = [
            (left, top, (1 - right) * (1 - down)),
            (left + 1, top, right * (1 - down)),
            (left, top + 1, (1 - right) * down),
            (left + 1, top + 1, right * down),
        ]
    found = [(_index(c, r, height, width), weight) for c, r, weight in taps]
    index = torch.cat([i for (i, _), _ in found]).t()
    weight = torch.cat([w * inside for (_, inside), w in found]).t()
    out = F.embedding_bag(index, table, per_sample_weights=weight.contiguous(), mode="sum")
    if fill:
        out += fill * (1 - weight.sum(dim=1, keepdim=True))
    return out.view(height, width, batch, channels).permute(2, 3, 0, 1)


def _sources(inverse: Tensor, height: int, width: int) -> tuple[Tensor, Tensor]:
    """Column and row in the input of each output pixel: (K, HW) each."""
    down, right = torch.meshgrid(
        torch.arange(height, device=inverse.device) - (height - 1) / 2,
        torch.arange(width, device=inverse.device) - (width - 1) / 2,
        indexing="ij",
    )
    places = torch.stack([right.flatten(), down.flatten(), torch.ones_like(right).flatten()])
    column, row = (inverse @ places.to(inverse)).unbind(dim=1)
    return column + (width - 1) / 2, row + (height - 1) / 2


def _index(column: Tensor, row: Tensor, height: int, width: int) -> tuple[Tensor, Tensor]:
    """The number of each pixel, or of the nearest one inside the image; and whether it is inside."""
    inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    return (row.clamp(0, height - 1) * width + column.clamp(0, width - 1)).long(), inside


class Geometric(Transform):
    """A transform of images by an affine map. `fill` is the background value.

    The preset "paper" is what the published code does after normalisation, said for images in [0, 1]:
    nearest neighbour, and a background of mid-grey (0.5 becomes 0). "grey" has that background alone, for
    photographs, which have none of their own.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "default": {},
        "paper": {"interpolation": "nearest", "fill": 0.5},
        "grey": {"fill": 0.5},
    }

    def __init__(self, interpolation: Interpolation = "bilinear", fill: float = 0.0) -> None:
        if interpolation not in get_args(Interpolation):
            raise ScnError(f"there is no interpolation {nearest(interpolation, get_args(Interpolation))}")
        self.interpolation: Interpolation = interpolation
        self.fill = fill

    @abstractmethod
    def inverse_map(self, params: Tensor) -> Tensor:
        """params: (K, P) -> (K, 6): where each place in the output comes from, row by row.

        The two rows take (right, down, 1), in pixels from the centre, to right and down in the input.
        """

    @abstractmethod
    def opposite(self, params: Tensor) -> Tensor:
        """The params that undo these."""

    def apply(self, x: Tensor, params: Tensor) -> Tensor:
        inverse = self.inverse_map(self.rows(x, params)).view(-1, 2, 3)
        return warp(x, inverse, self.interpolation, self.fill)

    def invert(self, x: Tensor, params: Tensor) -> Tensor:
        return self.apply(x, self.opposite(self.checked(params)))

    def arranged(self, x: Tensor) -> Tensor:
        return pixel_major(x)


def _map(*entries: Tensor | float) -> Tensor:
    """Six entries, each (K,) or a number, as (K, 6)."""
    sized = next(entry for entry in entries if isinstance(entry, Tensor))
    return torch.stack([e if isinstance(e, Tensor) else torch.full_like(sized, e) for e in entries], dim=-1)


def _cosine_and_sine(degrees: Tensor) -> Tensor:
    """(..., 1) -> (..., 2)."""
    angle = torch.deg2rad(degrees.double())
    return torch.cat([angle.cos(), angle.sin()], dim=-1).float()


@registry.register("rotation")
class Rotation(Geometric):
    """Rotation about the centre, counter-clockwise. params: the angle in degrees.

    In the preset "paper" the grey corners of a rotated image reveal the angle. "half-turn" has angles from 0
    to 180 degrees, which are a line and not a circle: alpha is the angle, from -1 to 1.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {**Geometric.presets, "half-turn": {"half": True}}
    parameters = (Parameter("angle", 0.0, 360.0, "degrees", periodic=True),)
    alpha_dim = 2
    default_step = 1.0

    def __init__(
        self, interpolation: Interpolation = "bilinear", fill: float = 0.0, half: bool = False
    ) -> None:
        super().__init__(interpolation, fill)
        self.half = half
        if half:
            self.parameters = (Parameter("angle", 0.0, 180.0, "degrees"),)
            self.alpha_dim = 1

    def encode(self, params: Tensor) -> Tensor:
        """(..., 1) degrees -> (..., 2): cosine and sine; of half a turn (..., 1)."""
        checked = self.checked(params)
        return checked / 90 - 1 if self.half else _cosine_and_sine(checked)

    def encodings(self) -> tuple[Encoding, ...]:
        return (Linear(0.0, 180.0, 90.0, 90.0),) if self.half else (Angle(),)

    def inverse_map(self, params: Tensor) -> Tensor:
        cos, sin = _cosine_and_sine(params).unbind(dim=-1)
        return _map(cos, -sin, 0.0, sin, cos, 0.0)

    def opposite(self, params: Tensor) -> Tensor:
        return -params


@registry.register("scaling")
class Scaling(Geometric):
    """Scaling about the centre. params: the factor, below 1 for smaller."""

    parameters = (Parameter("factor", 0.2, 2.0),)
    alpha_dim = 1
    default_step = 0.05

    def encode(self, params: Tensor) -> Tensor:
        """The factor itself."""
        return self.checked(params)

    def encodings(self) -> tuple[Encoding, ...]:
        (factor,) = self.parameters
        return (Linear(factor.low, factor.high),)

    def inverse_map(self, params: Tensor) -> Tensor:
        shrink = 1 / params[:, 0]
        return _map(shrink, 0.0, 0.0, 0.0, shrink, 0.0)

    def opposite(self, params: Tensor) -> Tensor:
        return 1 / params

    def checked(self, params: Tensor) -> Tensor:
        params = super().checked(params)
        if (params <= 0).any():
            raise ScnError(f"the factor of scaling must be positive, but is {params.min().item():g}")
        return params


@registry.register("translation")
class Translation(Geometric):
    """Shift. params: pixels to the right and down.

    In the preset "padded" the image is halved first, so that no shift moves a part of it out of the frame.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {**Geometric.presets, "padded": {"halved": True}}

    parameters = (Parameter("right", -8.0, 8.0, "pixels"), Parameter("down", -8.0, 8.0, "pixels"))
    alpha_dim = 2
    default_step = 1.0

    def __init__(
        self, interpolation: Interpolation = "bilinear", fill: float = 0.0, halved: bool = False
    ) -> None:
        super().__init__(interpolation, fill)
        self.shrink = 2.0 if halved else 1.0

    def invert(self, x: Tensor, params: Tensor) -> Tensor:
        """Shifted back; an image that was halved stays so."""
        return Translation(self.interpolation, self.fill).apply(x, -self.checked(params))

    def encode(self, params: Tensor) -> Tensor:
        """Both shifts as parts of the largest, so that alpha lies in [-1, 1]."""
        return self.checked(params) / self.parameters[0].high

    def encodings(self) -> tuple[Encoding, ...]:
        return tuple(Linear(shift.low, shift.high, self.parameters[0].high) for shift in self.parameters)

    def inverse_map(self, params: Tensor) -> Tensor:
        right, down = params.unbind(dim=-1)
        return _map(self.shrink, 0.0, -self.shrink * right, 0.0, self.shrink, -self.shrink * down)

    def opposite(self, params: Tensor) -> Tensor:
        return -params
