"""Turn a solid in space and look at it: a cloud of points becomes an image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.core.registry import nearest
from scn.transforms.base import Parameter, Transform, registry
from scn.transforms.encoding import Angle, Encoding, Turn

SIZE = 32
PLANES = {"YZ": (1, 2), "XZ": (0, 2), "XY": (0, 1)}  # the axes that each angle mixes, in fixed order
CROWDED = 8.0  # points in a pixel at which a count image reaches 1 - 1/e

Image = Literal["depth", "count"]
Alpha = Literal["matrix", "angles"]


def _cosines(params: Tensor) -> Tensor:
    """(..., 3) degrees -> (..., 3, 2): cosine and sine of each."""
    angle = torch.deg2rad(params.double())
    return torch.stack([angle.cos(), angle.sin()], dim=-1).float()


@registry.register("rotation-3d")
class Rotation3D(Transform):
    """Points (B, N, 3) in the unit ball, turned by three angles and seen along the third axis.

    params: degrees in the YZ, XZ and XY planes. The image (B, 1, 32, 32) shows in each pixel how near
    its nearest point is, from 1/3 (far side of the ball) to 1, and 0 where there is none; or, as
    "count", how many points it holds. Nothing can be undone: what was behind is lost.

    Alpha are the nine numbers of the rotation, of which each has one, however its angles are said; or, in the
    presets "angles" and "paper", cosine and sine of each angle, as published.
    """

    parameters = tuple(Parameter(plane, -180.0, 180.0, "degrees", periodic=True) for plane in PLANES)
    default_step = 60.0
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "default": {},
        "paper": {"image": "count", "alpha": "angles"},
        "angles": {"alpha": "angles"},
    }
    former_presets: ClassVar[Mapping[str, str]] = {"default": "angles"}
    repeatable = False  # points become an image

    def __init__(self, image: Image = "depth", alpha: Alpha = "matrix") -> None:
        for given, known in ((image, get_args(Image)), (alpha, get_args(Alpha))):
            if given not in known:
                raise ScnError(f"there is no image or alpha {nearest(given, known)}")
        self.image: Image = image
        self.alpha: Alpha = alpha
        self.alpha_dim = 9 if alpha == "matrix" else 6

    def encode(self, params: Tensor) -> Tensor:
        """(..., 3) degrees -> (..., 9), the rotation matrix row by row; or (..., 6) cosines and sines."""
        params = self.checked(params)
        if self.alpha == "angles":
            return _cosines(params).flatten(-2)
        return self.matrices(params.reshape(-1, 3)).reshape(*params.shape[:-1], 9)

    def evenly(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """Turns of which none is likelier than another: three even angles would crowd about two poles."""
        around = self.sample(n, generator)
        around[:, 1] = torch.rand(n, generator=generator).mul(2).sub(1).asin().rad2deg()
        return around

    def encodings(self) -> tuple[Encoding, ...]:
        return (Turn(),) if self.alpha == "matrix" else tuple(Angle() for _ in self.parameters)

    def apply(self, x: Tensor, params: Tensor) -> Tensor:
        if x.dim() != 3 or x.shape[-1] != 3 or not x.is_floating_point():
            raise ScnError(
                f"a turn in space needs points (B, N, 3) as floating-point numbers, but got {x.dtype} of "
                f"shape {tuple(x.shape)}"
            )
        if len(x) == 0:
            return x.new_zeros(0, 1, SIZE, SIZE)
        turns = self.matrices(self.rows(x, params)).to(x)
        places = x.reshape(len(turns), -1, 3) @ turns.mT
        return self._seen(places.reshape(x.shape))

    def matrices(self, params: Tensor) -> Tensor:
        """(K, 3) degrees -> (K, 3, 3): the first plane's turn first, on points as columns."""
        turn = torch.eye(3).expand(len(params), 3, 3)
        for (first, second), (cos, sin) in zip(
            PLANES.values(), _cosines(params).permute(1, 2, 0), strict=True
        ):
            one = torch.eye(3).repeat(len(params), 1, 1)
            one[:, first, first] = one[:, second, second] = cos
            one[:, first, second], one[:, second, first] = -sin, sin
            turn = one @ turn
        return turn

    def _seen(self, points: Tensor) -> Tensor:
        """(B, N, 3) -> (B, 1, 32, 32). Row 0 is the highest."""
        batch = len(points)
        right, up, near = points.unbind(dim=-1)
        column = ((right + 1) * (SIZE / 2)).long().clamp_(0, SIZE - 1)
        row = ((1 - up) * (SIZE / 2)).long().clamp_(0, SIZE - 1)
        pixel = row.mul_(SIZE).add_(column)
        pixel += torch.arange(batch, device=points.device).unsqueeze(1) * SIZE**2
        empty = points.new_zeros(batch * SIZE**2)
        if self.image == "count":
            count = empty.scatter_add_(0, pixel.flatten(), torch.ones_like(near).flatten())
            seen = 1 - (-count / CROWDED).exp()
        else:
            seen = empty.scatter_reduce_(0, pixel.flatten(), ((near + 2) / 3).flatten(), "amax")
        return seen.view(batch, 1, SIZE, SIZE)
