"""Calls that interrupt one another are right, or told SCN_BUSY: under signals and under threads."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from generated import compiled
from interrupting import COMMON, MODES, defines, written
from needs import tool

# A signal comes some microseconds after the main loop began to configure or to ask, and makes one of the
# calls in turn. Exit code 2: an answer was no known one; 3: the calls never met, and nothing was tested.
SIGNALS = (
    COMMON
    + """
#include <signal.h>
#include <sys/time.h>
static volatile int wrong, met, turn, done;
static float beta[2][NET_DIMS];
static void note(scn_status status, const float *logits)
{
    if (status == SCN_OK) { done++; } else if (status == SCN_BUSY) { met++; } else { wrong++; }
    if (status == SCN_OK && logits && !is_known(logits)) { wrong++; }
}
static void interrupt(int number)
{
    float logits[NET_CLASSES];
    const int which = turn++;
    (void)number;
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
    struct itimerval once = {{0, 0}, {0, 0}};
    float logits[NET_CLASSES];
    int i, rounds;
    if (!learn() || net_beta(alphas[0], beta[0]) != SCN_OK || net_beta(alphas[1], beta[1]) != SCN_OK) {
        return 1;
    }
    signal(SIGALRM, interrupt);
    for (rounds = 0; rounds < 20000 && met < 100; rounds++) {
        for (i = 0; i < 2; i++) {
            once.it_value.tv_usec = 1 + rounds * 7 % 60;
            setitimer(ITIMER_REAL, &once, 0);
            note(net_configure(S alphas[i]), 0);
            note(net_infer(S x, logits), logits);
        }
    }
    return wrong ? 2 : met && done ? 0 : 3;
}
"""
)


@pytest.mark.parametrize("mode", MODES)
def test_a_signal_handler_never_spoils_the_weights(mode: str, tmp_path: Path) -> None:
    gcc, options = tool("gcc"), MODES[mode]
    source = written(options, tmp_path)
    (tmp_path / "main.c").write_text(SIGNALS)
    program = tmp_path / "main"
    compiled(gcc, "-std=gnu99", "-O1", *defines(options), source, tmp_path / "main.c", "-o", program)
    assert subprocess.run([str(program)], check=False, timeout=60).returncode == 0


# Several callers of every kind at once. The thread sanitizer ends the program with 66 where two of them meet
# in memory that no flag guards.
THREADS = (
    COMMON
    + """
#include <pthread.h>
#include <sched.h>
enum { SUCCESSES = 20, KINDS = 5, EACH = 2 };
static int wrong;
static float beta[2][NET_DIMS];
static void *caller(void *which)
{
    const int kind = *(int *)which % KINDS;
    int round, done = 0;
    for (round = 0; done < SUCCESSES; round++) {
        float logits[NET_CLASSES];
        const float *const alpha = alphas[round & 1];
        scn_status status = SCN_OK;
        switch (kind) {
        case 0: status = net_configure(S alpha); break;
        case 1: status = net_mix(S beta[round & 1]); break;
        case 2: status = net_infer(S x, logits); break;
        case 3: status = net_request(S alpha); break;
        default: status = net_poll(ALONE); break;
        }
        if (status != SCN_OK && status != SCN_BUSY) {
            __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
            break;
        }
        if (status == SCN_OK && kind == 2 && !is_known(logits)) {
            __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
        }
        done += status == SCN_OK;
        sched_yield();
    }
    return 0;
}
int main(void)
{
    pthread_t threads[KINDS * EACH];
    int names[KINDS * EACH], i;
    if (!learn() || net_beta(alphas[0], beta[0]) != SCN_OK || net_beta(alphas[1], beta[1]) != SCN_OK) {
        return 1;
    }
    for (i = 0; i < KINDS * EACH; i++) {
        names[i] = i;
        if (pthread_create(&threads[i], 0, caller, &names[i])) { return 1; }
    }
    for (i = 0; i < KINDS * EACH; i++) { pthread_join(threads[i], 0); }
    return wrong ? 2 : 0;
}
"""
)


@pytest.mark.parametrize("mode", MODES)
def test_threads_of_every_kind_share_a_network(mode: str, tmp_path: Path) -> None:
    gcc, options = tool("gcc"), MODES[mode]
    source = written(options, tmp_path)
    (tmp_path / "main.c").write_text(THREADS)
    program, flags = tmp_path / "main", ("-std=gnu99", "-O1", "-g", "-fsanitize=thread", "-pthread")
    compiled(gcc, *flags, *defines(options), source, tmp_path / "main.c", "-o", program)
    found = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=120)
    assert found.returncode == 0, found.stderr[:2000]
