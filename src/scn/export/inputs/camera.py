"""A camera's frame, line by line: pixels, then the filter of the resize in both directions, then a table.

A network's input is made of bytes, so that a table of 256 entries for each channel holds everything that
follows: the division by 255, the normalisation and, in whole numbers, the quantisation. No float is computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.data import to_float
from scn.data.resize import filter_of
from scn.data.sensing import FORMATS, GREY, Camera
from scn.export.entrance import Entrance, First
from scn.export.pack import padded
from scn.export.parts import Field, Parts, Table
from scn.export.snippets import of_each
from scn.export.subject import Subject

PIXELS, WINDOW, VALUES = (f"frame_{name}" for name in ("pixels", "window", "values"))
LABEL, LINES = "frames", "lines"
TOGETHER = 4  # taps
MOST_WEIGHTS = 32767  # that tables of 16 bits can point to

OF_565 = """const int pixel = from[{high}] << 8 | from[{low}];
        const int red = pixel >> 8 & 0xF8, green = pixel >> 3 & 0xFC, blue = pixel << 3 & 0xF8;
        const int r = red | red >> 5, g = green | green >> 6, b = blue | blue >> 5;"""
GREY_OF_565 = "const int grey = (scn_grey_high[from[{high}]] + scn_grey_low[from[{low}]]) >> 16;"
GREY_OF_COLOURS = "\n        const int grey = (19595 * r + 38470 * g + 7471 * b + 32768) >> 16;"
ORDER_OF_565 = {"rgb565": {"high": 0, "low": 1}, "rgb565le": {"high": 1, "low": 0}}
COLOURS = {  # from the bytes of a pixel to r, g and b
    "rgb888": "const int r = from[0], g = from[1], b = from[2];",
    "bgr888": "const int r = from[2], g = from[1], b = from[0];",
    **{name: OF_565.format(**order) for name, order in ORDER_OF_565.items()},
}
GREYS = {  # to grey; "" where the bytes are what is shown
    "grey": "",
    "yuyv": "const int grey = from[0];",
    "uyvy": "const int grey = from[1];",
    **{name: COLOURS[name] + GREY_OF_COLOURS for name in ("rgb888", "bgr888")},
    **{name: GREY_OF_565.format(**order) for name, order in ORDER_OF_565.items()},
}
READ = {1: GREYS, 3: COLOURS}
STORE = {
    1: "to[i] = (uint8_t)grey;",
    3: "\n        ".join(
        f"to[i + {place} * SCN_PART_WIDTH] = (uint8_t){name};" for place, name in enumerate("rgb")
    ),
}


def check(subject: Subject, sensor: Camera) -> None:
    """Refuse a network that does not look at pictures, or not at such ones."""
    sample, shape = subject.sample, subject.shape
    seen = sample is not None and sample.dtype == torch.uint8 and sample.dim() == len(shape) == 3
    if not seen or sample.shape[0] != shape[0]:  # type: ignore[union-attr]
        raise ScnError(
            f"{subject.name} is not given images, so no camera can be its input: leave out `input`"
        )
    objection = sensor.objection(shape[0])
    if objection is not None:
        raise ScnError(f"{subject.name} cannot be given what the camera sends: {objection}")
    if _packed(_axes(subject, sensor))[1].numel() > MOST_WEIGHTS:
        raise ScnError(
            f"resizing {sensor.crop.width}x{sensor.crop.height} pixels to {subject.shape[2]}x"
            f"{subject.shape[1]} takes tables too large for a device: crop less, or let the camera reduce"
        )


def add(parts: Parts, subject: Subject, sensor: Camera) -> Entrance:
    """The memory to work in, the tables, and the functions."""
    channels, height, width = subject.shape
    axes = _axes(subject, sensor)
    parts.state.append(Field("uint8_t", "window", padded(axes[1].taps * channels * width), LINES))
    if READ[channels][sensor.format]:
        parts.state.append(Field("uint8_t", "pixels", padded(channels * sensor.crop.width), LINES))
    each = FORMATS[sensor.format].bytes
    parts.defines += [
        f"#define SCN_FRAME_STRIDE {sensor.stride}",
        f"#define SCN_FRAME_START {sensor.crop.top * sensor.stride + sensor.crop.left * each}",
        f"#define SCN_PART_WIDTH {sensor.crop.width}",
        f"#define SCN_PICTURE_CHANNELS {channels}",
        f"#define SCN_PICTURE_HEIGHT {height}",
        f"#define SCN_PICTURE_WIDTH {width}",
        f"#define SCN_PICTURE_LINE {channels * width}",
        f"#define SCN_COLUMN_TAPS {axes[0].taps}",
        f"#define SCN_ROW_TAPS {axes[1].taps}",
        f"#define SCN_PICTURE_TABLE {256 if len(subject.normalisation.mean) > 1 else 0}",
    ]
    first = parts.first
    kinds = dict.fromkeys(("float", first.kind))
    defined = [_pixels(sensor, channels), of_each(WINDOW).replace("@PIXELS@", _line(sensor, channels))]
    defined += [of_each(VALUES).replace("@TYPE@", kind) for kind in kinds]
    return Entrance(
        function="infer_frame",
        takes="const uint8_t *frame",
        refuses="",
        uses_state=True,
        tables=_tables(parts.first, subject, sensor, axes),
        defined="\n".join(text for text in defined if text).replace("@NAME@", subject.name),
        to_x="scn_frame_float(s, frame, x, scn_values_float);",
        to_first=f"scn_frame_{first.kind}(s, frame, {first.place}, scn_values_{first.kind});",
        about=_about(subject, sensor),
        sizes={
            "FRAME_WIDTH": sensor.width,
            "FRAME_HEIGHT": sensor.height,
            "FRAME_STRIDE": sensor.stride,
            "FRAME_BYTES": sensor.size,
        },
    )


def _about(subject: Subject, sensor: Camera) -> str:
    channels, height, width = subject.shape
    box, inverted = sensor.crop, ", bright as dark and dark as bright" if sensor.inverted else ""
    shown = "in colours" if channels == 3 else "in grey"
    return (
        f"frame: {sensor.size} bytes of a camera, {sensor.width} x {sensor.height} pixels of "
        f"{sensor.format}, a line every {sensor.stride} bytes. The network is shown {box.width} x "
        f"{box.height} pixels from column {box.left} and line {box.top} on, {shown}{inverted}, resized "
        f"to {width} x {height} as Python does it, to the last bit."
    )


@dataclass(frozen=True)
class _Axis:
    """The filter of one direction with equally many taps for each place: weights of 0 fill them up."""

    firsts: list[int]
    weights: list[tuple[int, ...]]

    @property
    def taps(self) -> int:
        return len(self.weights[0])


def _axis(length: int, places: int) -> _Axis:
    """More than 2 taps are a multiple of 4, which are taken at once, as far as there are so many sources."""
    filters = filter_of(length, places)
    most = max(len(one.weights) for one in filters)
    most = min(length, most if most <= 2 else -(-most // TOGETHER) * TOGETHER)
    firsts = [min(one.first, length - most) for one in filters]
    weights = []
    for first, one in zip(firsts, filters, strict=True):
        before = one.first - first
        weights.append((*[0] * before, *one.weights, *[0] * (most - before - len(one.weights))))
    return _Axis(firsts, weights)


def _axes(subject: Subject, sensor: Camera) -> tuple[_Axis, _Axis]:
    """Columns and rows."""
    _, height, width = subject.shape
    return _axis(sensor.crop.width, width), _axis(sensor.crop.height, height)


def _packed(axes: tuple[_Axis, _Axis]) -> tuple[list[Tensor], Tensor]:
    """For each place its first source and where the weights are; and the weights, each row of them once."""
    places: dict[tuple[int, ...], int] = {}
    weights: list[int] = []
    found = []
    for axis in axes:
        for row in axis.weights:
            if row not in places:
                places[row] = len(weights)
                weights += row
        pairs = zip(axis.firsts, axis.weights, strict=True)
        found.append(torch.tensor([[first, places[row]] for first, row in pairs]))
    return found, torch.tensor(weights)


def _tables(first: First, subject: Subject, sensor: Camera, axes: tuple[_Axis, _Axis]) -> list[Table]:
    (columns, rows), weights = _packed(axes)
    values = table(subject, sensor)
    found = [
        Table("int16_t", "scn_frame_columns", columns.flatten(), LABEL),
        Table("int16_t", "scn_frame_rows", rows.flatten(), LABEL),
        Table("int32_t", "scn_frame_weights", weights, LABEL),
        Table("float", "scn_values_float", values.flatten(), LABEL),
    ]
    if sensor.format in ORDER_OF_565 and subject.shape[0] == 1:
        tables = zip(("high", "low"), _grey_of_565(), strict=True)
        found += [Table("int32_t", f"scn_grey_{name}", values, LABEL) for name, values in tables]
    if first.kind != "float":
        steps = first.of_floats(values).flatten()
        found.append(Table(first.kind, f"scn_values_{first.kind}", steps, LABEL))
    return found


def table(subject: Subject, sensor: Camera) -> Tensor:
    """What the network is given for each byte: (channels, 256), one row where all channels are alike."""
    found = torch.arange(256, dtype=torch.uint8).expand(len(subject.normalisation.mean), 256)
    return subject.normalisation(to_float((255 - found if sensor.inverted else found)[None]))[0]


def _grey_of_565() -> tuple[Tensor, Tensor]:
    """What each byte of a pixel adds to grey, with 16 bits behind the point.

    No bit of 8 bits of green depends on both bytes, so the sum of two numbers is the grey of a pixel.
    """
    byte, (red, green, blue) = torch.arange(256), GREY
    high = red * (byte >> 3 << 3 | byte >> 5) + green * ((byte & 7) << 5 | (byte & 7) >> 1)
    low = green * (byte >> 5 << 2) + blue * ((byte & 31) << 3 | (byte & 31) >> 2)
    return high + 32768, low


def _pixels(sensor: Camera, channels: int) -> str:
    """The function that makes bytes of a line of pixels, where they are not what is shown already."""
    read = READ[channels][sensor.format]
    if not read:
        return ""
    text = of_each(PIXELS)
    words = {"@BYTES@": str(FORMATS[sensor.format].bytes), "@READ@": read, "@STORE@": STORE[channels]}
    for place, what in words.items():
        text = text.replace(place, what)
    return text


def _line(sensor: Camera, channels: int) -> str:
    line = "frame + SCN_FRAME_START + end * SCN_FRAME_STRIDE"
    return f"scn_pixels({line}, s->pixels)" if READ[channels][sensor.format] else line
