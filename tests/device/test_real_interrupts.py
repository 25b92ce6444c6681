"""A real interrupt, in the emulator: SysTick comes in the midst of calls, and makes calls itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from interrupting import COMMON, MODES, ran
from needs import emulated

TABLE = """
#include "board.h"
#define REGISTER(address) (*(volatile uint32_t *)(address))
static uint32_t table[16] __attribute__((aligned(128)));
static void tick(void);
static void arm(uint32_t instructions) /* once, after so many; 6.4 ticks each */
{
    REGISTER(0xE000E010u) = 0;
    REGISTER(0xE000E014u) = instructions * 64u / 10u;
    REGISTER(0xE000E018u) = 0;
    REGISTER(0xE000E010u) = 7;
}
static void start(void)
{
    const volatile uint32_t *volatile from = 0;
    for (int i = 0; i < 16; i++) { table[i] = from[i]; }
    table[15] = (uint32_t)(uintptr_t)tick;
    REGISTER(0xE000ED08u) = (uint32_t)(uintptr_t)table;
}
"""
PROGRAM = (
    COMMON
    + TABLE
    + """
static volatile uint32_t wrong, met, done, turn;
static float beta[2][NET_DIMS];
static void note(scn_status status, const float *logits)
{
    if (status == SCN_OK) { done++; } else if (status == SCN_BUSY) { met++; } else { wrong++; }
    if (status == SCN_OK && logits && !is_known(logits)) { wrong++; }
}
static void tick(void)
{
    float logits[NET_CLASSES];
    const uint32_t which = turn++;
    REGISTER(0xE000E010u) = 0;
    switch (which % 5) {
    case 0: note(net_configure(S alphas[which & 1]), 0); break;
    case 1: note(net_mix(S beta[which & 1]), 0); break;
    case 2: note(net_infer(S x, logits), logits); break;
    case 3: note(net_request(S alphas[which & 1]), 0); break;
    default: note(net_poll(ALONE), 0); break;
    }
}
int main(void)
{
    float logits[NET_CLASSES];
    if (!learn() || net_beta(alphas[0], beta[0]) || net_beta(alphas[1], beta[1])) { return 1; }
    start();
    for (uint32_t round = 0; round < 100; round++) {
        arm(1u + round * 377u % 20000u);
        note(net_configure(S alphas[round & 1]), 0);
        arm(1u + round * 377u % 10000u);
        note(net_infer(S x, logits), logits);
    }
    board_open_output("out.bin");
    const uint32_t found[4] = {wrong, met, done, turn};
    board_write(found, sizeof found);
    return 0;
}
"""
)
SHARED = ("static", "explicit", "double buffer", "row", "int8", "int8, double buffer")


@pytest.mark.parametrize("mode", SHARED)
def test_an_interrupt_never_spoils_the_weights(mode: str, tmp_path: Path) -> None:
    wrong, met, done, came = ran(emulated("cortex-m4f"), MODES[mode], tmp_path, PROGRAM)
    assert wrong == 0
    assert met > 10, "the calls met"
    assert done > 100
    assert came > 100


def test_a_core_without_exclusive_access_turns_interrupts_off(tmp_path: Path) -> None:
    """The code is that of a Cortex-M0, which a Cortex-M3 runs as well."""
    found = ran(emulated("cortex-m3"), MODES["static"], tmp_path, PROGRAM, "-mcpu=cortex-m0")
    assert found[0] == 0
    assert found[1] > 10
    assert found[3] > 100


WISHES = (
    COMMON
    + TABLE
    + """
static volatile uint32_t wrong, busy, turn;
static void tick(void)
{
    if (net_request(S alphas[turn & 1]) != SCN_OK) { wrong++; }
    turn++;
    arm(500u + turn * 377u % 9000u);
}
int main(void)
{
    float logits[NET_CLASSES];
    uint32_t right = 0;
    if (!learn()) { return 1; }
    start();
    arm(100);
    for (uint32_t round = 0; round < 60; round++) {
        const scn_status status = net_poll(ALONE);
        busy += status == SCN_BUSY;
        if (status != SCN_OK && status != SCN_BUSY) { wrong++; }
        if (net_infer(S x, logits) != SCN_OK || !is_known(logits)) { wrong++; }
    }
    REGISTER(0xE000E010u) = 0;
    if (net_poll(ALONE) != SCN_OK || net_infer(S x, logits) != SCN_OK) { wrong++; }
    right = !memcmp(logits, known[(turn - 1) & 1], sizeof logits);
    board_open_output("out.bin");
    const uint32_t found[4] = {wrong, right, turn, busy};
    board_write(found, sizeof found);
    return 0;
}
"""
)


@pytest.mark.parametrize("mode", ["static", "row", "explicit, double buffer"])
def test_the_last_wish_of_an_interrupt_is_what_the_main_loop_ends_with(mode: str, tmp_path: Path) -> None:
    wrong, right, came, busy = ran(emulated("cortex-m4f"), MODES[mode], tmp_path, WISHES)
    assert (wrong, right, busy) == (0, 1, 0)
    assert came > 60, "there were more wishes than polls"


COST = (
    COMMON
    + TABLE
    + """
static void tick(void) {}
int main(void)
{
    uint32_t found[2];
    if (!learn()) { return 1; }
    start();
    for (int i = 0; i < 2; i++) { /* nothing is waiting, then a wish is */
        board_start_counter();
        const uint32_t before = board_ticks();
        const scn_status status = net_request(S alphas[0]);
        found[i] = board_ticks() - before;
        if (status != SCN_OK) { return 1; }
    }
    board_open_output("out.bin");
    board_write(found, sizeof found);
    return 0;
}
"""
)


def test_a_request_takes_a_few_dozen_instructions(tmp_path: Path) -> None:
    target = emulated("cortex-m4f")
    ticks = ran(target, MODES["static"], tmp_path, COST)
    assert (ticks / target.ticks_per_instruction).max() < 100
