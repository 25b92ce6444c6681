"""A guard that a real interrupt of the emulator calls, and what a call costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from test_real_interrupts import TABLE

from interrupting import COMMON, MODES, ran
from needs import emulated
from scn.export import Options

GUARD = "range=refuse,rate=90/s:keep,timeout=2s:neutral,recover=2"

# The two settings are known by their outputs, as in COMMON; the first is the neutral one.
SETTINGS = """
static const float degrees[2] = {0.0f, 130.0f}, broken = 1e30f;
static int learn_settings(void)
{
    float alpha[2];
    int i;
    if (!learn()) { return 0; }
    for (i = 0; i < 2; i++) {
        if (net_encode(&degrees[i], alpha) || net_configure(S alpha)) { return 0; }
        if (net_infer(S x, known[i]) != SCN_OK) { return 0; }
    }
    return memcmp(known[0], known[1], sizeof known[0]) != 0;
}
"""
# The interrupt brings a setting for 4 s, the other for 4 s, the first again, and then broken readings. A
# refusal that was there before an inference holds in it, because only the main loop ends one, by a poll.
PROGRAM = (
    COMMON
    + TABLE
    + SETTINGS
    + """
static volatile uint32_t wrong, clock_ms, alarms;
static void tick(void)
{
    const uint32_t phase = clock_ms / 4000u % 4u;
    const scn_guard_status status = clock_ms % 300u == 200u
                                        ? net_guard_tick(S clock_ms)
                                        : net_guard(S phase == 3u ? &broken : &degrees[phase & 1u], clock_ms);
    if (status == SCN_GUARD_BUSY) { wrong++; }
    if (status == SCN_GUARD_RATE || status == SCN_GUARD_TIMEOUT) { alarms++; }
    clock_ms += 100u;
    arm(100u + clock_ms * 377u % 4000u);
}
int main(void)
{
    float logits[NET_CLASSES];
    uint32_t answered = 0, refused = 0;
    if (!learn_settings()) { return 1; }
    start();
    arm(100);
    while (clock_ms < 150000u) {
        const scn_status polled = net_poll(ALONE);
        const uint32_t before = own.guarded.refused;
        const int is_refused = before != own.guarded.lifted;
        const scn_status status = net_infer(S x, logits);
        if (polled != SCN_OK) { wrong++; }
        if (status == SCN_OK ? is_refused || !is_known(logits) : status != SCN_NOT_CONFIGURED) { wrong++; }
        if (status != SCN_OK && !is_refused && before == own.guarded.refused) { wrong++; }
        answered += status == SCN_OK;
        refused += status == SCN_NOT_CONFIGURED;
    }
    board_open_output("out.bin");
    const uint32_t found[5] = {wrong, answered, refused, own.guarded.refused, alarms};
    board_write(found, sizeof found);
    return 0;
}
"""
)


@pytest.mark.parametrize("mode", ["explicit", "explicit, double buffer"])
def test_what_an_interrupt_decides_holds_in_the_main_loop(mode: str, tmp_path: Path) -> None:
    options = replace(MODES[mode], guard=GUARD)
    wrong, answered, refused, refusals, alarms = ran(emulated("cortex-m4f"), options, tmp_path, PROGRAM)
    assert wrong == 0
    assert answered > 50
    assert refused > 20
    assert refusals > 3
    assert alarms > 6


COST = (
    COMMON
    + TABLE
    + SETTINGS
    + """
static void tick(void) {}
static uint32_t now_ms;
static uint32_t ticks_of(int is_tick, const float *reading)
{
    uint32_t before;
    now_ms += 10u;
    board_start_counter();
    before = board_ticks();
    if (is_tick) { (void)net_guard_tick(S now_ms); } else { (void)net_guard(S reading, now_ms); }
    return board_ticks() - before;
}
int main(void)
{
    static const float near = 0.5f;
    uint32_t found[6];
    if (!learn_settings()) { return 1; }
    start();
    found[0] = ticks_of(0, &degrees[0]); /* the first: with a wish */
    found[1] = ticks_of(0, &degrees[0]); /* nothing moved */
    found[2] = ticks_of(0, &near);       /* it moved: with a wish */
    found[3] = ticks_of(1, 0);
    found[4] = ticks_of(0, &degrees[1]); /* a jump */
    found[5] = ticks_of(0, &broken);
    board_open_output("out.bin");
    board_write(found, sizeof found);
    return 0;
}
"""
)


def test_a_reading_takes_a_few_hundred_instructions(tmp_path: Path) -> None:
    target = emulated("cortex-m4f")
    found = ran(target, Options(guard=GUARD), tmp_path, COST) / target.ticks_per_instruction
    assert found.max() < 400
    assert found[3] < 100
