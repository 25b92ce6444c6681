"""The pieces of C that sources are made of, in an order in which each uses only those before it.

What several operations share is in `templates/`; an operation brings the rest itself, as text or by files.
"""

from __future__ import annotations

from importlib.resources import files


def from_files(*names: str) -> dict[str, str]:
    """Pieces by the names of their files in `templates/`."""
    folder = files("scn.export") / "templates"
    return {name: (folder / f"{name}.c").read_text() for name in names}


def of_each(name: str) -> str:
    """A piece that is filled anew for each network, by its file in `templates/of_each/`."""
    return from_files(f"of_each/{name}").popitem()[1]


TAIL = """\
#if defined(__clang__)
#pragma clang attribute pop
#endif
"""
FLOAT = from_files(
    "finite",
    *("flags", "flag_get", "flag_fill"),
    *("exp", "circle", "turn", "is_turn", "log", "few", "collect", "only", "inline"),
    *("patch", "block", "store", "linear", "word", "sse", "int8_pairs"),
    *("mix_float32", "mix_float16", "mix_int8", "rows", "rows_bias", "coefficients", "rows_ram", "alone"),
    "mix_int8_pairs",
    "linear_ram",
    *("angle", "around", "on_line", "on_circle", "last_before", "among_line", "among_circle"),
    *("search_products", "search_products_strips", "search_combine", "search_evidence", "search_entropy"),
    "search_linear_int8",
    *("cross", "nearest", "agreement", "nearest_turn", "near_turns", "waves", "outer"),
)
INT8 = from_files(
    *("whole", "whole_number", "int8_out", "eight_bits", "int8_dot"),
    *("int8_input", "int8_input8", "int8_widen"),
)
HEAD = """\
#include <float.h>
#include <stdint.h>

/* Does not compile where int has less than 32 bits. */
typedef char scn_int_has_32_bits[sizeof(int) >= 4 ? 1 : -1];

/* No loop becomes a call of memcpy or memset: the file needs no library. */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_builtin("memcpy", "memset", "memmove"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

/* Define SCN_PORTABLE to compile the plain C instead of the instructions of the core. */
#if defined(__GNUC__) && defined(__thumb2__) && defined(__ARM_FEATURE_FMA) && defined(__ARM_FP) && \\
    !defined(SCN_PORTABLE)
#define SCN_VFP 1
#else
#define SCN_VFP 0
#endif

#if defined(__GNUC__) && defined(__thumb2__) && defined(__ARM_FEATURE_DSP) && !defined(SCN_PORTABLE)
#define SCN_DSP 1
#else
#define SCN_DSP 0
#endif

/* One copy of a kernel, whatever calls it: a mixed network takes the time of a plain one. */
#if defined(__clang__)
#define SCN_KERNEL __attribute__((noinline))
#elif defined(__GNUC__) && __GNUC__ >= 8
#define SCN_KERNEL __attribute__((noipa))
#else
#define SCN_KERNEL
#endif
"""
