"""The target "esp-idf": a component of ESP-IDF around the C code of a network, with an example."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scn.core.errors import ScnError
from scn.export import boards
from scn.export.base import Options, Report, target
from scn.export.boards.program import PORT, System, main, port
from scn.export.names import refuse_taken
from scn.export.package import LICENCE
from scn.export.sensors import Sensor
from scn.export.subject import Subject

IDF = ">=5.0"
NAME = re.compile(r"(?=..)[A-Za-z0-9]+(_[A-Za-z0-9]+)*")  # of a component in the registry
COMPONENTS = """
app_trace app_update bootloader bootloader_support bt cmock console cxx driver efuse fatfs freertos hal heap
http_parser idf_test ieee802154 json linux log lwip mbedtls mqtt newlib nvs_flash openthread partition_table
perfmon protobuf_c protocomm pthread riscv rt sdmmc soc spi_flash spiffs tcp_transport touch_element ulp unity
usb vfs wear_levelling wifi_provisioning wpa_supplicant xtensa
"""  # of ESP-IDF itself: a component of this name would take the place of one
CHECKED = (
    "the C files are those of `--to c`, which `scn device` compares with torch. In the tests of scn, "
    "idf-component-manager accepts and packs a component like this, and its example runs on a computer, "
    "against stubs. ESP-IDF's tools were not at hand: not built with them, and not run on a board"
)
FREERTOS = System(
    name="ESP-IDF",
    includes='#include <stdint.h>\n#include <stdio.h>\n\n#include "esp_timer.h"',
    now="(uint32_t)esp_timer_get_time()",
    since="((uint32_t)esp_timer_get_time() - start)",
    entry="void app_main(void)",
    print="printf",
    end="",
    without="ESP32-S2, C2, C3: one core, no atomics",
    include='#include "freertos/FreeRTOS.h"\n',
    enter="portSET_INTERRUPT_MASK_FROM_ISR()",
    leave="portCLEAR_INTERRUPT_MASK_FROM_ISR(held)",
)


@dataclass(frozen=True)
class Chip:
    """A target of ESP-IDF: kB of its data memory, from its data sheet, and whether it takes PSRAM."""

    name: str
    ram: int
    psram: bool


CHIPS = (
    Chip("esp32", 320, True),
    Chip("esp32s2", 320, True),
    Chip("esp32s3", 512, True),
    Chip("esp32c2", 272, False),
    Chip("esp32c3", 400, False),
    Chip("esp32c5", 384, True),
    Chip("esp32c6", 512, False),
    Chip("esp32c61", 320, True),
    Chip("esp32h2", 320, False),
    Chip("esp32p4", 768, True),
)


def check(subject: Subject, options: Options) -> None:
    """Beside what every board refuses, the names of ESP-IDF's own components."""
    boards.check(subject, options)
    if subject.name.lower().startswith("esp_"):
        refuse_taken(subject.name, [subject.name.lower()], "components of ESP-IDF, which start with esp_,")
    refuse_taken(subject.name, COMPONENTS.split(), "a component of ESP-IDF")
    if not NAME.fullmatch(subject.name):
        raise ScnError(
            f"the registry of ESP-IDF takes no component {subject.name}: choose a `name` of two letters or "
            "more, with single _ between them"
        )


@target("esp-idf", check, packages=True, searches=True)
def write(subject: Subject, options: Options, folder: Path) -> Report:
    """The folder NAME, a component: the network, its sensor, an example, a licence and a README."""
    generated, sensor = boards.generated(subject, options)
    name, example = subject.name, f"examples/{subject.name}_example"
    code = boards.code(subject, generated, sensor, "include", "src")
    chips = chips_for(generated.facts["ram"]["total"])
    files = {
        **code,
        f"src/{PORT}": port(FREERTOS),
        "CMakeLists.txt": _component([place for place in code if place.endswith(".c")]),
        "idf_component.yml": _manifest(subject, chips),
        "README.md": _readme(subject, sensor, generated.facts, chips),
        f"{example}/CMakeLists.txt": "cmake_minimum_required(VERSION 3.16)\n"
        "include($ENV{IDF_PATH}/tools/cmake/project.cmake)\n"
        f"project({name}_example)\n",
        f"{example}/main/CMakeLists.txt": 'idf_component_register(SRCS "main.c"\n'
        f"                       REQUIRES {name} esp_timer)\n",
        f"{example}/main/idf_component.yml": f'dependencies:\n  {name}:\n    version: "*"\n'
        '    override_path: "../../.."\n',
        f"{example}/main/main.c": main(subject, options, FREERTOS),
    }
    facts = {"targets": chips, "package": subject.package.to_json()}
    return boards.report(folder / name, files, generated, sensor, **facts, checked=CHECKED)


def chips_for(ram: int) -> list[str]:
    """The targets whose data memory holds the network's RAM twice: a system and a program live there as well.

    A network that is too large for all of them can have its state in PSRAM, by SCN_STATE in scn_port.h.
    """
    fitting = [chip.name for chip in CHIPS if 2 * ram <= 1024 * chip.ram]
    return fitting or [chip.name for chip in CHIPS if chip.psram]


def _component(sources: list[str]) -> str:
    """By its header the port says what the board needs; the header is for these files alone."""
    listed = " ".join(f'"{source}"' for source in sources)
    return (
        f'idf_component_register(SRCS {listed}\n                       INCLUDE_DIRS "include"\n'
        '                       PRIV_INCLUDE_DIRS "src")\n'
        f'target_compile_definitions(${{COMPONENT_LIB}} PRIVATE "SCN_PORT_HEADER=\\"{PORT}\\"")\n'
    )


def _manifest(subject: Subject, chips: list[str]) -> str:
    package = subject.package
    values: dict[str, Any] = {
        "version": package.version,
        "description": boards.values_of(subject)["title"],
        "url": package.url,
        "license": LICENCE,
        "maintainers": [package.maintainer],
        "tags": ["neural-network", "tinyml"],
        "targets": chips,
        "dependencies": {"idf": IDF},
    }
    return boards.yaml(values)


def _readme(subject: Subject, sensor: Sensor | None, facts: dict[str, Any], chips: list[str]) -> str:
    name = subject.name
    lines = [
        f"# {boards.values_of(subject)['title']}",
        "",
        f"A component of ESP-IDF (5.0 or newer) for {', '.join(chips)}: chips whose data memory is twice "
        "the RAM of the network, or, where none is, that take PSRAM. Put this folder into the `components` "
        "of a project, or build the example:",
        "",
        f"    cd examples/{name}_example",
        f"    idf.py set-target {'esp32s3' if 'esp32s3' in chips else chips[0]} build flash monitor",
        "",
        "It runs the self-test and prints how long configuration and inference take on the board.",
        "",
        f"**What was checked:** {CHECKED}.",
        "",
        f"`src/{PORT}` is included by the C files of this component. On cores without atomics it puts "
        "interrupts off for a few instructions; sections for weights and state are said there as well.",
    ]
    if sensor:
        lines += ["", boards.sensor_said(subject, sensor, facts)]
    return "\n".join([*lines, "", boards.licence_said(subject)]) + "\n"
