"""NAME.c: the snippets and tables that a network needs, and the functions that a program calls."""

from __future__ import annotations

import textwrap

from scn.export.base import Options
from scn.export.few import filled
from scn.export.operations import SNIPPETS
from scn.export.operations.affine.in_float import BASE_TYPES
from scn.export.parts import Parts
from scn.export.predictions import Meaning
from scn.export.snippets import HEAD
from scn.export.state import (
    DOUBLE_BEGIN,
    DOUBLE_END,
    DOUBLE_INFER,
    DOUBLE_NEXT,
    SIMPLE_INFER,
    SINGLE_BEGIN,
    SINGLE_END,
    SINGLE_INFER,
    parameter,
    state_text,
)

CHECK_ALL = """\
    int i;
    for (i = 0; i < SCN_DIMS; i++) {
        if (!(beta[i] >= -FLT_MAX && beta[i] <= FLT_MAX)) {
            return SCN_BAD_ALPHA;
        }
    }
"""
KEEP_ALL = ["for (i = 0; i < SCN_DIMS; i++) {", "    s->beta[i] = beta[i];", "}"]
COLLECTED = ["scn_few few;", "(void)scn_collect(s->beta, &few);"]
SPREAD = """\
{
    scn_few few;
    const scn_status status = scn_pick(alpha, &few);
    if (status == SCN_OK) {
        scn_spread(&few, beta);
    }
    return status;
}
"""


def source(name: str, options: Options, parts: Parts, meaning: Meaning) -> str:
    functions = list(meaning.defined)
    if parts.configurable:
        functions += [_encode(name, parts), _pick(parts), _beta(name, parts)]
        functions += [_mix(name, options, parts), _mix_any(name, options, parts)]
        functions.append(_configure(name, options, parts))
    functions.append(_infer(name, options, parts, meaning.outputs))
    return "\n".join(
        [
            f'/* {name}: made by `scn export`. See {name}.h. */\n#include "{name}.h"\n',
            HEAD,
            *parts.defines,
            f"#define SCN_BASE {BASE_TYPES[options.weights]}",
            "",
            *(_snippet(part, parts) for part in _in_order(parts.snippets)),
            *parts.constant_texts(),
            _own_state(name, options, parts),
            *(text for text in functions if text),
        ]
    )


def _in_order(names: list[str]) -> list[str]:
    """Names so that each piece comes behind those that it uses."""
    places = {name: place for place, name in enumerate(SNIPPETS)}
    return sorted(names, key=lambda name: (places[name.split(":")[0]], name))


def _snippet(name: str, parts: Parts) -> str:
    """A piece by its name; what follows a colon fills in its places @1@, @2@, ..., as types of numbers do."""
    piece, *fill = name.split(":")
    text = filled(SNIPPETS[piece], parts.few, parts.in_place)
    for i, value in enumerate(fill, start=1):
        text = text.replace(f"@{i}@", value)
    return text


def _own_state(name: str, options: Options, parts: Parts) -> str:
    if options.state == "explicit":
        return ""
    return f"{state_text(name, parts)}static {name}_state {name}_own;\n"


def _prologue(name: str, options: Options) -> str:
    return "" if options.state == "explicit" else f"    {name}_state *const s = &{name}_own;\n"


def _body(statements: list[str], depth: int = 1) -> str:
    return textwrap.indent("\n".join(statements), "    " * depth)


def _encode(name: str, parts: Parts) -> str:
    if parts.encode is None:
        return ""
    head = f"scn_status {name}_encode(const float *params, float *alpha)"
    return f"{head}\n{{\n{_body(parts.encode)}\n    return SCN_OK;\n}}\n"


def _pick(parts: Parts) -> str:
    if not parts.pick:
        return ""
    head = "SCN_KERNEL static scn_status scn_pick(const float *alpha, scn_few *few)"
    return f"{head}\n{{\n{_body(parts.pick)}\n    return SCN_OK;\n}}\n"


def _beta(name: str, parts: Parts) -> str:
    head = f"scn_status {name}_beta(const float *alpha, float *beta)"
    if parts.pick:
        return f"{head}\n{SPREAD}"
    return f"{head}\n{{\n{_body(parts.beta)}\n    return SCN_OK;\n}}\n"


def _mix(name: str, options: Options, parts: Parts) -> str:
    """What mixes weights: all of them, by beta from anybody, or those few that are listed."""
    statements = list(parts.mix)
    if parts.few:
        head = f"static scn_status scn_mix_few({parameter(name, options, 'const scn_few *beta')})"
        keep, check = ["scn_spread(beta, s->beta);"], ""
    else:
        head = f"scn_status {name}_mix({parameter(name, options, 'const float *beta')})"
        keep, check = KEEP_ALL, CHECK_ALL
    if options.theta == "row":
        statements += keep
    if options.double_buffer:
        begin, end = DOUBLE_BEGIN, DOUBLE_END
        theta = f"    {name}_theta *const theta = &s->theta[next - 1];\n"
    else:
        begin, end = SINGLE_BEGIN, SINGLE_END
        theta = f"    {name}_theta *const theta = &s->theta;\n"
    if not parts.theta:
        theta = ""
    declared = "    const uint8_t before = s->ready;\n" if not options.double_buffer else DOUBLE_NEXT
    return (
        f"{head}\n{{\n{_prologue(name, options)}{declared}{theta}{check}{begin}{_body(statements)}\n{end}"
        "    return SCN_OK;\n}\n"
    )


def _mix_any(name: str, options: Options, parts: Parts) -> str:
    """Where few base models are mixed: by any coefficients, of which those that are 0 cost nothing."""
    if not parts.few:
        return ""
    state = "s, " if options.state == "explicit" else ""
    return f"""\
scn_status {name}_mix({parameter(name, options, "const float *beta")})
{{
    scn_few few;
    return scn_collect(beta, &few) ? scn_mix_few({state}&few) : SCN_BAD_ALPHA;
}}
"""


def _configure(name: str, options: Options, parts: Parts) -> str:
    head = f"scn_status {name}_configure({parameter(name, options, 'const float *alpha')})"
    state = "s, " if options.state == "explicit" else ""
    if parts.few:
        held, pick, mix = "scn_few few;", "scn_pick(alpha, &few)", f"scn_mix_few({state}&few)"
    else:
        held, pick, mix = "float beta[SCN_DIMS];", f"{name}_beta(alpha, beta)", f"{name}_mix({state}beta)"
    return f"""\
{head}
{{
    {held}
    const scn_status status = {pick};
    return status == SCN_OK ? {mix} : status;
}}
"""


def _infer(name: str, options: Options, parts: Parts, outputs: str) -> str:
    rest = f"const {name}_input *x, float *{outputs}"
    head = f"scn_status {name}_infer({parameter(name, options, rest)})"
    uses_theta = any("theta->" in line for line in parts.infer)
    collected = COLLECTED if any("&few" in line for line in parts.infer) else []
    theta, begin = "", SIMPLE_INFER
    if options.double_buffer and parts.configurable:
        theta, begin = (
            "    uint8_t now;\n" + (f"    const {name}_theta *theta;\n" if uses_theta else ""),
            DOUBLE_INFER,
        )
        begin += "    theta = &s->theta[now - 1];\n" if uses_theta else ""
    elif parts.configurable:
        theta = f"    const {name}_theta *const theta = &s->theta;\n" if uses_theta else ""
        begin = SINGLE_INFER
    end = "    SCN_BARRIER();\n    s->running = 0;\n    return SCN_OK;\n"
    body = _body([*collected, *parts.infer])
    return f"{head}\n{{\n{_prologue(name, options)}{theta}{begin}{body}\n{end}}}\n"
