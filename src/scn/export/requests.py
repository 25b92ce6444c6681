"""Wishes: an interrupt says for which alpha the network shall be configured, the main loop does it.

A wish is written to a place that nobody else uses, and published by one swap, so that it is never torn and
the latest one wins. Of the places one may be read by the main loop and one hold the latest wish: the others
are for requests that interrupt one another.
"""

from __future__ import annotations

from scn.export import guard
from scn.export.base import Options
from scn.export.parts import Parts
from scn.export.snippets import of_each
from scn.export.state import parameter, struct

PLACES = 4
NESTED = PLACES - 2  # requests at once
DONE = {  # when a wish need not wait for the next poll; storage may fail to be read once
    "code": "status != SCN_BUSY",
    "blob": "(status != SCN_BUSY && status != SCN_NOT_LOADED)",
    "storage": "(status != SCN_BUSY && status != SCN_NOT_LOADED && status != SCN_BAD_BLOB)",
}
SNIPPETS = ("flag_fill",)
ABOUT = f"""\
/* Leave the wish to be configured for this alpha; the next poll does it. From any interrupt or thread, in
   constant time. The latest wish wins; of two requests that overlap it is the one that ends last. SCN_BUSY
   only if more than {NESTED} requests overlap: then this wish was not taken. */
"""
POLL = """\
/* Carry out the latest wish, if there is one; call it in the main loop. SCN_BUSY: not now, the wish waits.
   SCN_BAD_ALPHA: the wish is no possible alpha and gone, and the last good configuration stays. */
"""


def wishes_text(name: str, parts: Parts) -> str:
    """The type of what requests leave."""
    fields = [
        f"float alpha[{PLACES}][{parts.alphas}]",
        f"scn_flag taken[{PLACES}]",
        "scn_flag latest",  # 1 + its place
        "scn_flag polling",
        *([f"uint32_t lifts[{PLACES}]"] if parts.guard else []),
    ]
    return struct(f"{name}_wishes", fields)


def wishes_bytes(parts: Parts) -> int:
    return 4 * (PLACES * (parts.alphas + 1 + bool(parts.guard)) + 2)


def declared(name: str, options: Options) -> list[str]:
    """For the header."""
    takes = parameter(name, options, "const float *alpha")
    return [
        f"{ABOUT}scn_status {name}_request({takes});\n",
        f"{POLL}scn_status {name}_poll({parameter(name, options, '')});\n",
    ]


def defined(name: str, options: Options, parts: Parts) -> str:
    """For the source. Wishes of a static state are apart from it: if nobody asks, the linker drops them."""
    explicit = options.state == "explicit"
    own = "" if explicit else f"{wishes_text(name, parts)}static {name}_wishes {name}_left;\n\n"
    sizes = f"#define SCN_WISHES {PLACES}u\n#define SCN_ALPHA {parts.alphas}\n\n"
    text = of_each("request")
    for place, words in {
        **guard.in_requests(name, options, parts),
        "@NAME@": name,
        "@STATE@": f"{name}_state *s, " if explicit else "",
        "@STATE ALONE@": f"{name}_state *s" if explicit else "void",
        "@S@": "s, " if explicit else "",
        "@DONE@": DONE[options.weights_in],
        "@WISHES@": "&s->wishes" if explicit else f"&{name}_left",
    }.items():
        text = text.replace(place, words)
    return own + sizes + text
