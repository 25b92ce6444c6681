"""An Arduino sketch around the C code of a network, for a Nano 33 BLE Sense.

The board's own sensors give the setting: the IMU an angle (an LSM9DS1, on a Rev2 a BMI270), the APDS-9960 a
light level. Where the sensor does not answer, the sketch says so and goes on. Inputs come by the serial
port; readings of three colours come from the APDS-9960 as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scn.export import boards
from scn.export.base import Options, Report, target
from scn.export.sensors import ACCELEROMETER, LIGHT, Sensor
from scn.export.subject import Subject

SMOOTHING = 0.2
CHECKED = "the C files compile; the sketch needs the Arduino tools and a board, and was not built with them"


@dataclass(frozen=True)
class BoardSensor:
    """A sensor on the board: its library, and the object that the library names.

    A Rev2 of the board may have another one, whose library names the same object.
    """

    library: str
    device: str
    on_rev2: str | None = None

    @property
    def libraries(self) -> list[str]:
        return [self.library, *([self.on_rev2] if self.on_rev2 else [])]

    def include(self) -> str:
        if self.on_rev2 is None:
            return f"#include <{self.library}.h>"
        return (
            "#ifndef NANO_33_BLE_SENSE_REV2\n"
            "#define NANO_33_BLE_SENSE_REV2 0 // 1 for the second revision of the board\n#endif\n"
            f"#if NANO_33_BLE_SENSE_REV2\n#include <{self.on_rev2}.h>\n"
            f"#else\n#include <{self.library}.h>\n#endif"
        )


BOARD_SENSORS = {
    ACCELEROMETER.name: BoardSensor("Arduino_LSM9DS1", "IMU", "Arduino_BMI270_BMM150"),
    LIGHT.name: BoardSensor("Arduino_APDS9960", "APDS"),
}


@target("arduino", boards.check)
def write(subject: Subject, options: Options, folder: Path) -> Report:
    """The folder NAME with NAME.ino, the network, its sensor and a README."""
    generated, sensor = boards.generated(subject, options)
    name, place = subject.name, folder / subject.name
    files = {
        f"{name}.ino": sketch(subject, options, sensor),
        f"{name}.h": generated.header,
        f"{name}.c": generated.source,
        "README.md": _readme(subject, sensor, generated.facts, boards.is_configured(subject, options)),
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


REVISION = """
On a Nano 33 BLE Sense Rev2, whose IMU is a BMI270, set `NANO_33_BLE_SENSE_REV2` to 1 at the top of it.
With the wrong IMU, or none, the sketch says so and goes on: params then come by the serial port."""
SENSOR_WORDS = ("includes", "sensor", "begin", "poll")


def _sensor_parts(subject: Subject, sensor: Sensor, values: dict[str, str]) -> dict[str, str]:
    part = BOARD_SENSORS[sensor.name]
    (parameter,) = subject.transform.parameters
    ranges = [parameter.low, parameter.high] if sensor is LIGHT else []
    numbers = f"{boards.floats([*ranges, SMOOTHING])}, {values['NAME']}_THRESHOLD"
    hint = " (a Rev2 board? set NANO_33_BLE_SENSE_REV2)" if part.on_rev2 else ""
    failed = (
        f"measuring = {part.device}.begin();\n"
        f"    if (!measuring) Serial.println(\"the sensor does not answer{hint}: send params by 'p'\");"
    )
    return {
        "includes": f'{part.include()}\n\n#include "scn_{sensor.name}.h"',
        "sensor": boards.fill(f"{sensor.name}.ino", {**values, "colour": _colour(subject)}),
        "begin": f"\n    scn_{sensor.name}_begin(&sensor, {numbers});\n    {failed}",
        "poll": "\n    if (measuring) read_sensor();",
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


def _readme(subject: Subject, sensor: Sensor | None, facts: dict[str, Any], configured: bool) -> str:
    name, values = subject.name, boards.values_of(subject)
    lines = [
        f"# {values['title']}",
        "",
        f"A sketch for an Arduino Nano 33 BLE Sense. Open `{name}.ino` in the Arduino IDE, or:",
        "",
        "    arduino-cli core install arduino:mbed_nano",
        *(
            f"    arduino-cli lib install {library}"
            for library in (BOARD_SENSORS[sensor.name].libraries if sensor else [])
        ),
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
            f"than {boards.threshold_said(facts)}. How the sensor sits on the board is yours to set: see "
            f"`scn_{sensor.name}.h`.",
            *([REVISION] if BOARD_SENSORS[sensor.name].on_rev2 else []),
        ]
    return "\n".join(lines) + "\n"
