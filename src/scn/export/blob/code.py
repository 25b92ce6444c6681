"""The C of a network whose weights are loaded: it checks a blob once, and then reads it where it lies.

Tables become macros, places behind a pointer of the state, and what names them is built where it is used. So
all calls that read weights need the state, and each of them holds it: while one is at work, no blob is
exchanged.
"""

from __future__ import annotations

import re

import numpy as np

from scn.export import guard
from scn.export.base import Options
from scn.export.blob.format import Section
from scn.export.blob.layout import BlobLayout
from scn.export.few import filled
from scn.export.parts import BYTES, Field, Member, Struct, Table, body
from scn.export.predictions import Meaning
from scn.export.selftest import TESTS
from scn.export.snippets import of_each
from scn.export.state import DOUBLE_CHOOSE, loaded, parameter

HALVES = "(word & 0x7c00u) != 0x7c00u && (word & 0x7c000000u) != 0x7c000000u"
LOWEST = "(((word ^ 0x80808080u) - 0x01010101u) & ~(word ^ 0x80808080u) & 0x80808080u) == 0"  # a byte is -128
POSSIBLE = ("(word & 0x7f800000u) != 0x7f800000u", "scn_in_range(at - {first}u, word)", HALVES, LOWEST)
MAPPED = "#define SCN_AT(type, word) ((const type *)(const void *)(s->blob + (word)))"
KEPT = "#define SCN_AT(type, word) (s->kept.of_##type + (word))"
STREAMED = re.compile(r"scn_mix_rows\(&(\w+), beta, (.*)\);")
VALUES = """\
scn_status {name}_values({takes})
{{
{own}    int i;
    if (!scn_hold(s)) {{
        return SCN_BUSY;
    }}
    if (!{loaded}) {{
        scn_release(s);
        return SCN_NOT_LOADED;
    }}
    for (i = 0; i < {size}; i++) {{
        values[i] = outputs[i] * scn_target_deviation[i] + scn_target_mean[i];
    }}
    scn_release(s);
    return SCN_OK;
}}
"""
SPREAD = """\
    scn_few few;
    const scn_status status = scn_pick(s, alpha, &few);
    if (status == SCN_OK) {
        scn_spread(&few, beta);
    }
    return status;
"""
RUNNING = """\
    if (scn_swap(&s->running, 1)) {
        scn_release(s);
        return SCN_BUSY;
    }
"""


class BlobCode:
    """The texts for one network."""

    def __init__(self, name: str, options: Options, layout: BlobLayout, meaning: Meaning) -> None:
        self.name, self.options, self.layout, self.meaning = name, options, layout, meaning
        self.parts = layout.parts
        self.streams = options.weights_in == "storage"
        self.explicit = options.state == "explicit"
        self.doubled = options.double_buffer and self.parts.configurable
        self.loaded = loaded(options)
        self.own = "" if self.explicit else f"    {name}_state *const s = &{name}_own;\n"
        self.state = "s, " if self.explicit else ""
        self.records = {part.name: part for part in self.parts.constants if isinstance(part, Struct)}

    def tables(self) -> list[str]:
        """In place of constants: where each table lies; and what says where an operation looks."""
        found = [KEPT if self.streams else MAPPED]
        for table, place in self.layout.places():
            if not self.streams or place < 4 * self.layout.small:
                found.append(f"#define {table.name} SCN_AT({table.kind}, {place // 4})")
        if self.streams:
            found.append(f"#define SCN_BASES_AT {self.layout.sections[3].offset}u")
            found.append(f"#define SCN_KEPT {self.layout.small}u")
            found.append(f"#define SCN_PIECE_OF_BASE {piece_of_base(self.layout)}")
        rest = [part for part in self.parts.constants if isinstance(part, str)]
        return ["\n".join(found) + "\n", *([self._streaming()] if self._rows else []), *rest]

    @property
    def _rows(self) -> bool:
        return self.streams and any(STREAMED.match(line) for line in self.parts.mix)

    def _streaming(self) -> str:
        few = self.parts.few
        text = filled(of_each("rows_stream"), few, self.parts.in_place)
        return filled_in(
            text,
            {
                "order": "uint16_t order[SCN_DIMS];" if few else "",
                "note": "order[i] = (uint16_t)i;" if few else "",
                "read": "beta->count, order" if few else "SCN_DIMS",
            },
        )

    def before(self) -> list[str]:
        """The functions before `infer`."""
        made = [self._from("blob_flags"), self._checks()]
        made.append(self._from("blob_storage" if self.streams else "blob_mapped"))
        made += self.meaning.defined
        if self.meaning.tables:
            made.append(VALUES.format(**self._values))
        if self.parts.configurable:
            made += [*self._maps(), self._mix_held(), self._beta(), self._mix(), self._configure()]
        return made

    def behind(self) -> list[str]:
        """The functions behind it."""
        return [self._from("blob_selftest"), self._from("blob_identity")]

    def needed(self, statements: list[str]) -> list[str]:
        """What must be declared before statements that name it."""
        text = "\n".join(statements)
        return [
            self._record(record).local
            for record in self.records.values()
            if re.search(rf"\b{record.name}\b", text)
        ]

    def _record(self, record: Struct) -> Struct:
        if not self.streams or record.kind != "scn_rows":
            return record
        return Struct(record.kind, record.name, ["0", *record.values[1:]])

    @property
    def _values(self) -> dict[str, str]:
        takes = parameter(self.name, self.options, "const float *outputs, float *values")
        size = f"{self.name.upper()}_{self.meaning.size}"
        return {"name": self.name, "takes": takes, "own": self.own, "loaded": self.loaded, "size": size}

    def _from(self, template: str) -> str:
        return filled_in(of_each(template), self._words())

    def _words(self) -> dict[str, str]:
        name, upper, outputs = self.name, self.name.upper(), self.meaning.outputs
        configured, alphas = self.parts.configurable, self.parts.alphas
        ready = "    scn_set(&s->ready, 0);\n" if self.doubled else "    s->ready = 0;\n"
        copied = (
            f"for (i = 0; i < {alphas}; i++) {{\n    alpha[i] = scn_test_alphas[test * {alphas} + i];\n}}"
        )
        return {
            "NAME": name,
            "UPPER": upper,
            "STATE": f"{name}_state *s, " if self.explicit else "",
            "STATE ALONE": f"{name}_state *s" if self.explicit else "void",
            "OWN": self.own,
            "FLAG": "mixing" if self.doubled else "busy",
            "HOLD ALL": RUNNING if self.doubled else "",
            "FREE ALL": "    scn_set(&s->running, 0);\n" if self.doubled else "",
            "UNCONFIGURE": ready + guard.exchanged(name, self.options, self.parts) if configured else "",
            "LOADED": self.loaded,
            "HEAD": parameter(name, self.options, f"{name}_input *x, float *{outputs}"),
            "INPUTS": f"{upper}_INPUT_SIZE",
            "OUTPUTS": f"{upper}_{self.meaning.size}",
            "outputs": outputs,
            "TESTS": str(TESTS),
            "ALPHAS": body(copied.splitlines() if configured else ["(void)alpha;"], 2),
            "ALPHA SIZE": str(max(1, alphas)),
            "CONFIGURE": f"status = status == SCN_OK ? {name}_configure({self.state}alpha) : status;"
            if configured
            else "",
            "INFER": f"{name}_infer({self.state}x, {outputs})",
        }

    def _checks(self) -> str:
        layout = self.layout
        head = [f"0x{word:08x}u" for word in np.frombuffer(layout.expected, "<u4").tolist()]
        lines = [", ".join(head[i : i + 8]) for i in range(0, len(head), 8)]
        words = {
            "HEAD WORDS": str(len(head)),
            "HEAD": ",\n    ".join(lines),
            "IN RANGE": self._in_range() if layout.limits() else "",
            "POSSIBLE": body(
                [line for section in layout.sections if section.count for line in _possible(section)]
            ),
        }
        return filled_in(of_each("blob_check"), words)

    def _in_range(self) -> str:
        rows = (", ".join(map(_whole, row)) for row in self.layout.limits())
        ranges = ",\n    ".join(f"{{{row}}}" for row in rows)
        return filled_in(of_each("blob_ranges"), {"RANGES": ranges}) + "\n"

    def _maps(self) -> list[str]:
        """From params to alpha, and from alpha to the mixing coefficients by whoever holds the weights."""
        parts, name = self.parts, self.name
        made = []
        if parts.encode is not None:
            head = f"scn_status {name}_encode(const float *params, float *alpha)"
            made.append(f"{head}\n{{\n{body(parts.encode)}\n    return SCN_OK;\n}}\n")
        if parts.pick:
            takes = f"const {name}_state *s, const float *alpha, scn_few *few"
            head = f"SCN_KERNEL static scn_status scn_pick({takes})"
            made.append(f"{head}\n{{\n{body(['(void)s;', *parts.pick])}\n    return SCN_OK;\n}}\n")
        head = f"static scn_status scn_beta_held(const {name}_state *s, const float *alpha, float *beta)"
        statements = SPREAD if parts.pick else f"{body([*parts.beta, '(void)s;'])}\n    return SCN_OK;\n"
        made.append(f"{head}\n{{\n{statements}}}\n")
        return made

    def _mix_held(self) -> str:
        """What mixes weights for whoever holds them."""
        parts, name = self.parts, self.name
        statements = [self._streamed(line) for line in parts.mix] if self.streams else list(parts.mix)
        if self.options.theta == "row":
            statements += ["scn_spread(beta, s->beta);"] if parts.few else KEEP
        kind = "scn_few" if parts.few else "float"
        head = f"static scn_status scn_mix_held({name}_state *s, const {kind} *beta)"
        start, theta, end = "", f"    {name}_theta *const theta = &s->theta;\n", "    s->ready = 1;\n"
        if self.doubled:
            start = f"    {name}_theta *theta;\n    uint32_t next;\n{DOUBLE_CHOOSE}"
            start += "        return SCN_BUSY;\n    }\n"
            theta, end = "    theta = &s->theta[next - 1];\n", "    scn_set(&s->ready, next);\n"
        elif not parts.theta:
            theta = ""
        declared = body(self.needed(statements) + (["int done = 1;"] if self.streams else []))
        failed = ""
        if self.streams:
            lost = "" if self.doubled else "        s->ready = 0;\n"
            failed = f"    if (!done) {{\n{lost}        return SCN_BAD_BLOB;\n    }}\n"
        return (
            f"{head}\n{{\n{start}{theta}{declared}\n    SCN_BEGIN(mix);\n{body(statements)}\n"
            f"    SCN_END(mix);\n{failed}{end}    return SCN_OK;\n}}\n"
        )

    def _streamed(self, statement: str) -> str:
        """The same by pieces that are read."""
        found = STREAMED.match(statement)
        if found is None:
            return statement
        at = self.records[found[1]].values[0].split("+")[1].strip()
        inside = "" if self.options.weights == "float32" else f".{STRIP_MEMBER}"
        rows = f"&{found[1]}, {at}, beta, {found[2]}"
        return f"done = done && scn_stream_rows(&s->from, s->strip{inside}, {rows});"

    def _held(self, head: str, declared: list[str], steps: list[str]) -> str:
        """A function that holds the weights while it goes through its steps, as long as all goes well."""
        first, *rest = steps
        statements = [f"status = {self.loaded} ? {first} : SCN_NOT_LOADED;"]
        statements += [f"status = status == SCN_OK ? {step} : status;" for step in rest]
        listed = body([*declared, "scn_status status;", "if (!scn_hold(s)) {", "    return SCN_BUSY;", "}"])
        end = "    scn_release(s);\n    return status;\n"
        return f"{head}\n{{\n{self.own}{listed}\n{body(statements)}\n{end}}}\n"

    def _beta(self) -> str:
        takes = parameter(self.name, self.options, "const float *alpha, float *beta")
        return self._held(f"scn_status {self.name}_beta({takes})", [], ["scn_beta_held(s, alpha, beta)"])

    def _mix(self) -> str:
        takes = parameter(self.name, self.options, "const float *beta")
        head, few = f"scn_status {self.name}_mix({takes})", self.parts.few
        test = "scn_collect(beta, &few)" if few else "scn_finite(beta, SCN_DIMS)"
        mixed = f"scn_mix_held(s, {'&few' if few else 'beta'})"
        return self._held(
            head, ["scn_few few;"] if few else [], [f"({test} ? SCN_OK : SCN_BAD_ALPHA)", mixed]
        )

    def _configure(self) -> str:
        takes = parameter(self.name, self.options, "const float *alpha")
        head = f"scn_status {self.name}_configure({takes})"
        if self.parts.few:
            return self._held(head, ["scn_few few;"], ["scn_pick(s, alpha, &few)", "scn_mix_held(s, &few)"])
        steps = ["scn_beta_held(s, alpha, beta)", "scn_mix_held(s, beta)"]
        return self._held(head, ["float beta[SCN_DIMS];"], steps)


KEEP = [
    "{",
    "    int i;",
    "    for (i = 0; i < SCN_DIMS; i++) {",
    "        s->beta[i] = beta[i];",
    "    }",
    "}",
]
STRIP_MEMBER = "halves"
MOST_PIECE, ROOM = 64, 4096  # weights of a base model that are read at once; bytes for those of all


def piece_of_base(layout: BlobLayout) -> int:
    """Weights of each base model that are read at once."""
    kind, dims = weights_of(layout)
    return max(8, min(MOST_PIECE, ROOM // (dims * BYTES[kind]) // 8 * 8))


def members(layout: BlobLayout, options: Options) -> list[Field | Member]:
    """What the state holds beside what a network changes: where the weights are."""
    if options.weights_in != "storage":
        return [Member("const uint32_t *blob", 4, "where the weights are")]
    names = ("float", "int32_t", "uint32_t")
    kept = "".join(f"        {kind} of_{kind}[{layout.small}];\n" for kind in names)
    kind, dims = weights_of(layout)
    return [
        Member("scn_source from", 8, "where the weights are"),
        Member(f"union {{\n{kept}    }} kept", 4 * layout.small, "weights in memory"),
        Field(kind, "strip", dims * piece_of_base(layout), "strips", words=kind != "float"),
    ]


def weights_of(layout: BlobLayout) -> tuple[str, int]:
    """The type of a weight of base models, and how many these are."""
    found = [part for part in layout.parts.constants if isinstance(part, Table) and part.label == "bases"]
    return found[0].kind, layout.dims


def filled_in(text: str, words: dict[str, str]) -> str:
    for place, word in words.items():
        text = text.replace(f"@{place}@", word)
    return text


def _possible(section: Section) -> list[str]:
    """What words of a section may be."""
    first, end = section.words
    test = POSSIBLE[section.kind].format(first=first)
    return [f"if (at >= {first}u && at < {end}u) {{", f"    return {test};", "}"]


def _whole(value: int) -> str:
    return "-2147483647 - 1" if value == -(2**31) else str(value)
