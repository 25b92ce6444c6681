"""The parts of what a person says about a sensor: `NUMBERS,name=value,name`."""

from __future__ import annotations

from collections.abc import Collection

from scn.core.errors import ScnError
from scn.core.registry import nearest

LONGEST_SIDE = 32767  # that the tables on a device can say
LONGEST = 2**31 - 1


def parts_of(text: str, known: Collection[str]) -> tuple[str, dict[str, str]]:
    """What stands before the first comma, and the options behind it, each said once."""
    head, *rest = text.split(",")
    found: dict[str, str] = {}
    for word in rest:
        name, _, value = word.partition("=")
        if name not in known:
            raise ScnError(f"an input has no option {nearest(name, known)}")
        if name in found:
            raise ScnError(f"the option {name} of an input is said twice")
        found[name] = value
    return head, found


def length(text: str, what: str, most: int = LONGEST_SIDE) -> int:
    """A whole number from 1 on."""
    if not (text.isascii() and text.isdigit() and len(text) < 11 and 0 < int(text) <= most):
        raise ScnError(f"the {what} of an input is a whole number from 1 to {most}, not {text[:20]!r}")
    return int(text)
