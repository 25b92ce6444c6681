"""A camera's frame, line by line: pixels, then the filter of the resize in both directions, then a table.

A network's input is made of bytes, so that a table of 256 entries for each channel holds everything that
follows: the division by 255, the normalisation and, in whole numbers, the quantisation. No float is computed.
"""

from __future__ import annotations

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.data import to_float
from scn.data.resize import Taps, filter_of
from scn.data.sensing import FORMATS, Camera
from scn.export.entrance import Entrance
from scn.export.pack import padded
from scn.export.parts import Field, Parts, Table
from scn.export.snippets import from_files
from scn.export.subject import Subject

LABEL, LINES = "frames", "lines"
MOST_WEIGHTS = 32767  # that tables of 16 bits can point to

HIGH_FIRST = "const int pixel = from[0] << 8 | from[1];"
LOW_FIRST = "const int pixel = from[1] << 8 | from[0];"
OF_565 = """
        const int red = pixel >> 8 & 0xF8, green = pixel >> 3 & 0xFC, blue = pixel << 3 & 0xF8;
        const int r = red | red >> 5, g = green | green >> 6, b = blue | blue >> 5;"""
READ = {  # from the bytes of a pixel to r, g and b, or to grey; "" where bytes are what is shown
    "grey": "",
    "rgb888": "const int r = from[0], g = from[1], b = from[2];",
    "bgr888": "const int r = from[2], g = from[1], b = from[0];",
    "rgb565": HIGH_FIRST + OF_565,
    "rgb565le": LOW_FIRST + OF_565,
    "yuyv": "const int grey = from[0];",
    "uyvy": "const int grey = from[1];",
}
GREY_OF_COLOURS = "\n        const int grey = (19595 * r + 38470 * g + 7471 * b + 32768) >> 16;"
STORE_GREY = "to[i] = (uint8_t)grey;"
STORE_COLOURS = "\n        ".join(
    f"to[i + {place} * SCN_PART_WIDTH] = (uint8_t){name};" for place, name in enumerate("rgb")
)


def check(subject: Subject, sensor: Camera) -> None:
    """Refuse a network that does not look at pictures, or not at such ones."""
    sample, shape = subject.sample, subject.shape
    seen = sample is not None and sample.dtype == torch.uint8 and sample.dim() == len(shape) == 3
    if not seen or sample.shape[0] != shape[0]:  # type: ignore[union-attr]
        raise ScnError(f"{subject.name} is not given images, so no camera can be its input: leave out `input`")
    objection = sensor.objection(shape[0])
    if objection is not None:
        raise ScnError(f"{subject.name} cannot be given what the camera sends: {objection}")
    taps = _filters(subject, sensor)
    if _packed(taps)[1].numel() > MOST_WEIGHTS:
        raise ScnError(
            f"resizing {sensor.crop.width}x{sensor.crop.height} pixels to {subject.shape[2]}x"
            f"{subject.shape[1]} takes tables too large for a device: crop less, or let the camera reduce"
        )


def add(parts: Parts, subject: Subject, sensor: Camera) -> Entrance:
    """The tables, the memory to work in, and the functions."""
    channels, height, width = subject.shape
    filters = _filters(subject, sensor)
    _add_tables(parts, subject, sensor, filters)
    window = max(len(taps.weights) for taps in filters[1]) * channels * width
    parts.state.append(Field("uint8_t", "window", padded(window), LINES))
    if READ[sensor.format]:
        parts.state.append(Field("uint8_t", "pixels", padded(channels * sensor.crop.width), LINES))
    each = FORMATS[sensor.format].bytes
    parts.defines += [
        f"#define SCN_FRAME_STRIDE {sensor.stride}",
        f"#define SCN_FRAME_START {sensor.crop.top * sensor.stride + sensor.crop.left * each}",
        f"#define SCN_PART_WIDTH {sensor.crop.width}",
        f"#define SCN_PICTURE_CHANNELS {channels}",
        f"#define SCN_PICTURE_HEIGHT {height}",
        f"#define SCN_PICTURE_WIDTH {width}",
        f"#define SCN_PICTURE_TABLE {256 if len(subject.normalisation.mean) > 1 else 0}",
    ]
    first = parts.first
    kinds = dict.fromkeys(("float", first.kind))
    texts = from_files("frame_window", "frame_values")
    defined = [_pixels(sensor, channels), texts["frame_window"].replace("@PIXELS@", _line(sensor))]
    defined += [texts["frame_values"].replace("@TYPE@", kind) for kind in kinds]
    return Entrance(
        function="infer_frame",
        takes="const uint8_t *frame",
        refuses="",
        uses_state=True,
        defined="\n".join(text for text in defined if text).replace("@NAME@", subject.name),
        to_x="scn_frame_float(s, frame, x, scn_values_float);",
        to_first=f"scn_frame_{first.kind}(s, frame, {first.place}, scn_values_{first.kind});",
        about=_about(subject, sensor),
        sizes={
            "FRAME_WIDTH": sensor.width,
            "FRAME_HEIGHT": sensor.height,
            "FRAME_STRIDE": sensor.stride,
            "FRAME_BYTES": sensor.bytes,
        },
    )


def _about(subject: Subject, sensor: Camera) -> str:
    channels, height, width = subject.shape
    box, inverted = sensor.crop, ", bright as dark and dark as bright" if sensor.inverted else ""
    return (
        f"frame: {sensor.bytes} bytes of a camera, {sensor.width} x {sensor.height} pixels of "
        f"{sensor.format}, a line every {sensor.stride} bytes. The network is shown {box.width} x {box.height} "
        f"pixels from column {box.left} and line {box.top} on, {'in colours' if channels == 3 else 'in grey'}"
        f"{inverted}, resized to {width} x {height} as Python does it, to the last bit."
    )


def _filters(subject: Subject, sensor: Camera) -> tuple[list[Taps], list[Taps]]:
    """Of columns and of rows."""
    _, height, width = subject.shape
    return filter_of(sensor.crop.width, width), filter_of(sensor.crop.height, height)


def _packed(filters: tuple[list[Taps], list[Taps]]) -> tuple[list[Tensor], Tensor]:
    """For each place (first source, how many, where the weights are), and the weights, each row of them once."""
    places: dict[tuple[int, ...], int] = {}
    weights: list[int] = []
    found = []
    for taps in filters:
        rows = []
        for one in taps:
            if one.weights not in places:
                places[one.weights] = len(weights)
                weights += one.weights
            rows.append([one.first, len(one.weights), places[one.weights]])
        found.append(torch.tensor(rows))
    return found, torch.tensor(weights)


def _add_tables(
    parts: Parts, subject: Subject, sensor: Camera, filters: tuple[list[Taps], list[Taps]]
) -> None:
    (columns, rows), weights = _packed(filters)
    values = table(subject, sensor)
    found = [
        Table("int16_t", "scn_frame_columns", columns.flatten(), LABEL),
        Table("int16_t", "scn_frame_rows", rows.flatten(), LABEL),
        Table("int32_t", "scn_frame_weights", weights, LABEL),
        Table("float", "scn_values_float", values.flatten(), LABEL),
    ]
    first = parts.first
    if first.kind != "float":
        steps = first.of_floats(values).flatten()
        found.append(Table(first.kind, f"scn_values_{first.kind}", steps, LABEL))
    parts.constants += found


def table(subject: Subject, sensor: Camera) -> Tensor:
    """What the network is given for each byte: (channels, 256), one row where all channels are alike."""
    found = torch.arange(256, dtype=torch.uint8).expand(len(subject.normalisation.mean), 256)
    return subject.normalisation(to_float((255 - found if sensor.inverted else found)[None]))[0]


def _pixels(sensor: Camera, channels: int) -> str:
    """The function that makes bytes of a line of pixels, where they are not what is shown already."""
    read, form = READ[sensor.format], FORMATS[sensor.format]
    if not read:
        return ""
    store = STORE_COLOURS if channels == 3 else STORE_GREY
    if channels == 1 and form.colours:
        read += GREY_OF_COLOURS
    text = from_files("frame_pixels")["frame_pixels"]
    for place, words in {"@BYTES@": str(form.bytes), "@READ@": read, "@STORE@": store}.items():
        text = text.replace(place, words)
    return text


def _line(sensor: Camera) -> str:
    line = "frame + SCN_FRAME_START + line * SCN_FRAME_STRIDE"
    return f"scn_pixels({line}, s->pixels)" if READ[sensor.format] else line
