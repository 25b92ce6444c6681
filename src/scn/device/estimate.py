"""Time and energy of a phase, estimated from its instructions.

The emulator counts instructions, not cycles: how long and at what cost a board runs them is an assumption of
the one who asks, and stands beside every figure that rests on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scn.core.errors import ScnError


@dataclass(frozen=True)
class Assumptions:
    """Of a board: clock in MHz, cycles per instruction, and for energy current in mA and voltage in V."""

    clock: float
    cycles_per_instruction: float
    current: float | None = None
    voltage: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise ScnError(f"the {name.replace('_', ' ')} must be a positive number, but is {value:g}")
        if (self.current is None) != (self.voltage is None):
            raise ScnError("an estimate of energy needs `current` and `voltage` both")

    def milliseconds(self, instructions: float) -> float:
        return instructions * self.cycles_per_instruction / self.clock / 1000

    def microjoules(self, instructions: float) -> float | None:
        """Voltage x current x time: V x mA x ms is uJ."""
        if self.current is None or self.voltage is None:
            return None
        return self.voltage * self.current * self.milliseconds(instructions)

    def __str__(self) -> str:
        text = f"assuming {self.clock:g} MHz and {self.cycles_per_instruction:g} cycles per instruction"
        return text if self.current is None else f"{text}, {self.current:g} mA at {self.voltage:g} V"


def assumptions(
    clock: float | None,
    cycles_per_instruction: float | None,
    current: float | None,
    voltage: float | None,
) -> Assumptions | None:
    """What was given; nothing at all asks for no estimate."""
    if clock is None and cycles_per_instruction is None and current is None and voltage is None:
        return None
    if clock is None or cycles_per_instruction is None:
        raise ScnError(
            "an estimate needs `clock` and `cycles_per_instruction`: instructions are counted, cycles are not"
        )
    return Assumptions(clock, cycles_per_instruction, current, voltage)
