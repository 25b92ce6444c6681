"""NAME.cmake is what a program built by CMake includes; a CMakeLists.txt of the user's is left alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from generated import compiled
from interrupting import COMMON, written
from needs import tool
from scn.export import Options

PROJECT = """\
cmake_minimum_required(VERSION 3.10)
project(firmware C)
include(network/net.cmake)
add_executable(firmware main.c)
target_link_libraries(firmware PRIVATE net)
"""
MAIN = "\nint main(void)\n{\n    (void)is_known;\n    return learn() ? 0 : 1;\n}\n"


@pytest.mark.parametrize("port", [False, True])
def test_a_program_is_built_by_it(port: bool, tmp_path: Path) -> None:
    cmake, _ = tool("cmake"), tool("gcc")
    (tmp_path / "network").mkdir()
    (tmp_path / "network" / "CMakeLists.txt").write_text("# the user's own\n")
    written(Options(), tmp_path / "network", dims=2, side=4)
    assert (tmp_path / "network" / "CMakeLists.txt").read_text() == "# the user's own\n"
    (tmp_path / "network" / "port.h").write_text('#define SCN_STATE __attribute__((section(".bss.fast")))\n')
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    (tmp_path / "main.c").write_text(COMMON + MAIN)
    more = ["-DSCN_PORT_HEADER=port.h"] if port else []
    build = tmp_path / "build"
    compiled(
        cmake, "-S", tmp_path, "-B", build, "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_C_FLAGS=-Wall -Werror", *more
    )
    compiled(cmake, "--build", build)
    assert subprocess.run([build / "firmware"], check=False).returncode == 0
    sections = compiled(tool("objdump"), "-t", build / "libnet.a")
    assert (".bss.fast" in sections) is port
