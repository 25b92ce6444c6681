"""A guard that threads call at once: the thread sanitizer sees no memory that two of them change."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from generated import compiled
from interrupting import COMMON, MODES, defines, written
from needs import tool

THREADS = (
    COMMON
    + """
#include <pthread.h>
#include <sched.h>
enum { ROUNDS = 400, KINDS = 4, EACH = 2 };
static uint32_t clock_ms, wrong, seen[3]; /* answers, refusals, calls of the guard that met */
static void count(uint32_t *number) { __atomic_add_fetch(number, 1, __ATOMIC_RELAXED); }
static void *caller(void *which)
{
    const float angles[2] = {0.0f, 1e30f};
    const int kind = *(int *)which % KINDS;
    int round;
    for (round = 0; round < ROUNDS; round++) {
        const uint32_t now = __atomic_add_fetch(&clock_ms, 3, __ATOMIC_RELAXED);
        float logits[NET_CLASSES];
        scn_status status = SCN_OK;
        switch (kind) {
        case 0: if (net_guard(S &angles[round % 8 == 0], now) == SCN_GUARD_BUSY) { count(&seen[2]); } break;
        case 1: (void)net_guard_tick(S now); (void)net_guard_policy(ALONE); break;
        case 2: status = net_infer(S x, logits); break;
        default: status = net_poll(ALONE); break;
        }
        if (status == SCN_NOT_CONFIGURED && kind == 2) { count(&seen[1]); }
        else if (status != SCN_OK && status != SCN_BUSY) { count(&wrong); }
        else if (status == SCN_OK && kind == 2) {
            count(&seen[0]);
            if (!is_known(logits)) { count(&wrong); }
        }
        sched_yield();
    }
    return 0;
}
int main(void)
{
    pthread_t threads[KINDS * EACH];
    int names[KINDS * EACH], i;
    if (!learn()) { return 1; }
    for (i = 0; i < KINDS * EACH; i++) {
        names[i] = i;
        if (pthread_create(&threads[i], 0, caller, &names[i])) { return 1; }
    }
    for (i = 0; i < KINDS * EACH; i++) { pthread_join(threads[i], 0); }
    return wrong ? 2 : !seen[0] ? 3 : !seen[1] ? 4 : 0;
}
"""
)


@pytest.mark.parametrize("mode", ["static", "explicit, double buffer"])
def test_threads_share_a_guard(mode: str, tmp_path: Path) -> None:
    gcc, options = tool("gcc"), replace(MODES[mode], guard="range=refuse,timeout=1s:neutral,recover=2")
    source = written(options, tmp_path)
    (tmp_path / "main.c").write_text(THREADS)
    program, flags = tmp_path / "main", ("-std=gnu99", "-O1", "-g", "-fsanitize=thread", "-pthread")
    compiled(gcc, *flags, *defines(options), source, tmp_path / "main.c", "-o", program)
    found = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=120)
    assert found.returncode == 0, found.stderr[:2000]
