"""Arrays that are not aligned, or hold no numbers, are refused on the processor: they are no fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from generated import BAD_ALPHA, BAD_INPUT, OK
from interrupting import COMMON, MODES, ran
from needs import emulated

PROGRAM = (
    COMMON
    + """
#include "board.h"
int main(void)
{
    static float places[NET_INPUT_SIZE + 2], y[NET_CLASSES + 1];
    const union { uint32_t bits; float number; } infinite = {0x7F800000u};
    uint32_t found[6] = {0};
    const float *volatile off = (const float *)(const void *)((const char *)places + 1);
    float *volatile y_off = (float *)(void *)((char *)y + 2);
    (void)is_known;
    if (!learn()) { return 1; }
    found[0] = (uint32_t)net_infer(S off, y);
    found[1] = (uint32_t)net_infer(S places, y_off);
    found[2] = (uint32_t)net_configure(S off);
    found[3] = (uint32_t)net_infer(S places, y);
    for (int i = 0; i < NET_INPUT_SIZE; i++) {
        places[i] = infinite.number;
        found[4] += net_infer(S places, y) == SCN_BAD_INPUT;
        places[i] = 0.0f;
    }
    found[5] = NET_INPUT_SIZE;
    board_open_output("out.bin");
    board_write(found, sizeof found);
    return 0;
}
"""
)


@pytest.mark.parametrize("mode", ["static", "int8"])
@pytest.mark.parametrize("target", ["cortex-m4f", "cortex-m3"])
def test_arrays_that_are_no_input_are_refused(target: str, mode: str, tmp_path: Path) -> None:
    found = ran(emulated(target), MODES[mode], tmp_path, PROGRAM).tolist()
    assert found[:4] == [BAD_INPUT, BAD_INPUT, BAD_ALPHA, OK]
    assert found[4] == found[5], "wherever the infinite value stands"
