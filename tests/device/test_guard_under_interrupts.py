"""A guard that a real interrupt of the emulator calls, and what a call costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from interrupting import COMMON, MODES, ran
from needs import emulated
from test_real_interrupts import TABLE

GUARD = "range=refuse,rate=90/s:keep,timeout=2s:neutral,recover=2"

# Each interrupt gives the guard a reading of one of the two settings that are known, a broken one, or none.
PROGRAM = (
    COMMON
    + TABLE
    + """
static volatile uint32_t wrong, refusals, clock_ms;
static float degrees[2];
static void tick(void)
{
    const float none = 1e30f;
    const uint32_t turn = clock_ms / 4000u;
    const scn_guard_status status =
        clock_ms % 3u == 2u ? net_guard_tick(S clock_ms)
                            : net_guard(S turn % 4u == 3u ? &none : &degrees[turn & 1], clock_ms);
    if (status == SCN_GUARD_BUSY) { wrong++; }
    clock_ms += 100u;
    arm(100u + clock_ms * 377u % 4000u);
}
int main(void)
{
    float logits[NET_CLASSES];
    uint32_t answered = 0, late = 0;
    degrees[1] = 126.869898f; /* of the alphas that are known */
    if (!learn()) { return 1; }
    start();
    arm(100);
    for (uint32_t round = 0; round < 300; round++) {
        const scn_status polled = net_poll(ALONE);
        const uint32_t before = PLACE.refused;
        const scn_status status = net_infer(S x, logits);
        if (polled != SCN_OK && polled != SCN_BUSY) { wrong++; }
        if (status == SCN_OK) {
            answered++;
            late += before != PLACE.refused; /* refused while it was under way */
            if (!near(logits)) { wrong++; }
        } else if (status == SCN_NOT_CONFIGURED) {
            refusals++;
        } else {
            wrong++;
        }
    }
    board_open_output("out.bin");
    const uint32_t found[5] = {wrong, answered, refusals, PLACE.refused, late};
    board_write(found, sizeof found);
    return 0;
}
"""
)
