"""The target "zephyr": a module of Zephyr around the C code of a network, with a sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scn.export import boards
from scn.export.base import Options, Report, target
from scn.export.boards.program import PORT, System, main, port
from scn.export.sensors import Sensor
from scn.export.subject import Subject

CHECKED = (
    "the C files are those of `--to c`, which `scn device` compares with torch. In the tests of scn, a "
    "module like this has the form that Zephyr's schemas ask for, kconfiglib reads its Kconfig, and its "
    "sample runs on a computer, against stubs. Zephyr's tools were not at hand: not built with them, and "
    "not run on a board"
)
ZEPHYR = System(
    name="Zephyr",
    includes="#include <stdint.h>\n#include <zephyr/kernel.h>\n#include <zephyr/sys/printk.h>\n",
    now="k_cycle_get_32()",
    since="k_cyc_to_us_floor32(k_cycle_get_32() - start)",
    entry="int main(void)",
    print="printk",
    end="    return 0;\n",
    without="a core without atomics",
    include="#include <zephyr/irq.h>\n",
    enter="irq_lock()",
    leave="irq_unlock(held)",
)
SYSTEM_RAM, SYSTEM_FLASH = 16, 64  # kB for Zephyr and the sample itself, beside the network
STACK = 4096


@target("zephyr", boards.check, packages=True)
def write(subject: Subject, options: Options, folder: Path) -> Report:
    """The folder NAME, a module: the network, its sensor, a sample, a licence and a README."""
    generated, sensor = boards.generated(subject, options)
    name = subject.name
    sample = f"samples/{name}"
    files = {
        **boards.code(subject, generated, sensor, "include", "src"),
        f"src/{PORT}": port(ZEPHYR),
        "zephyr/module.yml": boards.yaml(_module(name)),
        "CMakeLists.txt": _cmake(name, sensor),
        "Kconfig": _kconfig(name, boards.values_of(subject)["title"]),
        "README.md": _readme(subject, sensor, generated.facts),
        f"{sample}/CMakeLists.txt": _sample_cmake(name),
        f"{sample}/prj.conf": f"CONFIG_{_symbol(name)}=y\nCONFIG_CBPRINTF_FP_SUPPORT=y\n"
        f"CONFIG_MAIN_STACK_SIZE={STACK}\n",
        f"{sample}/sample.yaml": boards.yaml(_sample(subject, generated.facts)),
        f"{sample}/src/main.c": main(subject, options, ZEPHYR),
    }
    facts = {"package": subject.package.to_json()}
    return boards.report(folder / name, files, generated, sensor, **facts, checked=CHECKED)


def _symbol(name: str) -> str:
    return f"SCN_{name.upper()}"


def _module(name: str) -> dict[str, Any]:
    """What Zephyr's build reads first. The name is one that no module of Zephyr itself has."""
    return {"name": f"scn_{name}", "build": {"cmake": ".", "kconfig": "Kconfig"}, "samples": ["samples"]}


def _sample(subject: Subject, facts: dict[str, Any]) -> dict[str, Any]:
    """For twister: which boards are large enough, and what the sample says when all is well."""
    test = {
        "tags": "scn",
        "min_ram": SYSTEM_RAM - -facts["ram"]["total"] // 1024,
        "min_flash": SYSTEM_FLASH - -facts["flash"]["total"] // 1024,
        "integration_platforms": ["native_sim"],
        "harness": "console",
        "harness_config": {"type": "one_line", "regex": ["self-test: passed"]},
    }
    about = {"name": subject.name, "description": boards.values_of(subject)["title"]}
    return {"sample": about, "tests": {f"sample.scn.{subject.name}": test}}


def _cmake(name: str, sensor: Sensor | None) -> str:
    """The library of the network, and one of the sensor's adapter that several networks share."""
    text = (
        f"if(CONFIG_{_symbol(name)})\n"
        "  zephyr_include_directories(include)\n"
        f"  zephyr_library_named(scn_{name})\n"
        f"  zephyr_library_sources(src/{name}.c)\n"
        f'  zephyr_library_compile_definitions("SCN_PORT_HEADER=\\"{PORT}\\"")\n'
    )
    for path in sensor.files if sensor else ():
        if path.suffix == ".c":
            text += (
                f"  if(NOT TARGET {path.stem})\n    zephyr_library_named({path.stem})\n    "
                f"zephyr_library_sources(src/{path.name})\n  endif()\n"
            )
    return f"{text}endif()\n"


def _kconfig(name: str, title: str) -> str:
    lines = ("config " + _symbol(name), f'bool "Neural network {name}"', "imply FPU if CPU_HAS_FPU", "help")
    return "\n\t".join([*lines, f"  {title}\n"])


def _sample_cmake(name: str) -> str:
    return (
        "cmake_minimum_required(VERSION 3.20.0)\n"
        "list(APPEND EXTRA_ZEPHYR_MODULES ${CMAKE_CURRENT_SOURCE_DIR}/../..)\n"
        "find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})\n"
        f"project({name}_sample)\n"
        "target_sources(app PRIVATE src/main.c)\n"
    )


def _readme(subject: Subject, sensor: Sensor | None, facts: dict[str, Any]) -> str:
    name = subject.name
    lines = [
        f"# {boards.values_of(subject)['title']}",
        "",
        "A module of Zephyr (3.4 or newer). Name this folder in the `projects` of your `west.yml`, or in "
        "`EXTRA_ZEPHYR_MODULES` of your application's CMakeLists.txt before it finds Zephyr, and set "
        f"`CONFIG_{_symbol(name)}=y`. The sample is built as it stands:",
        "",
        f"    west build -b native_sim samples/{name} -t run",
        "",
        "It runs the self-test and prints how long configuration and inference take on the board. `west "
        "twister -T samples` takes the boards that are large enough.",
        "",
        f"**What was checked:** {CHECKED}.",
        "",
        f"`src/{PORT}` is included by the network's C file. On cores without atomics it locks interrupts "
        "for a few instructions; sections for weights and state are said there as well.",
    ]
    if sensor:
        lines += ["", boards.sensor_said(subject, sensor, facts)]
    return "\n".join([*lines, "", boards.licence_said(subject)]) + "\n"
