"""What instructions cost on a core, by class: an estimate, from the tables of the maker's manual.

Cortex-M4: Arm DDI 0439 (Cortex-M4 Technical Reference Manual), instruction set summary and floating-point
instruction set. Cortex-M3: Arm DDI 0337 (Cortex-M3 Technical Reference Manual). Both are for memory without
wait states. A taken branch refills the pipeline in 1 to 3 cycles: 2 are assumed. For the Cortex-M7 and the
Cortex-M33 we know of no such table by Arm, so there is no estimate for them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

REFILL = 2
LOADS = ("ldr", "ldrb", "ldrh", "ldrsb", "ldrsh", "vldr")
STORES = ("str", "strb", "strh")
MANY = ("ldm", "ldmia", "ldmdb", "stm", "stmia", "stmdb", "push", "pop", "ldrd", "strd")
MANY_FLOATS = ("vldm", "vldmia", "vldmdb", "vstm", "vstmia", "vstmdb", "vpush", "vpop")
BRANCHES = ("b", "bl", "bx", "blx", "cbz", "cbnz", "tbb", "tbh")
CONDITIONS = "eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le"
NAME = re.compile(rf"^(?P<name>b|bl|v?[a-z0-9]+?)(?P<condition>{CONDITIONS})?$")


@dataclass(frozen=True)
class Core:
    """Cycles of the classes that cost other than one; `document` is where they are from."""

    name: str
    document: str
    others: dict[str, int] = field(default_factory=dict)

    def cost(self, text: str, before: str, taken: bool) -> int:
        """Of an instruction as the emulator prints it, behind another; taken: where it does not go on."""
        name = mnemonic(text)
        refill = REFILL if taken else 0
        if name in LOADS:
            pipelined = mnemonic(before) in (*LOADS, *STORES)
            return (1 if pipelined else 2) + refill
        if name in MANY or name in MANY_FLOATS:
            return 1 + transferred(name, text) + refill
        return self.others.get(name, 1) + refill


def mnemonic(text: str) -> str:
    """The name of an instruction without width, type and condition: vfma.f32 -> vfma, ldreq -> ldr."""
    first = text.split(None, 1)[0].partition(".")[0] if text else ""
    known = (*LOADS, *STORES, *MANY, *MANY_FLOATS, *BRANCHES, *SLOW)
    found = NAME.match(first)
    if first in known or found is None or found["name"] not in known:
        return first
    return found["name"]


def transferred(name: str, text: str) -> int:
    """How many words a load or store of many moves."""
    if name in ("ldrd", "strd"):
        return 2
    listed = text[text.index("{") + 1 : text.index("}")] if "{" in text else ""
    words = 0
    for part in filter(None, (part.strip() for part in listed.split(","))):
        ends = re.findall(r"([a-z]+)(\d+)", part)
        count = int(ends[1][1]) - int(ends[0][1]) + 1 if len(ends) == 2 else 1
        words += count * (2 if part.startswith("d") else 1)
    return words


FLOATS = {"vfma": 3, "vfms": 3, "vfnma": 3, "vfnms": 3, "vmla": 3, "vmls": 3, "vdiv": 14, "vsqrt": 14}
DIVISIONS = {"sdiv": 7, "udiv": 7}  # 2 to 12
LONG = {"mla": 2, "mls": 2, "smull": 4, "umull": 4, "smlal": 5, "umlal": 5}  # of the M3: 3 to 5, and 4 to 7
SLOW = (*FLOATS, *DIVISIONS, *LONG)
CORES = {
    core.name: core
    for core in (
        Core("cortex-m4", "Arm DDI 0439", {**FLOATS, **DIVISIONS, "vstr": 2}),
        Core("cortex-m3", "Arm DDI 0337", {**LONG, **DIVISIONS}),
    )
}


def cost_of_block(core: Core, instructions: Sequence[str], taken: bool) -> int:
    """Of instructions in a row, of which the last one may go elsewhere."""
    before, total = "", 0
    for place, text in enumerate(instructions):
        last = place == len(instructions) - 1
        total += core.cost(text, before, taken and last)
        before = text
    return total
