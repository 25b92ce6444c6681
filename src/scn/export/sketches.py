"""The example sketches of an Arduino library: one template, and a table of boards.

The board's own sensors give the setting, and on a board with a camera its frames are the input. Where one
does not answer, the sketch says so and goes on. Inputs and settings can always come by the serial port.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from scn.data.sensing import Camera, Pcm, sensor_of
from scn.export import boards
from scn.export.base import Options
from scn.export.sensors import ACCELEROMETER, LIGHT, Sensor
from scn.export.subject import Subject

SMOOTHING = 0.2
FRAMES = {"QQVGA": (160, 120), "QVGA": (320, 240), "VGA": (640, 480)}  # of a camera: columns and rows
MORE_FRAMES = {"96X96": (96, 96), "QCIF": (176, 144), "240X240": (240, 240)}  # that `input` may ask for
PIXELS = {1: "GRAYSCALE", 3: "RGB565"}  # of a camera, by the channels of the network
FORMATS = {"grey": "GRAYSCALE", "rgb565": "RGB565"}  # of a camera, as `input` calls them
Parts = dict[str, str]
NOTHING: Parts = dict.fromkeys(("includes", "sensor", "begin", "poll"), "")


@dataclass(frozen=True)
class BoardSensor:
    """A sensor on the board: its library, and the object that the library names."""

    library: str
    device: str


@dataclass(frozen=True)
class Board:
    """A board that an example is for. `core` is what arduino-cli installs, `fqbn` how it calls the board."""

    example: str
    title: str
    core: str
    fqbn: str
    sensors: Mapping[str, BoardSensor] = field(default_factory=dict)
    has_camera: bool = False
    hint: str = ""

    def measures(self, sensor: Sensor | None) -> bool:
        return sensor is not None and sensor.name in self.sensors

    def sees(self, subject: Subject, options: Options) -> bool:
        return self.has_camera and frame_of(subject, options) is not None


APDS = BoardSensor("Arduino_APDS9960", "APDS")
BOARDS = (
    Board(
        "Nano33BLESense", "Arduino Nano 33 BLE Sense", "arduino:mbed_nano", "arduino:mbed_nano:nano33ble",
        {ACCELEROMETER.name: BoardSensor("Arduino_LSM9DS1", "IMU"), LIGHT.name: APDS},
        hint=" (a Rev2 board? open the example Nano33BLESenseRev2)",
    ),
    Board(
        "Nano33BLESenseRev2", "Arduino Nano 33 BLE Sense Rev2", "arduino:mbed_nano",
        "arduino:mbed_nano:nano33ble",
        {ACCELEROMETER.name: BoardSensor("Arduino_BMI270_BMM150", "IMU"), LIGHT.name: APDS},
        hint=" (not a Rev2 board? open the example Nano33BLESense)",
    ),
    Board(
        "NanoRP2040Connect", "Arduino Nano RP2040 Connect", "arduino:mbed_nano",
        "arduino:mbed_nano:nanorp2040connect",
        {ACCELEROMETER.name: BoardSensor("Arduino_LSM6DSOX", "IMU")},
    ),
    Board("ESP32S3Camera", "ESP32-S3-EYE", "esp32:esp32", "esp32:esp32:esp32s3", has_camera=True),
)  # fmt: skip
ANY = Board("SerialPort", "any board with a serial port", "arduino:mbed_nano", "arduino:mbed_nano:nano33ble")


def boards_for(subject: Subject, options: Options, sensor: Sensor | None) -> tuple[Board, ...]:
    """The boards that measure the setting, or any by the serial port; and those that see the input."""
    measuring = [board for board in BOARDS if board.measures(sensor)] or [ANY]
    return (*measuring, *(board for board in BOARDS if board.sees(subject, options)))


def sketch(subject: Subject, options: Options, sensor: Sensor | None, board: Board) -> str:
    """The text of the example for a board."""
    values, configured = boards.values_of(subject), boards.is_configured(subject, options)
    parts: Callable[[Subject, Board, Parts], Parts] = _nothing
    if board.has_camera:
        parts = partial(_camera_parts, options)
    if sensor is not None and board.measures(sensor):
        parts = partial(_sensor_parts, sensor)
    count = len(subject.transform.parameters)
    serve = f"\n    float params[{count}];\n    if (request == 'p' && receive(params, {count}))"
    return boards.fill(
        "sketch.ino",
        {
            **values,
            **parts(subject, board, values),
            "board": board.title,
            "ready": "false" if configured else "true",
            "inputs": str(math.prod(subject.shape)),
            "said": boards.fill_said("sketch.ino", subject),
            "configure": boards.fill("configure.ino", values) if configured else "",
            "requests": f", 'p' and {count} float32 to configure" if configured else "",
            "serve": f"{serve} configure(params);" if configured else "",
        },
    )


@dataclass(frozen=True)
class Frame:
    """What the camera is asked for, by the names of its driver."""

    size: str
    pixels: str


def frame_of(subject: Subject, options: Options) -> Frame | None:
    """The frames that the network takes; else the smallest with a pixel for each of its values."""
    if options.input is not None:
        return _frame_said(sensor_of(options.input))
    if len(subject.shape) != 3 or subject.shape[0] not in PIXELS:
        return None
    _, rows, columns = subject.shape
    sizes = (name for name, (wide, high) in FRAMES.items() if wide >= columns and high >= rows)
    return next((Frame(name, PIXELS[subject.shape[0]]) for name in sizes), None)


def _frame_said(given: Camera | Pcm) -> Frame | None:
    """The frame of this size and format, if the driver has it."""
    if (
        not isinstance(given, Camera)
        or given.format not in FORMATS
        or given.size != given.height * given.stride
    ):
        return None
    sizes = (name for name, size in (FRAMES | MORE_FRAMES).items() if size == (given.width, given.height))
    return next((Frame(name, FORMATS[given.format]) for name in sizes), None)


def _nothing(subject: Subject, board: Board, values: Parts) -> Parts:
    return NOTHING


def _sensor_parts(sensor: Sensor, subject: Subject, board: Board, values: Parts) -> Parts:
    part = board.sensors[sensor.name]
    (parameter,) = subject.transform.parameters
    ranges = [parameter.low, parameter.high] if sensor is LIGHT else []
    numbers = f"{boards.floats([*ranges, SMOOTHING])}, {values['NAME']}_THRESHOLD"
    hint = board.hint if sensor is ACCELEROMETER else ""
    failed = (
        f"measuring = {part.device}.begin();\n"
        f"    if (!measuring) Serial.println(\"the sensor does not answer{hint}: send params by 'p'\");"
    )
    return {
        "includes": f"#include <scn_{sensor.name}.h>\n\n#include <{part.library}.h>\n",
        "sensor": boards.fill(f"{sensor.name}.ino", {**values, "colour": _colour(subject)}),
        "begin": f"\n    scn_{sensor.name}_begin(&sensor, {numbers});\n    {failed}",
        "poll": "\n    if (measuring) read_sensor();",
    }


def _camera_parts(options: Options, subject: Subject, board: Board, values: Parts) -> Parts:
    frame = frame_of(subject, options)
    assert frame is not None
    see = _means(subject) if options.input is None else boards.fill("camera_prepare.ino", values)
    camera = {"frame": frame.size, "pixels": frame.pixels, "see": see}
    return {
        "includes": "\n#include <esp_camera.h>\n",
        "sensor": boards.fill("camera.ino", {**values, **camera}),
        "begin": "\n    begin_camera();",
        "poll": "\n    if (seeing && ready) look();",
    }


def _means(subject: Subject) -> str:
    """From a frame to the network's input, by the means of pixels."""
    channels, rows, columns = subject.shape
    sizes = {"channels": str(channels), "rows": str(rows), "columns": str(columns)}
    return boards.fill("camera_means.ino", {**sizes, "value": boards.fill(f"camera_{channels}.ino", {})})


def _colour(subject: Subject) -> str:
    """For a network of three colours: they are its input, as shares of their sum."""
    return boards.fill("colour.ino", {}) if subject.shape == (3,) else ""
