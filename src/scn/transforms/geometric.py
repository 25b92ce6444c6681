"""Geometric transforms of images: every output pixel is looked up where it came from.

The look-up table is made once for each set of parameters and used for all images that share it. What
comes from outside the image has the background value `fill`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from scn.transforms.base import Parameter, Transform, registry

Interpolation = Literal["bilinear", "nearest"]


# Below this many values per pixel (images in a group times channels), looking up value by value is
# faster than adding up rows of values.
ROW_LENGTH = 8


def warp(x: Tensor, inverse: Tensor, interpolation: Interpolation, fill: float) -> Tensor:
    """Move the pixels of x: (B, C, H, W) by K affine maps.

    inverse: (K, 2, 3) takes a place (right, down, 1) in the output, counted in pixels from the
    centre, to its place in the input. The first map is for the first B/K images, and so on.

    With one map, images whose memory is in the order H, W, B, C (`pixel_major`) are neither copied
    on the way in nor on the way out.
    """
    if len(x) == 0:
        return x.clone()
    height, width = x.shape[-2:]
    index, weight = _look_up_table(inverse, height, width, interpolation)
    weight = weight.to(x.dtype)
    background = fill * (1 - weight.sum(dim=-1))
    grouped = x.reshape(len(inverse), -1, *x.shape[1:])
    if grouped.shape[1] * grouped.shape[2] < ROW_LENGTH:
        out = _by_value(grouped.flatten(1, 2).flatten(2), index, weight)
        return (out + background.unsqueeze(1)).view_as(x)
    rows = grouped.permute(0, 3, 4, 1, 2)
    table = rows.reshape(-1, rows.shape[3] * rows.shape[4]).contiguous()
    out = _by_row(table, index, weight)
    if fill:
        out += background.view(-1, 1)
    return out.view(rows.shape).permute(0, 3, 4, 1, 2).reshape(x.shape)


def pixel_major(x: Tensor) -> Tensor:
    """The same (B, C, H, W) tensor with its memory in the order that `warp` works in."""
    return x.permute(2, 3, 0, 1).contiguous().permute(2, 3, 0, 1)


def _look_up_table(
    inverse: Tensor, height: int, width: int, interpolation: Interpolation
) -> tuple[Tensor, Tensor]:
    """Which pixels each output pixel is the sum of, and their weights: (K, HW, taps) each."""
    down, right = torch.meshgrid(
        torch.arange(height, device=inverse.device) - (height - 1) / 2,
        torch.arange(width, device=inverse.device) - (width - 1) / 2,
        indexing="ij",
    )
    places = torch.stack([right.flatten(), down.flatten(), torch.ones_like(right).flatten()])
    column, row = (inverse @ places.to(inverse)).unbind(dim=1)
    column, row = column + (width - 1) / 2, row + (height - 1) / 2
    if interpolation == "nearest":
        columns, rows = column.round().unsqueeze(-1), row.round().unsqueeze(-1)
        weight = torch.ones_like(columns)
    else:
        left, top = column.floor(), row.floor()
        to_right, to_bottom = column - left, row - top
        columns = torch.stack([left, left + 1, left, left + 1], dim=-1)
        rows = torch.stack([top, top, top + 1, top + 1], dim=-1)
        across = torch.stack([1 - to_right, to_right, 1 - to_right, to_right], dim=-1)
        along = torch.stack([1 - to_bottom, 1 - to_bottom, to_bottom, to_bottom], dim=-1)
        weight = across * along
    inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
    index = rows.clamp(0, height - 1) * width + columns.clamp(0, width - 1)
    return index.long(), weight * inside


def _by_row(rows: Tensor, index: Tensor, weight: Tensor) -> Tensor:
    """rows: (K*HW, values) -> (K*HW, values): weighted sums of whole rows."""
    count, pixels, taps = index.shape
    first = pixels * torch.arange(count, device=index.device).view(-1, 1, 1)
    return F.embedding_bag(
        (index + first).view(-1, taps), rows, per_sample_weights=weight.view(-1, taps), mode="sum"
    )


def _by_value(pixels: Tensor, index: Tensor, weight: Tensor) -> Tensor:
    """pixels: (K, values, HW) -> (K, values, HW)."""
    out = torch.zeros_like(pixels)
    for tap in range(index.shape[-1]):
        seen = pixels.gather(2, index[..., tap].unsqueeze(1).expand_as(pixels))
        out.addcmul_(seen, weight[..., tap].unsqueeze(1))
    return out


@registry.register("rotation")
class Rotation(Transform):
    """Rotation about the centre, counter-clockwise. params: the angle in degrees.

    The preset "paper" is what the published code does after normalisation, said for images in
    [0, 1]: nearest neighbour, and corners in mid-grey (0.5 becomes 0), which reveal the angle.
    """

    parameters = (Parameter("angle", 0.0, 360.0, "degrees", periodic=True),)
    alpha_dim = 2
    default_step = 1.0
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "default": {},
        "paper": {"interpolation": "nearest", "fill": 0.5},
    }

    def __init__(self, interpolation: Interpolation = "bilinear", fill: float = 0.0) -> None:
        self.interpolation: Interpolation = interpolation
        self.fill = fill

    def encode(self, params: Tensor) -> Tensor:
        """(..., 1) degrees -> (..., 2): cosine and sine."""
        angle = torch.deg2rad(torch.as_tensor(params, dtype=torch.float64))
        return torch.cat([angle.cos(), angle.sin()], dim=-1).float()

    def apply(self, x: Tensor, params: Tensor) -> Tensor:
        cos, sin = self.encode(self.rows(x, params)).unbind(dim=-1)
        zero = torch.zeros_like(cos)
        inverse = torch.stack([cos, -sin, zero, sin, cos, zero], dim=-1).view(-1, 2, 3)
        return warp(x, inverse, self.interpolation, self.fill)

    def arranged(self, x: Tensor) -> Tensor:
        return pixel_major(x)

    def invert(self, x: Tensor, params: Tensor) -> Tensor:
        return self.apply(x, -torch.as_tensor(params))
