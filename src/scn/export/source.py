"""NAME.c: the snippets and tables that a network needs, and the functions that a program calls."""

from __future__ import annotations

from dataclasses import dataclass

from scn.export import guard, identity, requests, selftest
from scn.export.base import Options
from scn.export.blob.code import BlobCode
from scn.export.blob.layout import BlobLayout
from scn.export.few import filled
from scn.export.inputs.declared import prepare_takes
from scn.export.operations import SNIPPETS
from scn.export.operations.affine.in_float import BASE_TYPES
from scn.export.parts import Parts, body
from scn.export.port import HOOKS, PORT
from scn.export.predictions import Meaning
from scn.export.selftest import Golden
from scn.export.snippets import HEAD, TAIL
from scn.export.state import (
    DOUBLE_INFER,
    DOUBLE_INFERRED,
    DOUBLE_MIX,
    DOUBLE_MIXED,
    DOUBLE_RUN,
    FLAG,
    FREED,
    SINGLE_INFER,
    TAKEN,
    parameter,
    snippets_of,
    state_text,
    unloaded,
)

CHECK_ALL = """\
    if (!scn_finite(beta, SCN_DIMS)) {
        return SCN_BAD_ALPHA;
    }
"""
KEEP_ALL = [
    "{",
    "    int i;",
    "    for (i = 0; i < SCN_DIMS; i++) {",
    "        s->beta[i] = beta[i];",
    "    }",
    "}",
]
CHECK_INPUT = """\
    if (!scn_finite(x, {size}) || (uintptr_t){outputs} % sizeof(float) != 0) {{
        return SCN_BAD_INPUT;
    }}
"""
REFUSED = """\
    if ({refuses}) {{
        return SCN_BAD_INPUT;
    }}
"""
ALIGNED = "(uintptr_t){} % sizeof(float) != 0"
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


def source(name: str, options: Options, parts: Parts, meaning: Meaning, found: Golden | BlobLayout) -> str:
    """The text of NAME.c; with the layout of a blob, neither weights nor golden vectors are in it."""
    if isinstance(found, Golden):
        functions = _functions(name, options, parts, meaning, found)
        return _assembled(name, options, parts, parts.constant_texts(), functions, "")
    loads = BlobCode(name, options, found, meaning)
    functions = [guard.own_state(name, options, parts.guard), *loads.before()]
    if parts.configurable:
        functions += [requests.defined(name, options, parts), guard.defined(name, options, parts)]
    declared = loads.needed([*parts.take, *parts.infer])
    functions += [_infer(name, options, parts, meaning, declared), *loads.behind()]
    return _assembled(name, options, parts, loads.tables(), functions, "#include <stddef.h>\n")


def _functions(name: str, options: Options, parts: Parts, meaning: Meaning, found: Golden) -> list[str]:
    functions = list(meaning.defined)
    if parts.configurable:
        functions += [_encode(name, parts), _pick(parts), _beta(name, parts)]
        functions += [_mix(name, options, parts), _mix_any(name, options, parts)]
        functions += [_configure(name, options, parts), guard.own_state(name, options, parts.guard)]
        functions += [requests.defined(name, options, parts), guard.defined(name, options, parts)]
    functions.append(_infer(name, options, parts, meaning))
    functions += parts.search.defined
    return [*functions, selftest.defined(name, options, parts, meaning, found), identity.defined(name)]


def _assembled(
    name: str, options: Options, parts: Parts, tables: list[str], functions: list[str], includes: str
) -> str:
    return "\n".join(
        [
            f"/* {name}: made by `scn export`. See {name}.h. */\n{PORT}",
            f'#include "{name}.h"\n',
            includes + HEAD,
            HOOKS,
            *parts.defines,
            f"#define SCN_BASE {BASE_TYPES[options.weights]}",
            "",
            "" if options.state == "explicit" else FLAG,
            *(_snippet(part, parts) for part in _in_order(_all_snippets(options, parts))),
            *tables,
            _own_state(name, options, parts),
            *(text for text in functions if text),
            TAIL,
        ]
    )


def _all_snippets(options: Options, parts: Parts) -> list[str]:
    asked = requests.SNIPPETS if parts.configurable else ()
    watched = guard.SNIPPETS if parts.guard and not options.double_buffer else ()
    return ["finite", *snippets_of(options, parts), *asked, *watched, *parts.snippets]


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
    return f"{state_text(name, options, parts, [])}SCN_STATE static {name}_state {name}_own;\n"


def _prologue(name: str, options: Options) -> str:
    return "" if options.state == "explicit" else f"    {name}_state *const s = &{name}_own;\n"


def _encode(name: str, parts: Parts) -> str:
    if parts.encode is None:
        return ""
    head = f"scn_status {name}_encode(const float *params, float *alpha)"
    return f"{head}\n{{\n{body(parts.encode)}\n    return SCN_OK;\n}}\n"


def _pick(parts: Parts) -> str:
    if not parts.pick:
        return ""
    head = "SCN_KERNEL static scn_status scn_pick(const float *alpha, scn_few *few)"
    return f"{head}\n{{\n{body(parts.pick)}\n    return SCN_OK;\n}}\n"


def _beta(name: str, parts: Parts) -> str:
    head = f"scn_status {name}_beta(const float *alpha, float *beta)"
    if parts.pick:
        return f"{head}\n{SPREAD}"
    return f"{head}\n{{\n{body(parts.beta)}\n    return SCN_OK;\n}}\n"


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
    declared, begin, end = "", TAKEN, f"    s->ready = 1;\n{FREED}"
    theta = f"    {name}_theta *const theta = &s->theta;\n"
    if options.double_buffer:
        declared, begin, end = f"    {name}_theta *theta;\n    uint32_t next;\n", DOUBLE_MIX, DOUBLE_MIXED
        begin += "    theta = &s->theta[next - 1];\n"
    if options.double_buffer or not parts.theta:
        theta = ""
    return (
        f"{head}\n{{\n{_prologue(name, options)}{declared}{theta}{check}{begin}"
        f"    SCN_BEGIN(mix);\n{body(statements)}\n    SCN_END(mix);\n{end}    return SCN_OK;\n}}\n"
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


@dataclass(frozen=True)
class _Way:
    """One way into inference: its parameters, what is refused, and the statements that make of them what the
    first layer reads, at `x`."""

    function: str
    takes: str
    check: str
    take: list[str]
    x: str = "x"


def _infer(
    name: str, options: Options, parts: Parts, meaning: Meaning, declared: list[str] | None = None
) -> str:
    """Inference, from x and from a sensor's samples where there are such: both by the same layers."""
    outputs, entrance = meaning.outputs, parts.entrance
    check = CHECK_INPUT.format(size=f"{name.upper()}_INPUT_SIZE", outputs=outputs)
    of_x = _Way("infer", f"const {name}_input *x", check, parts.take)
    if entrance is None:
        return _answer(name, options, parts, meaning, of_x, parts.infer, declared)
    layers, call = _layers(name, parts, meaning)
    take = ["SCN_BEGIN(prepare);", entrance.to_first, "SCN_END(prepare);"]
    refused = REFUSED.format(refuses=_either(entrance.refuses, ALIGNED.format(outputs)))
    of_samples = _Way(entrance.function, entrance.takes, refused, take, parts.first.place)
    ways = [_answer(name, options, parts, meaning, way, [call.format(x=way.x)]) for way in (of_x, of_samples)]
    tables = "".join(table.text() for table in entrance.tables)
    return "\n".join([layers, tables, entrance.defined, *ways, _prepare(name, options, parts)])


def _layers(name: str, parts: Parts, meaning: Meaning) -> tuple[str, str]:
    """The function that all ways share, and the call of it from a place `{x}`."""
    text = "\n".join(parts.infer)
    known = {
        "s->": (f"{name}_state *s", "s"),
        "theta->": (f"const {name}_theta *theta", "theta"),
        "&few": ("const scn_few *few", "&few"),
    }
    used = [both for word, both in known.items() if word in text]
    if parts.first.kind == "float":
        used.append((f"const {name}_input *x", "{x}"))
    used.append((f"float *{meaning.outputs}", meaning.outputs))
    takes, given = (", ".join(words) for words in zip(*used, strict=True))
    work = body(parts.infer).replace("&few", "few")
    return f"static void scn_layers({takes})\n{{\n{work}\n}}\n", f"scn_layers({given});"


def _prepare(name: str, options: Options, parts: Parts) -> str:
    """x of a sensor's samples."""
    entrance = parts.entrance
    assert entrance is not None
    refused = REFUSED.format(refuses=_either(entrance.refuses, ALIGNED.format("x")))
    work = body(["SCN_BEGIN(prepare);", entrance.to_x, "SCN_END(prepare);"])
    head = f"scn_status {name}_prepare({prepare_takes(name, options, entrance)})"
    if not entrance.uses_state:
        return f"{head}\n{{\n{refused}{work}\n    return SCN_OK;\n}}\n"
    taken, freed = TAKEN, FREED
    if options.double_buffer and parts.configurable:
        taken, freed = (text.replace("busy", "running") for text in (TAKEN, FREED))
    return f"{head}\n{{\n{_prologue(name, options)}{refused}{taken}{work}\n{freed}    return SCN_OK;\n}}\n"


def _either(*conditions: str) -> str:
    return " || ".join(condition for condition in conditions if condition)


def _answer(
    name: str,
    options: Options,
    parts: Parts,
    meaning: Meaning,
    way: _Way,
    layers: list[str],
    declared: list[str] | None = None,
) -> str:
    outputs, upper = meaning.outputs, name.upper()
    rest = f"{way.takes}, float *{outputs}"
    head = f"scn_status {name}_{way.function}({parameter(name, options, rest)})"
    uses_theta = any("theta->" in line for line in parts.infer)
    collected = COLLECTED if any("&few" in line for line in parts.infer) else []
    check = way.check + guard.bar(name, options, parts)
    theta, begin, end = "", TAKEN + unloaded(options, "busy"), FREED
    if options.double_buffer and parts.configurable:
        theta, end = "    uint32_t now;\n", DOUBLE_INFERRED
        begin = DOUBLE_RUN + unloaded(options, "running") + DOUBLE_INFER
        if uses_theta:
            theta += f"    const {name}_theta *theta;\n"
            begin += "    theta = &s->theta[now - 1];\n"
    elif parts.configurable:
        theta = f"    const {name}_theta *const theta = &s->theta;\n" if uses_theta else ""
        begin += SINGLE_INFER
    steps = [*collected, *way.take, *layers]
    work = body([*(declared or []), "SCN_BEGIN(infer);", *steps, "SCN_END(infer);"])
    good = "SCN_OK"
    if options.inference == "float":  # values that are finite, but so large that sums are not
        good = f"scn_finite({outputs}, {upper}_{meaning.size}) ? SCN_OK : SCN_BAD_INPUT"
    done = f"{end}    return {good};\n"
    return f"{head}\n{{\n{_prologue(name, options)}{theta}{check}{begin}{work}\n{done}}}\n"
