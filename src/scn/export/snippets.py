"""The pieces of C in `templates/`, and what stands before them in every source file."""

from __future__ import annotations

from importlib.resources import files

ORDER = (  # a snippet uses those before it
    "exp",
    "circle",
    "log",
    "patch",
    "block",
    "store",
    "linear",
    "mix_float32",
    "mix_float16",
    "mix_int8",
    "rows",
    "rows_bias",
    "coefficients",
    "rows_ram",
    "linear_ram",
    "linear_row",
    "gather",
    "conv_ram",
    "conv_row",
    "seen",
    "max",
    "mean",
    "add",
    "relu",
    "pad",
    "less_least",
    "int8_dot",
    "int8_input",
    "int8_input8",
    "int8_widen",
    "int8_rows",
    "int8_mix",
    "int8_rows_ram",
    "int_affine",
    "int8_last",
    "int8_row",
    "int_linear_row",
    "int8_last_row",
    "int_gather",
    "int_conv",
    "int_conv_row",
    "int_max",
    "int_mean",
    "int_add",
    "int_relu",
    "int_pad",
    "int8_less_least",
)
HEAD = """\
#include <float.h>
#include <limits.h>
#include <stdint.h>

#if INT_MAX < 2147483647
#error "int must have at least 32 bits"
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

/* Weights are complete in memory before a flag says so. */
#if defined(__GNUC__)
#define SCN_BARRIER() __sync_synchronize()
#else
#define SCN_BARRIER() ((void)0)
#endif
"""


def snippet(name: str) -> str:
    """A piece by its name; what follows a colon fills in its places @1@, @2@, ..., as types of numbers do."""
    file, *fill = name.split(":")
    text = (files("scn.export") / "templates" / f"{file}.c").read_text()
    for i, value in enumerate(fill, start=1):
        text = text.replace(f"@{i}@", value)
    return text


def in_order(names: list[str]) -> list[str]:
    """Names so that each piece comes behind those that it uses."""
    return sorted(names, key=lambda name: (ORDER.index(name.split(":")[0]), name))
