"""Whatever a blob holds, and whoever loads it when: a clean refusal, or weights that are whole."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from test_export_build import CORTEX_M4F, OPTIONS, STRICTER, written

from blobs import apart
from generated import compiled
from interrupting import COMMON, MODES, defines
from interrupting import written as large
from needs import tool

SANITIZERS = ("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")
COMPILERS = {
    "gcc": ("gcc", "-std=c99"),
    "clang": ("clang", "-std=c99"),
    "C++": ("g++", "-x", "c++", "-std=c++11"),
    "cortex-m4f": ("arm-none-eabi-gcc", "-std=c99", *CORTEX_M4F),
    "portable": ("arm-none-eabi-gcc", "-std=c99", "-DSCN_PORTABLE", *CORTEX_M4F),
}
USUAL = ("double", "half", "int8", "int8 row", "fixed")
FUZZED = [("ram", "blob"), ("int8", "blob"), ("int8 row", "blob"), ("int8 weights", "storage")]
BUILT = [(option, "blob") for option in OPTIONS] + [
    ("ram", "storage"),
    ("half", "storage"),
    ("double", "storage"),
]


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    ("option", "where"),
    [
        (option, where) if option in USUAL else pytest.param(option, where, marks=pytest.mark.slow)
        for option, where in BUILT
    ],
)
def test_no_compiler_warns(option: str, where: str, compiler: str, tmp_path: Path) -> None:
    program, *flags = COMPILERS[compiler]
    tool(program)
    source = written("conv", apart(OPTIONS[option], where), tmp_path)
    compiled(program, *flags, *STRICTER, "-O1", "-c", source, "-o", tmp_path / "net.o")


@pytest.mark.parametrize("level", ["-O0", "-Os", "-O3"])
@pytest.mark.parametrize(
    ("option", "where"), [("ram", "blob"), ("int8 row", "blob"), ("int8", "blob"), ("half", "storage")]
)
def test_no_library_is_needed(option: str, where: str, level: str, tmp_path: Path) -> None:
    """A struct that is built where it is used becomes no call of memcpy or memset."""
    gcc, nm = tool("arm-none-eabi-gcc"), tool("arm-none-eabi-nm")
    source = written("conv", apart(OPTIONS[option], where), tmp_path)
    compiled(gcc, "-std=c99", level, *CORTEX_M4F, "-c", source, "-o", tmp_path / "net.o")
    assert compiled(nm, "-u", tmp_path / "net.o").split() == []


@pytest.mark.parametrize(("option", "where"), [("ram", "blob"), ("int8", "blob"), ("ram", "storage")])
def test_cppcheck_finds_nothing(option: str, where: str, tmp_path: Path) -> None:
    program = tool("cppcheck")
    source = written("mlp", apart(OPTIONS[option], where), tmp_path)
    compiled(
        program, "--enable=warning,performance,portability", "--std=c99", "--error-exitcode=1", "--quiet",
        "--suppress=nullPointer", "-USCN_PORT_HEADER", "--force", f"-I{tmp_path}", source,
    )  # fmt: skip


# Exit codes: 2 the blob itself is refused, 3 a changed one is taken, 4 one with a checksum that fits made the
# program answer with what is not finite, 5 weights of before are gone, 6 nothing was taken at all.
FUZZ = """
#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "net.h"
static uint32_t seed = 1;
static uint32_t word(void) { seed ^= seed << 13; seed ^= seed >> 17; seed ^= seed << 5; return seed; }
static unsigned char *held;
static size_t size;
#ifdef STORAGE
static int give(void *context, uint32_t from, void *to, uint32_t count)
{
    if ((uint64_t)from + count > *(size_t *)context) { return 1; }
    memcpy(to, held + from, count);
    return 0;
}
static scn_status load(void) { return net_load_from(give, &size, size); }
#else
static scn_status load(void) { return net_load(held, size); }
#endif
static uint32_t checksum(const unsigned char *bytes, size_t count)
{
    uint32_t crc = 0xffffffffu;
    for (; count > 0; count--) {
        crc ^= *bytes++;
        for (int i = 0; i < 8; i++) { crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1u))); }
    }
    return ~crc;
}
static void put(uint32_t value) { memcpy(held + size - 4, &value, 4); }
static scn_status use(void)
{
    static float x[NET_INPUT_SIZE], logits[NET_CLASSES], alpha[2] = {0.6f, 0.8f};
    scn_status status = net_configure(alpha);
    for (int i = 0; i < NET_INPUT_SIZE; i++) { x[i] = (float)(i % 7) / 7.0f - 0.5f; }
    status = status == SCN_OK ? net_infer(x, logits) : status;
    for (int i = 0; status == SCN_OK && i < NET_CLASSES; i++) {
        if (!(logits[i] <= FLT_MAX && logits[i] >= -FLT_MAX)) { exit(4); }
    }
    return status;
}
static void change(void)
{
    const uint32_t at = word() % (uint32_t)size, kind = word() % 4u;
    if (kind == 0) { held[at] ^= (unsigned char)(1u << word() % 8u); }
    if (kind == 1) { held[at] = (unsigned char)word(); }
    if (kind == 2) { uint32_t value = word(); memcpy(held + at / 4 * 4, &value, 4); }
    if (kind == 3) { memset(held + at, (int)word() & 255, size - at < 64 ? size - at : 64); }
}
int main(int count, char **names)
{
    FILE *file = count == 2 ? fopen(names[1], "rb") : 0;
    static unsigned char whole[1 << 20];
    size_t all;
    int taken = 0;
    if (!file) { return 1; }
    all = fread(whole, 1, sizeof whole, file);
    fclose(file);
    for (int round = 0; round < 6000; round++) {
        size = round % 8 == 7 ? word() % all : all;
        held = malloc(size ? size : 1); /* not a byte more than it may read */
        memcpy(held, whole, size);
        if (round == 0 && (load() != SCN_OK || use() != SCN_OK)) { return 2; }
        if (round > 0) {
            if (size == all) { do { change(); } while (!memcmp(held, whole, size)); }
            if (load() == SCN_OK) { return 3; }
            if (size == all && round % 2) {
                put(checksum(held, size - 4));
                if (load() == SCN_OK) { taken++; (void)use(); }
            }
        }
        (void)net_unload();
        free(held);
    }
    return taken > 100 ? 0 : 6;
}
"""


@pytest.mark.parametrize("kind", ["mlp", "conv"])
@pytest.mark.parametrize(("option", "where"), FUZZED)
def test_six_thousand_changed_blobs_do_no_harm(option: str, where: str, kind: str, tmp_path: Path) -> None:
    gcc, options = tool("gcc"), apart(OPTIONS[option], where)
    source = written(kind, options, tmp_path)
    (tmp_path / "fuzz.c").write_text(FUZZ)
    program, streams = tmp_path / "fuzz", ("-DSTORAGE",) if where == "storage" else ()
    compiled(gcc, "-std=c99", "-O1", "-g", *SANITIZERS, *streams, source, tmp_path / "fuzz.c", "-o", program)
    found = subprocess.run([program, tmp_path / "net.blob"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr[:2000]


# Threads load one of two blobs, configure and ask; an answer is one of four that are known, to the bit.
THREADS = (
    COMMON.replace("known[2]", "known[4]")
    + """
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
enum { SUCCESSES = 20, KINDS = 4, EACH = 2 };
static uint32_t blobs[2][1 << 16];
static size_t sizes[2];
static int wrong, answered;
static scn_status load(int which) { return net_load(S blobs[which], sizes[which]); }
static int is_of_either(const float *logits)
{
    return is_known(logits) || !memcmp(logits, known[2], sizeof known[0]) ||
           !memcmp(logits, known[3], sizeof known[0]);
}
static void *caller(void *which)
{
    const int kind = *(int *)which % KINDS;
    int round, done = 0;
    for (round = 0; done < SUCCESSES; round++) {
        float logits[NET_CLASSES], beta[NET_DIMS];
        scn_status status = SCN_OK;
        switch (kind) {
        case 0: status = load(round & 1); break;
        case 1: status = net_configure(S alphas[round & 1]); break;
        case 2: status = net_infer(S x, logits); break;
        default: status = net_beta(S alphas[round & 1], beta); break;
        }
        if (status != SCN_OK && status != SCN_BUSY && status != SCN_NOT_CONFIGURED) {
            __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
            break;
        }
        __atomic_add_fetch(&answered, status == SCN_OK && kind == 2, __ATOMIC_RELAXED);
        if (status == SCN_OK && kind == 2 && !is_of_either(logits)) {
            __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
        }
        /* Configurations go on, so that every inference comes to an end. */
        done += kind == 1 ? round > 1200 : status == SCN_OK || round > 6000;
        sched_yield();
    }
    return 0;
}
int main(int count, char **names)
{
    pthread_t threads[KINDS * EACH];
    int numbers[KINDS * EACH], i, j;
    for (i = 0; i < 2; i++) {
        FILE *file = count == 3 ? fopen(names[1 + i], "rb") : 0;
        if (!file) { return 1; }
        sizes[i] = fread(blobs[i], 1, sizeof blobs[i], file);
        fclose(file);
    }
    for (i = 1; i >= 0; i--) {
        if (load(i) != SCN_OK || !learn()) { return 1; }
        for (j = 0; i && j < 2; j++) { memcpy(known[2 + j], known[j], sizeof known[0]); }
    }
    if (!memcmp(known[0], known[2], sizeof known[0])) { return 3; }
    for (i = 0; i < KINDS * EACH; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], 0, caller, &numbers[i])) { return 1; }
    }
    for (i = 0; i < KINDS * EACH; i++) { pthread_join(threads[i], 0); }
    return wrong ? 2 : answered ? 0 : 4;
}
"""
)


@pytest.mark.parametrize("mode", ["static", "explicit, double buffer", "row", "int8"])
def test_threads_load_while_others_configure_and_ask(mode: str, tmp_path: Path) -> None:
    gcc, options = tool("gcc"), apart(MODES[mode])
    (tmp_path / "other").mkdir()
    source = large(options, tmp_path)
    large(options, tmp_path / "other", seed=1)
    (tmp_path / "main.c").write_text(THREADS)
    program, flags = tmp_path / "main", ("-std=gnu99", "-O1", "-g", "-fsanitize=thread", "-pthread")
    compiled(gcc, *flags, *defines(options), source, tmp_path / "main.c", "-o", program)
    blobs = (tmp_path / "net.blob", tmp_path / "other" / "net.blob")
    found = subprocess.run([program, *blobs], capture_output=True, text=True, check=False, timeout=120)
    assert found.returncode == 0, (found.returncode, found.stderr[:2000])
