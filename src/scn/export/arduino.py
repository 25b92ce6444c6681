"""An Arduino sketch around the C code of a network, for a Nano 33 BLE Sense.

The board's own sensors give the setting: the IMU (LSM9DS1) an angle, the APDS-9960 a light level. Inputs come
by the serial port; readings of three colours come from the APDS-9960 as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scn.export import boards, c
from scn.export.base import Options, Report, target
from scn.export.sensors import ACCELEROMETER, LIGHT, Sensor
from scn.export.subject import Subject

SMOOTHING = 0.2
CHECKED = "the C files compile; the sketch needs the Arduino tools and a board, and was not built with them"


@dataclass(frozen=True)
class BoardSensor:
    """A sensor on the board: its library, the object that the library names, and what a threshold is."""

    library: str
    device: str
    threshold: str


BOARD_SENSORS = {
    ACCELEROMETER.name: BoardSensor("Arduino_LSM9DS1", "IMU", "degrees"),
    LIGHT.name: BoardSensor("Arduino_APDS9960", "APDS", "as a ratio"),
}


@target("arduino", boards.check)
def write(subject: Subject, options: Options, folder: Path) -> Report:
    """The folder NAME with NAME.ino, the network, its sensor and a README."""
    generated, sensor = c.generate(subject, options), boards.sensor_of(subject, options)
    name, place = subject.name, folder / subject.name
    files = {
        f"{name}.ino": sketch(subject, options, sensor),
        f"{name}.h": generated.header,
        f"{name}.c": generated.source,
        "README.md": _readme(subject, sensor, boards.is_configured(subject, options)),
    }
    made = boards.write(place, files) + (sensor.copy(place) if sensor else [])
    facts = {**generated.facts, "sensor": sensor.name if sensor else None, "checked": CHECKED}
    return Report(made, facts)


def sketch(subject: Subject, options: Options, sensor: Sensor | None) -> str:
    """The text of NAME.ino."""
    values, configured = boards.values_of(subject), boards.is_configured(subject, options)
    parts = _sensor_parts(subject, sensor, values) if sensor else dict.fromkeys(SENSOR_WORDS, "")
    count = len(subject.transform.parameters)
    serve = f"\n    float params[{count}];\n    if (request == 'p' && receive(params, {count}))"
    return boards.fill(
        "sketch.ino",
        {
            **values,
            **parts,
            "ready": "false" if configured else "true",
            "inputs": str(_size(subject)),
            "said": boards.fill_said("sketch.ino", subject),
            "configure": boards.fill("configure.ino", values) if configured else "",
            "requests": f", 'p' and {count} float32 to configure" if configured else "",
            "serve": f"{serve} configure(params);" if configured else "",
        },
    )


SENSOR_WORDS = ("includes", "sensor", "begin", "poll")


def _sensor_parts(subject: Subject, sensor: Sensor, values: dict[str, str]) -> dict[str, str]:
    part = BOARD_SENSORS[sensor.name]
    (parameter,) = subject.transform.parameters
    numbers = [SMOOTHING, sensor.threshold(subject)]
    if sensor is LIGHT:
        numbers = [parameter.low, parameter.high, *numbers]
    failed = (
        f"while (!{part.device}.begin()) {{\n"
        f'        Serial.println("no {part.library}");\n        delay(1000);\n    }}'
    )
    return {
        "includes": f'#include <{part.library}.h>\n\n#include "scn_{sensor.name}.h"',
        "sensor": boards.fill(f"{sensor.name}.ino", {**values, "colour": _colour(subject)}),
        "begin": f"\n    scn_{sensor.name}_begin(&sensor, {boards.floats(numbers)});\n    {failed}",
        "poll": "\n    read_sensor();",
    }


def _colour(subject: Subject) -> str:
    """For a network of three colours: they are its input, as shares of their sum."""
    if subject.shape != (3,):
        return ""
    return (
        "    const float sum = (float)(red + green + blue);\n"
        "    if (!(sum > 0.0f) || !ready) return;\n"
        "    x[0] = (float)red / sum;\n    x[1] = (float)green / sum;\n    x[2] = (float)blue / sum;\n"
        "    normalise();\n    answer();\n"
    )


def _size(subject: Subject) -> int:
    size = 1
    for length in subject.shape:
        size *= length
    return size


def _readme(subject: Subject, sensor: Sensor | None, configured: bool) -> str:
    name, values = subject.name, boards.values_of(subject)
    lines = [
        f"# {values['title']}",
        "",
        f"A sketch for an Arduino Nano 33 BLE Sense. Open `{name}.ino` in the Arduino IDE, or:",
        "",
        "    arduino-cli core install arduino:mbed_nano",
        *([f"    arduino-cli lib install {BOARD_SENSORS[sensor.name].library}"] if sensor else []),
        f"    arduino-cli compile --fqbn arduino:mbed_nano:nano33ble ../{name}",
        "",
        "**What was checked:** the C files are those of `scn export --to c`, which `scn device` compares "
        "with torch. The sketch itself was not compiled by the Arduino tools and not run on a board.",
        "",
        f"By the serial port (115200 baud) send the byte `x` and {_size(subject):,} little-endian float32, "
        f"not normalised; the answer is the {boards.said_of(subject)} and the microseconds it took.",
    ]
    if configured:
        lines += [
            "",
            f"The network is configured for {values['params']}. Send the byte `p` and these values as "
            "float32 to configure by hand.",
        ]
    if sensor:
        lines += [
            "",
            f"The {sensor.name} adapter measures {sensor.measures}, and reconfigures when it moved by more "
            f"than {sensor.threshold(subject):g} ({BOARD_SENSORS[sensor.name].threshold}): less "
            "changes no mixing coefficient by more than a few percent. How the sensor sits on the board is "
            f"yours to set: see `scn_{sensor.name}.h`.",
        ]
    return "\n".join(lines) + "\n"
