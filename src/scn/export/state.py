"""All that a network changes, and the flags that keep an interrupted call from seeing half of it.

`running` is set while an inference runs. `ready` is 0 until the first configuration; with one buffer then 1,
and 2 while weights are mixed; with two buffers it is the number of the one to use. Inference sets its flag
before it looks at the other one and configuration likewise, so of two calls at least one sees the other.
"""

from __future__ import annotations

from scn.export.base import Options
from scn.export.parts import Parts

SINGLE_BEGIN = """\
    s->ready = 2; /* inference waits from here on */
    SCN_BARRIER();
    if (s->running) {
        s->ready = before;
        return SCN_BUSY;
    }
"""

SINGLE_END = """\
    SCN_BARRIER();
    s->ready = 1;
"""
DOUBLE_NEXT = "    const uint8_t next = s->ready == 1 ? 2 : 1;\n"
DOUBLE_BEGIN = """\
    if (s->running == next) {
        return SCN_BUSY; /* an inference still uses the weights before the last ones */
    }
"""
DOUBLE_END = """\
    SCN_BARRIER();
    s->ready = next;
"""
SIMPLE_INFER = """\
    if (s->running) {
        return SCN_BUSY;
    }
    s->running = 1;
    SCN_BARRIER();
"""
SINGLE_INFER = """\
    if (s->running) {
        return SCN_BUSY;
    }
    s->running = 1;
    SCN_BARRIER();
    if (s->ready != 1) {
        s->running = 0;
        return s->ready ? SCN_BUSY : SCN_NOT_CONFIGURED;
    }
"""
DOUBLE_INFER = """\
    if (s->running) {
        return SCN_BUSY;
    }
    do { /* a configuration may end between the two lines */
        now = s->ready;
        if (!now) {
            s->running = 0;
            return SCN_NOT_CONFIGURED;
        }
        s->running = now;
        SCN_BARRIER();
    } while (s->ready != now);
"""


def state_text(name: str, parts: Parts) -> str:
    """The type of the state, and of theta in it."""
    fields = [field.text() for field in parts.state]
    text = ""
    if parts.theta:
        text = _struct(f"{name}_theta", [field.text() for field in parts.theta])
        fields.insert(0, f"{name}_theta theta{f'[{parts.copies}]' if parts.copies > 1 else ''}")
    if parts.configurable:
        fields.append("volatile uint8_t ready")
    return text + _struct(f"{name}_state", [*fields, "volatile uint8_t running"])


def _struct(name: str, fields: list[str]) -> str:
    return f"typedef struct {{\n{''.join(f'    {field};' + chr(10) for field in fields)}}} {name};\n\n"


def parameter(name: str, options: Options, rest: str) -> str:
    """The parameters of a function that needs the state."""
    return f"{name}_state *s, {rest}" if options.state == "explicit" else rest
