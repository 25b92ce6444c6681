"""A camera: frames of bytes, of which a network is shown a part, grey or in colours, in its own size.

Pixels become red, green and blue of 8 bits each, or grey as Pillow has it (0.299 red, 0.587 green and 0.114
blue, rounded); then the part is resized as data sets are. All of it is in whole numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.core.registry import nearest
from scn.data.resize import resized
from scn.data.sensing.words import LONGEST, length, parts_of

Array = np.ndarray[Any, Any]

USAGE = "say camera:WIDTHxHEIGHT:FORMAT, such as camera:160x120:rgb565"
BOX = re.compile(r"(\d{1,5})x(\d{1,5})\+(\d{1,5})\+(\d{1,5})", re.ASCII)
GREY = (19595, 38470, 7471)  # of 65536


@dataclass(frozen=True)
class Format:
    """How a pixel is stored: its bytes, and from them (H, W, bytes) grey (H, W, 1) or colours (H, W, 3)."""

    bytes: int
    colours: bool
    read: Callable[[Array], Array]


def _of_565(high: Array, low: Array) -> Array:
    """Bits are repeated at the end, so that the brightest is 255."""
    word = high.astype(np.int32) << 8 | low
    red, green, blue = word >> 11, word >> 5 & 63, word & 31
    parts = (red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2)
    return np.stack(parts, axis=-1).astype(np.uint8)


FORMATS = {
    "grey": Format(1, False, lambda pixels: pixels),
    "rgb888": Format(3, True, lambda pixels: pixels),
    "bgr888": Format(3, True, lambda pixels: pixels[..., ::-1]),
    "rgb565": Format(2, True, lambda pixels: _of_565(pixels[..., 0], pixels[..., 1])),
    "rgb565le": Format(2, True, lambda pixels: _of_565(pixels[..., 1], pixels[..., 0])),
    "yuyv": Format(2, False, lambda pixels: pixels[..., :1]),
    "uyvy": Format(2, False, lambda pixels: pixels[..., 1:]),
}


@dataclass(frozen=True)
class Box:
    """A part of a frame, in pixels."""

    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True)
class Camera:
    """Frames of this size and format; `stride` are the bytes from one line to the next.

    Of a frame `crop` is shown: the largest square in the middle, unless another part is said. `inverted`:
    dark becomes bright, for data whose objects are bright on black.
    """

    width: int
    height: int
    format: str
    crop: Box
    stride: int
    inverted: bool = False

    def __post_init__(self) -> None:
        least = self.width * _format(self.format).bytes
        if self.stride < least:
            raise ScnError(
                f"a line of {self.width} pixels has {least} bytes: stride={self.stride} is too little"
            )
        if self.size > LONGEST:
            raise ScnError(f"a frame of {self.size} bytes is longer than {LONGEST}")
        box = self.crop
        if not (box.width and box.height) or not (
            box.left + box.width <= self.width and box.top + box.height <= self.height
        ):
            raise ScnError(
                f"crop={box.width}x{box.height}+{box.left}+{box.top} (WIDTHxHEIGHT+LEFT+TOP) is not within a "
                f"frame of {self.width}x{self.height}"
            )

    @classmethod
    def said(cls, text: str) -> Camera:
        """From `160x120:rgb565,crop=120x120+20+0,stride=320,invert`."""
        head, options = parts_of(text, ("crop", "stride", "invert"))
        size, _, form = head.partition(":")
        numbers = size.split("x")
        if len(numbers) != 2 or not form:
            raise ScnError(f"{text!r} is no camera: {USAGE}")
        width, height = length(numbers[0], "width"), length(numbers[1], "height")
        if options.get("invert"):
            raise ScnError("the option invert of a camera has no value: say it alone")
        least = str(width * _format(form).bytes)
        return cls(
            width,
            height,
            form,
            _part(options.get("crop", "square"), width, height),
            length(options.get("stride", least), "stride"),
            "invert" in options,
        )

    @property
    def size(self) -> int:
        """Bytes of a frame, to the end of its last pixel."""
        return (self.height - 1) * self.stride + self.width * FORMATS[self.format].bytes

    def picture(self, frame: bytes | Array, shape: tuple[int, int, int]) -> Tensor:
        """A frame -> uint8 of the shape (channels, height, width), as a sample of a data set is."""
        planes = self._planes(self._pixels(frame), shape[0])
        made = resized(planes, *shape[1:])
        return torch.from_numpy(255 - made if self.inverted else made)

    def objection(self, channels: int) -> str | None:
        """Why a network of so many channels cannot look at such frames, if it cannot."""
        if channels not in (1, 3):
            return f"its images have {channels} channels, which no camera gives"
        if channels == 3 and not FORMATS[self.format].colours:
            return (
                f"it looks at colours, and frames of {self.format} have none to show: take rgb565 or rgb888"
            )
        return None

    def _pixels(self, frame: bytes | Array) -> Array:
        """(H, W, bytes) of the part that is shown."""
        given = np.frombuffer(frame, np.uint8) if isinstance(frame, bytes) else np.asarray(frame, np.uint8)
        given = given.reshape(-1)
        if len(given) < self.size:
            raise ScnError(f"a frame has {self.size} bytes, but {len(given)} were given")
        each, box = FORMATS[self.format].bytes, self.crop
        lines = np.lib.stride_tricks.as_strided(
            given, (self.height, self.width, each), (self.stride, each, 1), writeable=False
        )
        return lines[box.top : box.top + box.height, box.left : box.left + box.width]

    def _planes(self, pixels: Array, channels: int) -> Array:
        """(channels, H, W)."""
        form = FORMATS[self.format]
        found = form.read(pixels)
        if channels == 1 and form.colours:
            found = (found.astype(np.int32) @ np.array(GREY, np.int32) + 32768 >> 16).astype(np.uint8)[
                ..., None
            ]
        return found.transpose(2, 0, 1)


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise ScnError(f"there is no format of pixels {nearest(name, FORMATS)}")
    return FORMATS[name]


def _part(text: str, width: int, height: int) -> Box:
    """The part of a frame that these words name."""
    if text == "all":
        return Box(0, 0, width, height)
    if text == "square":
        side = min(width, height)
        return Box((width - side) // 2, (height - side) // 2, side, side)
    found = BOX.fullmatch(text)
    if found is None:
        raise ScnError(f"crop={text} is no part of a frame: say square, all or WIDTHxHEIGHT+LEFT+TOP")
    wide, high, left, top = map(int, found.groups())
    return Box(left, top, wide, high)
