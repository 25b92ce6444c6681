"""All that a network changes, and the flags that keep two calls from changing it at once.

With one theta a single flag, `busy`, is held by whoever uses the state. With two, a configuration and an
inference go on side by side, each kind behind a flag of its own: `ready` is the number of the theta to use,
and inference says in `used` which one it reads before it looks at `ready` again. Configuration publishes
`ready` before it looks at `used`, so of two calls that would meet at least one sees the other.
"""

from __future__ import annotations

from scn.export.base import Options
from scn.export.parts import Parts

FLAG = """\
#ifndef SCN_FLAG
#define SCN_FLAG
/* A number that interrupts and threads may change at once. */
#if (!defined(__GNUC__) || defined(SCN_STDATOMIC)) && !defined(SCN_ENTER_CRITICAL) && \\
    !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ + 0 >= 201112L && \\
    !defined(__STDC_NO_ATOMICS__)
#include <stdatomic.h>
#define SCN_FLAGS_ARE_ATOMIC 1
typedef atomic_uint scn_flag;
#else
typedef volatile uint32_t scn_flag;
#endif
#endif

"""
TAKEN = """\
    if (scn_swap(&s->busy, 1)) {
        return SCN_BUSY;
    }
"""
FREED = "    scn_set(&s->busy, 0);\n"
UNLOADED = """\
    if (!{loaded}) {{
        scn_set(&s->{flag}, 0);
        return SCN_NOT_LOADED;
    }}
"""
INFER_TAKEN = """\
    if (scn_swap(&s->running, 1)) {
        return SCN_BUSY;
    }
"""
INFER_FREED = "    scn_set(&s->running, 0);\n"
SINGLE_INFER = """\
    if (!s->ready) {
        scn_set(&s->busy, 0);
        return SCN_NOT_CONFIGURED;
    }
"""
DOUBLE_CHOOSE = """\
    next = scn_get(&s->ready) == 1 ? 2 : 1;
    if (scn_get(&s->used) == next) { /* an inference still uses the weights before the last ones */
"""
DOUBLE_MIX = f"""\
    if (scn_swap(&s->mixing, 1)) {{
        return SCN_BUSY;
    }}
{DOUBLE_CHOOSE}        scn_set(&s->mixing, 0);
        return SCN_BUSY;
    }}
"""
DOUBLE_MIXED = """\
    scn_set(&s->ready, next);
    scn_set(&s->mixing, 0);
"""
DOUBLE_RUN = """\
    if (scn_swap(&s->running, 1)) {
        return SCN_BUSY;
    }
"""
DOUBLE_INFER = """\
    do { /* a configuration may end between the two lines */
        now = scn_get(&s->ready);
        scn_set(&s->used, now);
    } while (scn_get(&s->ready) != now);
    if (!now) {
        scn_set(&s->running, 0);
        return SCN_NOT_CONFIGURED;
    }
"""
DOUBLE_INFERRED = """\
    scn_set(&s->used, 0);
    scn_set(&s->running, 0);
"""


def loaded(options: Options) -> str:
    """Whether there are weights in the state, as a C expression."""
    return "s->from.read" if options.weights_in == "storage" else "s->blob"


def unloaded(options: Options, flag: str) -> str:
    """What a call that holds a flag does first where weights are loaded."""
    return UNLOADED.format(loaded=loaded(options), flag=flag) if options.in_blob else ""


def flags_of(options: Options, parts: Parts) -> list[str]:
    """The fields of the state that keep calls apart."""
    if not parts.configurable:
        return ["scn_flag busy"]
    if options.double_buffer:
        return [f"scn_flag {name}" for name in ("ready", "mixing", "running", "used")]
    return ["uint32_t ready", "scn_flag busy"]


def snippets_of(options: Options, parts: Parts) -> list[str]:
    """The pieces of C that these flags need."""
    return ["flags", *(["flag_get"] if options.double_buffer and parts.configurable else [])]


def state_text(name: str, options: Options, parts: Parts, more: list[str]) -> str:
    """The type of the state, with theta in it and more fields behind."""
    fields = [field.text() for field in parts.state]
    text = ""
    if parts.theta:
        text = struct(f"{name}_theta", [field.text() for field in parts.theta])
        fields.insert(0, f"{name}_theta theta{f'[{parts.copies}]' if parts.copies > 1 else ''}")
    return text + struct(f"{name}_state", [*fields, *flags_of(options, parts), *more])


def struct(name: str, fields: list[str]) -> str:
    return f"typedef struct {{\n{''.join(f'    {field};' + chr(10) for field in fields)}}} {name};\n\n"


def parameter(name: str, options: Options, rest: str) -> str:
    """The parameters of a function that needs the state."""
    if options.state != "explicit":
        return rest or "void"
    return f"{name}_state *s, {rest}" if rest else f"{name}_state *s"
