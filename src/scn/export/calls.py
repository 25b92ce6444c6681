"""Who may call what from where: the rule as the header states it, in plain words."""

from __future__ import annotations

import textwrap

from scn.export.base import Options
from scn.export.parts import Parts

WIDTH = 104
ANYWHERE = "From anywhere, at any time, also at once: {free}. They use no state."
ONCE = """\
One of these at a time, whether from the main loop, an interrupt, a thread or another core: {shared}. A call
that finds the state in use returns SCN_BUSY at once and has changed nothing."""
TWICE = """\
One of these at a time: {shared}. Beside it one {infers}, which goes on with the weights before. It does
not matter which comes from the main loop, an interrupt, a thread or another core. A call that finds in use
what it needs returns SCN_BUSY at once and has changed nothing."""
NEVER = """\
No call ever waits. So an interrupt must not repeat a call until it succeeds: the one that it interrupts could
never end."""
WISH = """\
An interrupt calls {name}_request, which takes any alpha in constant time, and the main loop calls {name}_poll
before {name}_infer: then no change of alpha is lost, whatever is going on when it comes."""
LOADED = """\
{name}_{load}, {name}_unload and whatever else reads the weights take part in this; a load that is told
SCN_BUSY has changed nothing. While it looks through a blob, the other calls go on."""
STATES = "Each state is for itself: calls with different states never meet."


def rule(name: str, options: Options, parts: Parts) -> list[str]:
    """Lines for the head of NAME.h."""
    whole, blob = ("encode",) if parts.encode else (), options.in_blob
    free = [f"{name}_{what}" for what in (*whole, *(() if blob else ("beta",)))]
    shared = [f"{name}_{what}" for what in (*(("beta",) if blob else ()), "mix", "configure", "infer")]
    texts = [ANYWHERE, TWICE if options.double_buffer else ONCE, NEVER, WISH]
    entrance = parts.entrance
    if entrance is not None:
        shared.append(f"{name}_{entrance.function}")
        (shared if entrance.uses_state else free).append(f"{name}_prepare")
    shared += parts.search.names
    infers = " or ".join(shared[2:])
    if options.double_buffer:
        shared = shared[:-1]
    if not parts.configurable:
        texts, shared = [ONCE, NEVER], shared[-1:]
    if not free and parts.configurable:
        del texts[0]
    if blob:
        texts.insert(texts.index(NEVER), LOADED)
    if options.state == "explicit":
        texts.append(STATES)
    load = "load_from" if options.weights_in == "storage" else "load"
    words = {
        "name": name,
        "free": ", ".join(free),
        "shared": ", ".join(shared),
        "infers": infers,
        "load": load,
    }
    lines = [line for text in texts for line in textwrap.wrap(text.format(**words), WIDTH)]
    return ["calls from interrupts, threads and other cores:", *(f"   {line}" for line in lines)]
