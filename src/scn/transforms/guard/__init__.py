"""A guard for readings of the setting: what may configure a network, and what happens when nothing may.

`Policy` is what a person asks for, `AlphaGuard` decides, reading by reading. The exported C code decides the
same, to the last bit.
"""

from scn.transforms.guard.decisions import AlphaGuard, Decision
from scn.transforms.guard.policy import ACTIONS, KEEP, NEUTRAL, REFUSE, Policy, ReadingLimits

__all__ = ["ACTIONS", "KEEP", "NEUTRAL", "REFUSE", "AlphaGuard", "Decision", "Policy", "ReadingLimits"]
