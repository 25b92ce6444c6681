"""A component of ESP-IDF around the C code of a network, with an example for an ESP32-S3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from scn.export import boards
from scn.export.base import Options, Report, target
from scn.export.sensors import Sensor
from scn.export.subject import Subject

CHECKED = "the C files compile; the component needs ESP-IDF and a board, and was not built with them"
SETTINGS = 4  # that the example configures for


@target("esp-idf", boards.check)
def write(subject: Subject, options: Options, folder: Path) -> Report:
    """The folder NAME, a component: the network, its sensor, an example and a README."""
    generated, sensor = boards.generated(subject, options)
    name, place = subject.name, folder / subject.name
    sources = [f"{name}.c", *(path.name for path in (sensor.files if sensor else ()) if path.suffix == ".c")]
    example = f"examples/{name}_example"
    files = {
        f"{name}.c": generated.source,
        f"include/{name}.h": generated.header,
        "CMakeLists.txt": _component(sources),
        "idf_component.yml": f'version: "1.0.0"\ndescription: "{boards.values_of(subject)["title"]}"\n'
        "targets:\n  - esp32s3\n",
        "README.md": _readme(subject, sensor, generated.facts),
        f"{example}/CMakeLists.txt": "cmake_minimum_required(VERSION 3.16)\n"
        "include($ENV{IDF_PATH}/tools/cmake/project.cmake)\n"
        f"project({name}_example)\n",
        f"{example}/main/CMakeLists.txt": 'idf_component_register(SRCS "main.c"\n'
        f"                       REQUIRES {name} esp_timer)\n",
        f"{example}/main/idf_component.yml": f'dependencies:\n  {name}:\n    version: "*"\n'
        '    override_path: "../../.."\n',
        f"{example}/main/main.c": main(subject, options),
    }
    made = boards.write(place, files)
    for path in sensor.files if sensor else ():
        kind = "include/" if path.suffix == ".h" else ""
        made += boards.write(place, {f"{kind}{path.name}": path.read_text()})
    facts = {**generated.facts, "sensor": sensor.name if sensor else None, "checked": CHECKED}
    return Report(made, facts)


def main(subject: Subject, options: Options) -> str:
    """The text of the example's main.c."""
    values, configured = boards.values_of(subject), boards.is_configured(subject, options)
    calls = "    answer();\n"
    if configured:
        rows = subject.transform.sample(SETTINGS, torch.Generator().manual_seed(0)).tolist()
        settings = ",\n".join(f"        {{{boards.floats(row)}}}" for row in rows)
        calls = (
            f"    static const float settings[{SETTINGS}][{values['NAME']}_PARAMS] = {{\n{settings}}};\n"
            f"    for (int i = 0; i < {SETTINGS}; i++) {{\n"
            "        configure(settings[i]);\n        answer();\n    }\n"
        )
    return boards.fill(
        "esp_main.c",
        {
            **values,
            "configure": boards.fill("esp_configure.c", values) if configured else "",
            "calls": calls,
            "said": boards.fill_said("esp_main.c", subject),
        },
    )


def _component(sources: list[str]) -> str:
    listed = " ".join(f'"{source}"' for source in sources)
    return f'idf_component_register(SRCS {listed}\n                       INCLUDE_DIRS "include")\n'


def _readme(subject: Subject, sensor: Sensor | None, facts: dict[str, Any]) -> str:
    name = subject.name
    lines = [
        f"# {boards.values_of(subject)['title']}",
        "",
        "A component of ESP-IDF (5.0 or newer), meant for an ESP32-S3. Put this folder into the `components` "
        "of a project, or build the example:",
        "",
        f"    cd examples/{name}_example",
        "    idf.py set-target esp32s3 build flash monitor",
        "",
        "It prints how long configuration and inference take on the board.",
        "",
        "**What was checked:** the C files are those of `scn export --to c`, which `scn device` compares "
        "with torch. The component was not built by ESP-IDF and not run on a board.",
    ]
    if sensor:
        lines += [
            "",
            f"`scn_{sensor.name}.h` measures {sensor.measures}. `begin` takes a threshold, "
            f"{name.upper()}_THRESHOLD in `{name}.h`: {boards.threshold_said(facts)}. "
            f"When `update` says SCN_SENSOR_RECONFIGURE, call `{name}_encode` and `{name}_request`, and once "
            f"that succeeded `scn_{sensor.name}_commit`; the task that asks the network calls `{name}_poll` "
            "first.",
        ]
    return "\n".join(lines) + "\n"
