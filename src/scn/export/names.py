"""Names that programs and boards have given already, and that no network may take."""

from __future__ import annotations

from collections.abc import Iterable

from scn.core.errors import ScnError

INCLUDED = """
arduino assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg
stdatomic stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string strings tgmath threads time uchar
wchar wctype scn_sensor scn_accelerometer scn_light scn_port
"""  # headers: one of a network of this name would take the place of the one that a program means
HEADERS = frozenset(INCLUDED.split())


def refuse_taken(name: str, taken: Iterable[str], what: str) -> None:
    """A name that software has given already; in capitals or not, as some disks keep no case."""
    if name.lower() in taken:
        raise ScnError(f"the name {name} is that of {what} already: choose another by `name`")
