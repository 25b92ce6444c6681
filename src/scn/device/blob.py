"""A blob in the flash of an emulated board: as constants, or behind a function that reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from scn.export import Options

PER_LINE = 8
WORDS = """\
#include <stdint.h>

extern const uint32_t {name}_blob[{count}];
const uint32_t {name}_blob[{count}] = {{
    {words}}};
"""
READ = """\
#ifndef SUBJECT_READ
#define SUBJECT_READ
static inline int subject_read(void *context, uint32_t from, void *to, uint32_t count) {{
    const uint8_t *const bytes = (const uint8_t *){name}_blob + from;
    (void)context;
    for (uint32_t i = 0; i < count; i++) ((uint8_t *)to)[i] = bytes[i];
    return 0;
}}
#endif
"""


def embedded(folder: Path, name: str) -> Path:
    """The blob in a folder as a C file beside it."""
    words = np.fromfile(folder / f"{name}.blob", "<u4").tolist()
    numbers = [f"0x{word:08x}u" for word in words]
    lines = [", ".join(numbers[i : i + PER_LINE]) for i in range(0, len(numbers), PER_LINE)]
    path = folder / f"{name}_blob.c"
    path.write_text(WORDS.format(name=name, count=len(words), words=",\n    ".join(lines)))
    return path


def loading(name: str, options: Options) -> list[str]:
    """For subject.h: how the harness loads it."""
    first = "&state, " if options.state == "explicit" else ""
    size = f"{name.upper()}_BLOB_BYTES"
    declared = f"extern const uint32_t {name}_blob[{size} / 4];"
    if options.weights_in == "blob":
        return [declared, f"#define SUBJECT_LOAD() {name}_load({first}{name}_blob, {size})"]
    load = f"{name}_load_from({first}subject_read, 0, {size})"
    return [declared, READ.format(name=name), f"#define SUBJECT_LOAD() {load}"]
