"""The guard in C: it looks at every reading of the setting before the network is configured for it.

What it decides it leaves as a wish, so that it may be called by an interrupt. A refusal holds at once:
`refused` counts them, `lifted` is the last one that a poll has ended, and inference answers only where both
are equal. A wish says which refusal it ends, so that an older wish does not end a later refusal.
"""

from __future__ import annotations

import textwrap

from scn.core.errors import ScnError
from scn.export.base import Options
from scn.export.pack import exact
from scn.export.parts import Parts
from scn.export.snippets import of_each
from scn.export.state import parameter, struct
from scn.export.subject import Subject
from scn.transforms.guard import ACTIONS, Policy, ReadingLimits
from scn.transforms.guard.policy import LONGEST, said_of

SNIPPETS = ("flag_get",)
NEVER = 2**32 - 1  # ms: longer than any time that is measured
TYPES = """\
#ifndef SCN_GUARD
#define SCN_GUARD
typedef enum {
    SCN_GUARD_OK = 0,  /* good: the next poll configures for it, if it has moved far enough */
    SCN_GUARD_WAITING, /* good by itself, but after an alarm more readings must agree with it */
    SCN_GUARD_RANGE,   /* not a number, or out of range */
    SCN_GUARD_RATE,    /* farther from the last good reading than the setting can have moved */
    SCN_GUARD_TIMEOUT, /* of a tick: there was no good reading for too long */
    SCN_GUARD_BUSY     /* another call of the guard is under way; nothing was changed */
} scn_guard_status;
typedef enum {
    SCN_KEEP = 0, /* the last good configuration stays */
    SCN_NEUTRAL,  /* the network is configured for the neutral setting */
    SCN_REFUSE    /* inference says SCN_NOT_CONFIGURED */
} scn_guard_policy;
#endif
"""
READING = """\
/* One reading (params), and when it came, by a clock in milliseconds that may wrap. From an interrupt or the
   main loop, in constant time. {name}_poll in the main loop then does what was decided; a refusal holds at
   once. With a guard, leave configuring to it: what is configured past it lifts no refusal. */
"""
TICK = """\
/* Only time has passed. Call it regularly, at least once in 12 days, from where readings come or anywhere. */
"""
IN_FORCE = "/* What is in force: the strictest action for what was wrong since the last good reading. */\n"
BAR = """\
    if (scn_get(&{guarded}refused) != scn_get(&{guarded}lifted)) {{
        return SCN_NOT_CONFIGURED;
    }}
"""
AGAIN = """\
    if (scn_swap(&guarded->exchanged, 0) && guarded->settled) {
        guarded->owed = 1; /* other weights were loaded, for which nothing is configured */
    }
"""
LIFTED = """\
        if (status == SCN_OK && wishes->lifts[mine - 1]) {{
            scn_set(&{guarded}lifted, wishes->lifts[mine - 1]);
        }}
"""


def check(subject: Subject, options: Options) -> None:
    """Refuse a guard where nothing is configured, or where C cannot say what a reading means."""
    if options.guard is None:
        return
    if not subject.is_scn or options.theta == "fixed":
        raise ScnError(
            "a guard is for a setting that changes, but this network is one configuration: leave out `guard`"
        )
    if subject.transform.encodings() is None:
        raise ScnError(
            f"a guard takes readings in the units of {type(subject.transform).__name__}, which does not say "
            "how C makes alpha of them: give it a method `encodings`, or leave out `guard`"
        )
    policy_of(subject, options)


def policy_of(subject: Subject, options: Options) -> Policy | None:
    if options.guard is None:
        return None
    return Policy.read(options.guard, subject.transform.parameters)


def type_text(name: str, options: Options, policy: Policy) -> str:
    """The type of what a guard remembers."""
    count = len(policy.limits)
    settings = [f"float {field}[{count}]" for field in ("good", "candidate", "configured")]
    numbers = ("good_at", "candidate_at", "count", "strictest")
    known = ("started", "known", "timed_out", "settled", "owed")
    flags = ("guarding", "in_force", "refused", "lifted", *(["exchanged"] if options.in_blob else []))
    words = [
        *(f"uint32_t {field}" for field in (*numbers, *known)),
        *(f"scn_flag {field}" for field in flags),
    ]
    return struct(f"{name}_guarded", [*settings, *words])


def state_bytes(options: Options, policy: Policy | None) -> int:
    return 0 if policy is None else 4 * (3 * len(policy.limits) + 13 + options.in_blob)


def declared(name: str, options: Options, subject: Subject, policy: Policy | None) -> list[str]:
    """For the header."""
    if policy is None:
        return []
    said = [f"The guard of {name}: {policy.text}", *said_of(policy, subject.transform.parameters)]
    said.append(
        f"An alarm but one of keep ends with {policy.recover} readings in a row that agree; so does a jump."
    )
    lines = [line for text in said for line in textwrap.wrap(text, 104)]
    reading = parameter(name, options, "const float *params, uint32_t now_ms")
    return [
        TYPES,
        f"/* {f'{chr(10)}   '.join(lines)} */\n",
        f"{READING.format(name=name)}scn_guard_status {name}_guard({reading});\n",
        f"{TICK}scn_guard_status {name}_guard_tick({parameter(name, options, 'uint32_t now_ms')});\n",
        f"{IN_FORCE}scn_guard_policy {name}_guard_policy({parameter(name, options, '')});\n",
    ]


def own_state(name: str, options: Options, policy: Policy | None) -> str:
    """For the source: what the guard remembers, where it is not in a state of the caller."""
    if policy is None or options.state == "explicit":
        return ""
    return f"{type_text(name, options, policy)}static {name}_guarded {name}_watched;\n"


def place(name: str, options: Options) -> str:
    return "s->guarded." if options.state == "explicit" else f"{name}_watched."


def bar(name: str, options: Options, parts: Parts) -> str:
    """Statements of inference: no answer while it is refused."""
    return "" if parts.guard is None else BAR.format(guarded=place(name, options))


def exchanged(name: str, options: Options, parts: Parts) -> str:
    """Statements after other weights came: what the guard has configured is configured no more."""
    return "" if parts.guard is None else f"    scn_set(&{place(name, options)}exchanged, 1);\n"


def in_requests(name: str, options: Options, parts: Parts) -> dict[str, str]:
    """For requests: a wish says which refusal it ends; one of the program's own ends none."""
    head = f"scn_status {name}_request({parameter(name, options, 'const float *alpha')})"
    if parts.guard is None:
        return {"@HEAD@": head, "@LIFTS@": "", "@LIFTED@": "", "@REQUEST@": ""}
    leave = parameter(name, options, "const float *alpha, uint32_t lifts")
    state = "s, " if options.state == "explicit" else ""
    return {
        "@HEAD@": f"static scn_status scn_leave({leave})",
        "@LIFTS@": "    wishes->lifts[place] = lifts;\n",
        "@LIFTED@": LIFTED.format(guarded=place(name, options)),
        "@REQUEST@": f"\n{head}\n{{\n    return scn_leave({state}alpha, 0);\n}}\n",
    }


def defined(name: str, options: Options, parts: Parts) -> str:
    """For the source."""
    policy = parts.guard
    if policy is None:
        return ""
    explicit = options.state == "explicit"
    text = of_each("guard")
    for what, words in {
        "@NAME@": name,
        "@STATE@": f"{name}_state *s, " if explicit else "",
        "@STATE ALONE@": f"{name}_state *s" if explicit else "void",
        "@S@": "s, " if explicit else "",
        "@GUARDED@": "&s->guarded" if explicit else f"&{name}_watched",
        "@PARAMS@": str(len(policy.limits)),
        "@LIMITS@": "".join(f"    {{{_row(limits)}}},\n" for limits in policy.limits),
        "@LONGEST@": str(LONGEST),
        "@TIMEOUT@": str(policy.timeout or NEVER),
        "@ON TIMEOUT@": _action(policy.on_timeout),
        "@RECOVER@": str(policy.recover),
        "@AGAIN@": AGAIN if options.in_blob else "",
    }.items():
        text = text.replace(what, words)
    return text


def _row(limits: ReadingLimits) -> str:
    numbers = ("low", "high", "period", "at_once", "per_ms", "step", "neutral")
    actions = [_action(place) for place in (limits.on_range, limits.on_rate)]
    return ", ".join([*(exact(getattr(limits, name)) for name in numbers), *actions])


def _action(place: int) -> str:
    return f"SCN_{ACTIONS[place].upper()}"
