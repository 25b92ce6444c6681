"""Colour transforms of images: a blend of each image with a duller version of itself.

The factor f moves along the line through both, dull + f (x - dull): 1 is the image itself, 0 the dull
version, and above 1 the effect is exaggerated. What leaves [0, 1] is clipped.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.transforms.base import Parameter, Transform, registry
from scn.transforms.encoding import Encoding, Linear

LUMA = (0.299, 0.587, 0.114)  # ITU-R 601; they sum to 1
CENTRE, NEIGHBOUR = 5 / 13, 1 / 13  # the smoothing kernel of Pillow


def grey(x: Tensor) -> Tensor:
    """The luma of each pixel: (B, C, H, W) with C = 1 or 3 -> (B, 1, H, W)."""
    if x.shape[1] == 1:
        return x
    if x.shape[1] != len(LUMA):
        raise ScnError(f"only images of 1 or 3 channels have a grey version, but these have {x.shape[1]}")
    return (x * torch.tensor(LUMA, dtype=x.dtype, device=x.device).view(-1, 1, 1)).sum(dim=1, keepdim=True)


def smoothed(x: Tensor) -> Tensor:
    """Each pixel mixed with its eight neighbours; those on the border stay as they are."""
    if min(x.shape[-2:]) < 3:
        return x
    rows = x[..., :-2, :] + x[..., 1:-1, :] + x[..., 2:, :]
    around = rows[..., :-2] + rows[..., 1:-1] + rows[..., 2:]
    out = x.clone()
    out[..., 1:-1, 1:-1].mul_(CENTRE - NEIGHBOUR).add_(around, alpha=NEIGHBOUR)
    return out


class Colour(Transform):
    """A blend with a duller image. params: the factor, 1 for no change.

    With `mean` and `deviation` the blend and the clipping to [0, 1] act on the normalised image
    (x - mean) / deviation. The preset "paper" does so with 0.5 and 0.5, as the published code does for
    Fashion-MNIST. It cuts off all that is darker than mid-grey, so factor 1 changes the image, too.
    """

    parameters = (Parameter("factor", 0.2, 2.0),)
    alpha_dim = 1
    default_step = 0.05
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "default": {},
        "paper": {"mean": (0.5,), "deviation": (0.5,)},
    }

    def __init__(self, mean: Sequence[float] = (0.0,), deviation: Sequence[float] = (1.0,)) -> None:
        if not all(d > 0 for d in deviation):
            raise ScnError(f"the deviation must be positive, but is {tuple(deviation)}")
        self.mean, self.deviation = tuple(mean), tuple(deviation)

    @abstractmethod
    def dull(self, x: Tensor) -> Tensor:
        """The version of x: (B, C, H, W) that factor 0 gives, in a shape that broadcasts to x."""

    def encode(self, params: Tensor) -> Tensor:
        """The factor itself."""
        return self.checked(params)

    def encodings(self) -> tuple[Encoding, ...]:
        (factor,) = self.parameters
        return (Linear(factor.low, factor.high),)

    def apply(self, x: Tensor, params: Tensor) -> Tensor:
        return self._changed(x, params, self.blended)

    def invert(self, x: Tensor, params: Tensor) -> Tensor:
        return self._changed(x, params, self.restored)

    def blended(self, x: Tensor, factor: Tensor) -> Tensor:
        """The blend before clipping. factor: (B, 1, 1, 1)."""
        return torch.lerp(self.dull(x), x, factor)  # exactly x where the factor is 1

    def restored(self, x: Tensor, factor: Tensor) -> Tensor:
        """What `blended` was made from: the blend does not change its dull version, unless it clips."""
        return self.blended(x, 1 / factor)

    def checked(self, params: Tensor) -> Tensor:
        params = super().checked(params)
        if (params <= 0).any():
            name = type(self).__name__.lower()
            raise ScnError(f"the factor of {name} must be positive, but is {params.min().item():g}")
        return params

    def _changed(self, x: Tensor, params: Tensor, change: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        if x.dim() != 4 or not x.is_floating_point():
            raise ScnError(
                f"images must be floating-point (B, C, H, W) in [0, 1], but are {x.dtype} of shape "
                f"{tuple(x.shape)}"
            )
        if x.dtype in (torch.float16, torch.bfloat16):  # a blend of two rounded images would show steps
            return self._changed(x.float(), params, change).to(x.dtype)
        rows = self.rows(x, params).to(x)
        factor = rows.repeat_interleave(len(x) // len(rows), dim=0).view(-1, 1, 1, 1)
        if self.mean == (0.0,) and self.deviation == (1.0,):
            return change(x, factor).clamp_(0, 1)
        mean, deviation = (x.new_tensor(v).view(-1, 1, 1) for v in (self.mean, self.deviation))
        return change((x - mean) / deviation, factor).clamp_(0, 1) * deviation + mean


@registry.register("brightness")
class Brightness(Colour):
    """A blend with black."""

    def dull(self, x: Tensor) -> Tensor:
        return x.new_zeros(())

    def blended(self, x: Tensor, factor: Tensor) -> Tensor:
        return x * factor


@registry.register("contrast")
class Contrast(Colour):
    """A blend with a single grey, the mean luma of each image (not rounded, as Pillow does)."""

    def dull(self, x: Tensor) -> Tensor:
        return grey(x).mean(dim=(1, 2, 3), keepdim=True)


@registry.register("saturation")
class Saturation(Colour):
    """A blend with the grey version of the image; images of one channel do not change."""

    def dull(self, x: Tensor) -> Tensor:
        return grey(x)


@registry.register("sharpness")
class Sharpness(Colour):
    """A blend with the smoothed image; below 1 it blurs. The pixels on the border do not change.

    Smoothing is a convolution, whose eigenvectors between fixed borders are products of sines. So
    `invert` divides the sine coefficients by the blend's eigenvalues, which are all positive: exact up
    to clipping, where the factor 1/f would restore only the lowest frequencies.
    """

    def dull(self, x: Tensor) -> Tensor:
        return smoothed(x)

    def restored(self, x: Tensor, factor: Tensor) -> Tensor:
        height, width = x.shape[-2:]
        if min(height, width) < 3:
            return x.clone()
        frame = x.clone()
        frame[..., 1:-1, 1:-1] = 0
        of_frame = self.blended(frame, factor)[..., 1:-1, 1:-1]
        (down, high), (across, wide) = (_sines(n - 2, x) for n in (height, width))
        smooth = CENTRE - NEIGHBOUR + NEIGHBOUR * high.view(-1, 1) * wide
        coefficients = down @ (x[..., 1:-1, 1:-1] - of_frame) @ across
        frame[..., 1:-1, 1:-1] = (
            down @ (coefficients / torch.lerp(smooth, torch.ones_like(smooth), factor)) @ across
        )
        return frame


def _sines(n: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """The n x n sine basis, its own inverse, and by what adding up three neighbours multiplies each row."""
    count = torch.arange(1, n + 1, dtype=torch.float64)
    basis = math.sqrt(2 / (n + 1)) * torch.sin(math.pi / (n + 1) * count.view(-1, 1) * count)
    return basis.to(like), (1 + 2 * torch.cos(math.pi / (n + 1) * count)).to(like)
