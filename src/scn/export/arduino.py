"""The target "arduino": an Arduino library with the network in it, and examples for the boards that suit it.

Its manifest, library.properties, is the one that PlatformIO reads as well.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from scn.export import boards
from scn.export.base import Options, Report, target
from scn.export.sensors import Sensor
from scn.export.sketches import Board, boards_for, sketch
from scn.export.subject import Subject

# Of 32 bits, with atomics or one core: an AVR board has too little memory and other sizes of numbers.
ARCHITECTURES = """
esp32 mbed mbed_edge mbed_giga mbed_nano mbed_nicla mbed_opta mbed_portenta mbed_rp2040 nrf52 renesas_portenta
renesas_uno rp2040 sam samd stm32 teensy zephyr
"""
CATEGORY = "Data Processing"
CHECKED = (
    "the C files are those of `--to c`, which `scn device` compares with torch. In the tests of scn, "
    "Arduino's builder finds a library like this and builds its examples on a computer, against stubs; "
    "PlatformIO packs it; the manifest keeps Arduino's library specification 1.5. The boards' compilers "
    "were not at hand: not built with them, and not run on a board"
)
PARAGRAPH = (
    "A subspace-configurable network: {name}_configure mixes its weights for a setting that a sensor "
    "measures, and {name}_infer asks it. C99 without heap and without other libraries; the examples say "
    "what they need."
)
PLAIN = "{name}_infer asks it. C99 without heap and without other libraries; the examples say what they need."


@target("arduino", boards.check, packages=True, searches=True)
def write(subject: Subject, options: Options, folder: Path) -> Report:
    """The library NAME: library.properties, src, examples, keywords.txt, LICENSE and a README."""
    generated, sensor = boards.generated(subject, options)
    fitting = boards_for(subject, options, sensor)
    files = {
        "library.properties": _properties(subject, options),
        "keywords.txt": _keywords(subject, options),
        "README.md": _readme(subject, options, sensor, fitting, generated.facts),
        **boards.code(subject, generated, sensor, "src", "src"),
        **{
            f"examples/{board.example}/{board.example}.ino": sketch(subject, options, sensor, board)
            for board in fitting
        },
    }
    facts = {"examples": [board.example for board in fitting], "package": subject.package.to_json()}
    return boards.report(folder / subject.name, files, generated, sensor, **facts, checked=CHECKED)


def _properties(subject: Subject, options: Options) -> str:
    """The manifest. As an archive, so that what two networks have in common is linked once."""
    package, paragraph = subject.package, PARAGRAPH if boards.is_configured(subject, options) else PLAIN
    values = {
        "name": subject.name,
        "version": package.version,
        "author": package.author,
        "maintainer": package.maintainer,
        "sentence": f"The neural network {boards.values_of(subject)['title']}.",
        "paragraph": paragraph.format(name=subject.name),
        "category": CATEGORY,
        "url": package.url,
        "architectures": ",".join(ARCHITECTURES.split()),
        "includes": f"{subject.name}.h",
        "dot_a_linkage": "true",
    }
    return "".join(f"{key}={value}\n" for key, value in values.items())


def _keywords(subject: Subject, options: Options) -> str:
    """The words that the editor colours, by a single tab."""
    name = subject.name
    configured = ("encode", "configure", "request", "poll") if boards.is_configured(subject, options) else ()
    kinds = {f"{name}_input": "KEYWORD1", "scn_status": "KEYWORD1"}
    kinds |= {f"{name}_{function}": "KEYWORD2" for function in (*configured, "infer", "selftest")}
    kinds |= {"SCN_OK": "LITERAL1", "SCN_BUSY": "LITERAL1"}
    return "".join(f"{word}\t{kind}\n" for word, kind in kinds.items())


def _readme(
    subject: Subject,
    options: Options,
    sensor: Sensor | None,
    fitting: tuple[Board, ...],
    facts: dict[str, Any],
) -> str:
    name, values = subject.name, boards.values_of(subject)
    lines = [
        f"# {values['title']}",
        "",
        "An Arduino library. Put this folder into `libraries` of your sketchbook, then open *File > "
        f"Examples > {name}*; or:",
        "",
        *(f"    {line}" for board in fitting for line in _commands(board, sensor)),
        "",
        f"PlatformIO takes the same folder in the `lib` of a project, or packed by `pio pkg pack {name}`.",
        "",
        f"**What was checked:** {CHECKED}.",
        "",
        f"By the serial port (115200 baud) send the byte `x` and {math.prod(subject.shape):,} little-endian "
        f"float32, not normalised; the answer is the {boards.said_of(subject)} and the microseconds it took.",
    ]
    if boards.is_configured(subject, options):
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
            f"`src/scn_{sensor.name}.h`. With the wrong sensor, or none, an example says so and goes on: "
            "params then come by the serial port.",
        ]
    if any(board.has_camera for board in fitting):
        lines += ["", CAMERA]
    return "\n".join([*lines, "", boards.licence_said(subject)]) + "\n"


CAMERA = (
    "The example `ESP32S3Camera` has the pins of an ESP32-S3-EYE; boards that are wired otherwise need "
    "their own. The board has no sensor that this library knows: params come by the serial port. An "
    "ESP32-S2 has no atomics: there `SCN_ENTER_CRITICAL()` and `SCN_EXIT_CRITICAL(held)` must be defined "
    "for the C file."
)


def _commands(board: Board, sensor: Sensor | None) -> list[str]:
    library = [board.sensors[sensor.name].library] if sensor and board.measures(sensor) else []
    return [
        f"arduino-cli core install {board.core}",
        *(f"arduino-cli lib install {one}" for one in library),
        f"arduino-cli compile --library . --fqbn {board.fqbn} examples/{board.example}",
    ]
