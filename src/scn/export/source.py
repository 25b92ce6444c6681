"""NAME.c: the snippets and tables that a network needs, and the functions that a program calls."""

from __future__ import annotations

import textwrap

from scn.export.base import Options
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


def source(name: str, options: Options, parts: Parts, meaning: Meaning) -> str:
    functions = list(meaning.defined)
    if parts.configurable:
        functions += [_encode(name, parts), _beta(name, parts), _mix(name, options, parts)]
        functions.append(_configure(name, options))
    functions.append(_infer(name, options, parts, meaning.outputs))
    return "\n".join(
        [
            f'/* {name}: made by `scn export`. See {name}.h. */\n#include "{name}.h"\n',
            HEAD,
            *parts.defines,
            f"#define SCN_BASE {BASE_TYPES[options.weights]}",
            "",
            *(_snippet(part) for part in _in_order(parts.snippets)),
            *parts.constant_texts(),
            _own_state(name, options, parts),
            *(text for text in functions if text),
        ]
    )


def _in_order(names: list[str]) -> list[str]:
    """Names so that each piece comes behind those that it uses."""
    places = {name: place for place, name in enumerate(SNIPPETS)}
    return sorted(names, key=lambda name: (places[name.split(":")[0]], name))


def _snippet(name: str) -> str:
    """A piece by its name; what follows a colon fills in its places @1@, @2@, ..., as types of numbers do."""
    piece, *fill = name.split(":")
    text = SNIPPETS[piece]
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


def _beta(name: str, parts: Parts) -> str:
    head = f"scn_status {name}_beta(const float *alpha, float *beta)"
    return f"{head}\n{{\n{_body(parts.beta)}\n    return SCN_OK;\n}}\n"


def _mix(name: str, options: Options, parts: Parts) -> str:
    head = f"scn_status {name}_mix({parameter(name, options, 'const float *beta')})"
    check = """\
    int i;
    for (i = 0; i < SCN_DIMS; i++) {
        if (!(beta[i] >= -FLT_MAX && beta[i] <= FLT_MAX)) {
            return SCN_BAD_ALPHA;
        }
    }
"""
    statements = list(parts.mix)
    if options.theta == "row":
        statements += ["for (i = 0; i < SCN_DIMS; i++) {", "    s->beta[i] = beta[i];", "}"]
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


def _configure(name: str, options: Options) -> str:
    head = f"scn_status {name}_configure({parameter(name, options, 'const float *alpha')})"
    state = "s, " if options.state == "explicit" else ""
    return f"""\
{head}
{{
    float beta[SCN_DIMS];
    const scn_status status = {name}_beta(alpha, beta);
    return status == SCN_OK ? {name}_mix({state}beta) : status;
}}
"""


def _infer(name: str, options: Options, parts: Parts, outputs: str) -> str:
    rest = f"const {name}_input *x, float *{outputs}"
    head = f"scn_status {name}_infer({parameter(name, options, rest)})"
    uses_theta = any("theta->" in line for line in parts.infer)
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
    return f"{head}\n{{\n{_prologue(name, options)}{theta}{begin}{_body(parts.infer)}\n{end}}}\n"
