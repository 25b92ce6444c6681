"""A port says by macros where weights and state lie, and what is called around the work."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from generated import STRICT, compiled
from interrupting import COMMON, written
from needs import tool
from scn.export import Options

HEADER = """
extern int began[2], ended[2];
enum { scn_what_mix, scn_what_infer };
#define SCN_BEGIN(what) (began[scn_what_##what]++)
#define SCN_END(what) (ended[scn_what_##what]++)
#define SCN_WEIGHTS __attribute__((section(".external")))
#define SCN_STATE __attribute__((section(".bss.fast")))
#define SCN_ENTER_CRITICAL() 0u
#define SCN_EXIT_CRITICAL(held) ((void)(held))
"""
MAIN = """
#include "port.h"
int began[2], ended[2];
int main(void)
{
    (void)is_known;
    if (!learn()) { return 1; }
    return began[0] != 2 || ended[0] != 2 || began[1] != 2 || ended[1] != 2;
}
"""


@pytest.mark.parametrize(
    "options", [Options(), Options(weights="int8", inference="int8")], ids=["float", "int8"]
)
def test_a_port_chooses_sections_hooks_and_critical_sections(options: Options, tmp_path: Path) -> None:
    gcc = tool("gcc")
    source = written(options, tmp_path, dims=2, side=4)
    (tmp_path / "port.h").write_text(HEADER)
    (tmp_path / "main.c").write_text(COMMON + MAIN)
    port = ("-std=c99", '-DSCN_PORT_HEADER="port.h"', f"-I{tmp_path}")
    compiled(gcc, *port, *STRICT, "-c", source, "-o", tmp_path / "net.o")
    compiled(gcc, *port, tmp_path / "main.c", tmp_path / "net.o", "-o", tmp_path / "main")
    assert subprocess.run([str(tmp_path / "main")], check=False, timeout=60).returncode == 0
    sections = compiled("objdump", "-t", tmp_path / "net.o")
    rows = {line.split()[-1]: line for line in sections.splitlines() if " O " in line}
    assert ".bss.fast" in rows["net_own"]
    assert any(".external" in row for row in rows.values())
