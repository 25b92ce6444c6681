"""What tests need beside the package: tools, data, checkpoints. What is missing is said once, at the end.

Every such skip has a reason of one form, "needs WHAT (REMEDY)", so that the end of a run can say in one line
for each missing thing how many tests it kept from running.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from scn import data
from scn.core.errors import NotThere
from scn.device import targets

PACKAGES = {  # of Debian, for each tool
    "arm-none-eabi-gcc": "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    "arm-none-eabi-size": "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    "arm-none-eabi-nm": "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    "qemu-system-arm": "qemu-system-arm",
    "riscv64-unknown-elf-gcc": "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf",
    "riscv64-unknown-elf-size": "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf",
    "riscv64-unknown-elf-nm": "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf",
    "qemu-system-riscv32": "qemu-system-misc",
    "clang": "clang libclang-rt-dev",
    "wasm-ld": "lld",
    "cppcheck": "cppcheck",
    "chromium": "chromium",
    "ffmpeg": "ffmpeg",
    "arduino-builder": "arduino-builder",
    "cmake": "cmake make",
    "gcc": "gcc libc6-dev",
    "g++": "g++",
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FOLDERS = {
    "SCN_DATA_DIR": "name the folder of data sets by it; `scn data get` fills one",
    "SCN_REFERENCE_DIR": "name the folder of the published checkpoints and curves by it",
}


def lacking(what: str, remedy: str) -> NoReturn:
    pytest.skip(f"needs {what} ({remedy})")


def wide_registers() -> tuple[str, ...]:
    """Compiler flags for AVX2, where this machine has it."""
    cpu = Path("/proc/cpuinfo")
    if not cpu.is_file() or not {"avx2", "fma"} <= set(cpu.read_text().split()):
        lacking("AVX2", "another machine")
    return "-mavx2", "-mfma"


def tool(*names: str) -> str:
    """The first of these programs that is on the PATH."""
    for name in names:
        found = shutil.which(name)
        if found is not None:
            return found
    lacking(names[0], f"apt-get install {PACKAGES.get(names[0], names[0])}")


def installed(name: str) -> str:
    """A program that a Python package brings: beside this interpreter, or on the PATH."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    return found or lacking(name, "make venv installs it")


def emulated(name: str) -> targets.Target:
    """A processor whose compiler and emulator are here."""
    found = targets.get(name)
    for missing in found.missing():
        tool(missing)
    return found


def chromium() -> str:
    """A browser, with what drives it."""
    pytest.importorskip("playwright.sync_api", reason="needs playwright (make venv installs it)")
    return tool(*BROWSERS)


def real_file(variable: str, name: str) -> Path:
    """A file in the folder that an environment variable names."""
    folder = os.environ.get(variable)
    if folder is None:
        lacking(variable, FOLDERS[variable])
    path = Path(folder) / name
    if not path.is_file():
        lacking(f"{name} in {variable}", FOLDERS[variable])
    return path


def real_data(name: str) -> str:
    """The name of a data set that is here, in SCN_DATA_DIR or in scn itself."""
    try:
        data.load(name)
    except NotThere:
        real_file("SCN_DATA_DIR", f"{name}.npz")
        raise
    return name


def summary(reasons: Iterable[str]) -> Iterator[str]:
    """A line for each missing thing, the most missed first; and for each other reason to skip a test."""
    for reason, count in Counter(reasons).most_common():
        said = " ".join(reason.removeprefix("Skipped: ").split())
        number = "1 test needs" if count == 1 else f"{count} tests need"
        lacks = said.startswith("needs ")
        yield f"skipped: {number} {said.removeprefix('needs ')}" if lacks else f"skipped: {count}: {said}"
