"""The functions of a search as a program calls them, and how they take the state."""

from __future__ import annotations

import textwrap
from importlib.resources import files

from scn.export.base import Options
from scn.export.parts import Parts
from scn.export.state import FREED, INFER_FREED, INFER_TAKEN, TAKEN, parameter
from scn.export.subject import Subject

BEGIN = "/* Forget what was added: the inputs that follow share another unknown setting. */\n"
ADD = "/* One more input under the unknown setting. SCN_BAD_INPUT: it was left out, nothing was changed. */\n"
END = """\
/* The setting that explains what was added best, and its alpha; a null pointer is left out. SCN_BAD_INPUT:
   nothing was added. What was added stays, and more may follow. The configuration is not changed. */
"""


def words(subject: Subject, options: Options, parts: Parts, size: str) -> dict[str, str]:
    """What templates say differently for each network."""
    name, explicit = subject.name, options.state == "explicit"
    return {
        "@NAME@": name,
        "@UPPER@": name.upper(),
        "@SIZE@": size,
        "@STATE@": f"{name}_state *s, " if explicit else "",
        "@STATE ALONE@": f"{name}_state *s" if explicit else "void",
        "@OWN@": "" if explicit else f"    {name}_state *const s = &{name}_own;\n",
        "@TAKEN@": INFER_TAKEN if options.double_buffer else TAKEN,
        "@FREED@": INFER_FREED if options.double_buffer else FREED,
    }


def template(name: str, said: dict[str, str]) -> str:
    """A text that is written for each network anew."""
    text = (files("scn.export.search") / "templates" / f"{name}.c").read_text()
    for place, value in said.items():
        text = text.replace(place, value)
    return text


def indented(statements: list[str], depth: int) -> str:
    return textwrap.indent("\n".join(statements), "    " * depth)


def add_calls(subject: Subject, options: Options, parts: Parts, said: dict[str, str]) -> None:
    """Begin, add and end: `scn_heard` takes an input, `scn_found` gives the answer, `@SUMS@` are kept."""
    name, found = subject.name, parts.search
    takes = {
        "begin": (BEGIN, parameter(name, options, "")),
        "add": (ADD, parameter(name, options, f"const {name}_input *x")),
        "end": (END, parameter(name, options, "float *params, float *alpha")),
    }
    for call, (about, parameters) in takes.items():
        found.names.append(f"{name}_search_{call}")
        found.declared.append(f"{about}scn_status {name}_search_{call}({parameters});\n")
    found.defined.append(template("calls", said))
