"""Estimated cycles: the costs of Arm's manuals, over what the emulator ran."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_emulator import GROUPS, NOPS, toy

from needs import emulated
from scn.device.build import build
from scn.device.cycles import CORES, cost_of_block, mnemonic, transferred
from scn.device.emulate import emulate
from scn.device.trace import estimated_cycles, read

M4, M3 = CORES["cortex-m4"], CORES["cortex-m3"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("vfma.f32 s4, s8, s0", "vfma"),
        ("ldr.w r3, [r2, #0xd88]", "ldr"),
        ("ldreq r7, [sp, #4]", "ldr"),
        ("bne #0x8c6", "b"),
        ("bls #0x1b9c", "b"),
        ("bl #0x8c6", "bl"),
        ("smlad r0, r1, r2, r0", "smlad"),
        ("movs r0, #0", "movs"),
    ],
)
def test_an_instruction_is_known_by_its_name(text: str, name: str) -> None:
    assert mnemonic(text) == name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("vldmia r0!, {s8, s9, s10, s11}", 4),
        ("vldmia r0!, {s0-s15}", 16),
        ("vpush {d8-d9}", 4),
        ("push {r3, r4, lr}", 3),
        ("ldrd r0, r1, [r2], #8", 2),
    ],
)
def test_a_load_of_many_registers_is_counted_by_words(text: str, words: int) -> None:
    assert transferred(mnemonic(text), text) == words


@pytest.mark.parametrize(
    ("block", "taken", "cycles"),
    [
        (["adds r0, #1"], False, 1),
        (["vfma.f32 s4, s8, s0"], False, 3),
        (["vmul.f32 s4, s8, s0"], False, 1),
        (["ldr r0, [r1]"], False, 2),
        (["ldr r0, [r1]", "ldr r2, [r3]"], False, 3),  # neighbours share a cycle
        (["vldmia r0!, {s0-s7}"], False, 9),
        (["subs r0, #1", "bne #0x10"], True, 4),
        (["subs r0, #1", "bne #0x10"], False, 2),
    ],
)
def test_costs_are_those_of_the_manual(block: list[str], taken: bool, cycles: int) -> None:
    assert cost_of_block(M4, block, taken) == cycles


def test_a_long_multiplication_costs_more_on_a_cortex_m3() -> None:
    assert cost_of_block(M3, ["smull r0, r1, r2, r3"], False) > cost_of_block(
        M4, ["smull r0, r1, r2, r3"], False
    )


def test_a_thousand_instructions_that_do_nothing_take_a_thousand_cycles(tmp_path: Path) -> None:
    cortex, found = emulated("cortex-m4f"), []
    for name, waiting in {"plain": "", "longer": f".rept {NOPS}\\nnop\\n.endr"}.items():
        code = toy(tmp_path / name, waiting=waiting)
        program, _ = build(code, cortex, tmp_path / name / "build")
        cycles = estimated_cycles(program, code, cortex, GROUPS[0])
        assert cycles is not None
        assert set(cycles) == {"hypernet", "configure", "infer"}
        counted = emulate(program, code, cortex, GROUPS).instructions
        assert counted is not None
        assert all(cycles[phase] >= counted[phase][0] for phase in cycles)
        found.append(cycles)
    assert found[1]["infer"] - found[0]["infer"] == NOPS
    assert found[1]["configure"] == found[0]["configure"]


def test_a_core_without_a_table_has_no_estimate(tmp_path: Path) -> None:
    other = emulated("cortex-m7")
    code = toy(tmp_path)
    program, _ = build(code, other, tmp_path / "build")
    assert estimated_cycles(program, code, other, GROUPS[0]) is None


def test_a_record_knows_its_blocks_and_what_follows_them() -> None:
    lines = """\
IN: ticks_of_infer
0x00000010:  2000       movs     r0, #0
0x00000012:  f000 f800  bl       #0x20

Trace 0: 0x1 [0/00000010/0/0] ticks_of_infer
IN: board_ticks
0x00000020:  4770       bx       lr

Trace 0: 0x1 [0/00000020/0/0] board_ticks
Trace 0: 0x1 [0/00000010/0/0] ticks_of_infer
Trace 0: 0x1 [0/00000020/0/0] board_ticks
Trace 0: 0x1 [0/00000010/0/0] ticks_of_infer
"""
    record = read(lines.splitlines())
    assert record.ends[0x10] == 0x16
    assert record.steps["ticks_of_infer"] == {(0x20, 0x10): 1, (0x10, 0x20): 1}
    assert record.instructions("ticks_of_infer") == 3
