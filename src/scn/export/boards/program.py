"""A program in C around a network, and the header of its port: the same for every system, by a table row.

The program runs the self-test, configures the network for a few settings, and says how long that takes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from scn.export import boards
from scn.export.base import Options
from scn.export.subject import Subject

SETTINGS = 4  # that the program configures for
PORT = "scn_port.h"


@dataclass(frozen=True)
class System:
    """What a program needs of a system. now: a uint32_t; since: microseconds from `start`, which was now.

    For cores without atomics: `include`, and calls that put interrupts off and back.
    """

    name: str
    includes: str
    now: str
    since: str
    entry: str
    print: str
    end: str
    without: str
    include: str
    enter: str
    leave: str


def main(subject: Subject, options: Options, system: System) -> str:
    """The text of main.c."""
    values = {**boards.values_of(subject), **_words(system)}
    configured = boards.is_configured(subject, options)
    return boards.fill(
        "main.c",
        {
            **values,
            "configure": boards.fill("main_configure.c", values) if configured else "",
            "calls": _calls(subject) if configured else "    answer();\n",
            "said": boards.fill_said("main.c", subject, values),
        },
    )


def port(system: System) -> str:
    """The text of the header that the network's C file is given."""
    return boards.fill("port.h", {"system": system.name, **_words(system)})


def _words(system: System) -> dict[str, str]:
    return {key: value for key, value in vars(system).items() if key != "name"}


def _calls(subject: Subject) -> str:
    rows = subject.transform.sample(SETTINGS, torch.Generator().manual_seed(0)).tolist()
    settings = ",\n".join(f"        {{{boards.floats(row)}}}" for row in rows)
    return (
        f"    static const float settings[{SETTINGS}][{subject.name.upper()}_PARAMS] = {{\n{settings}}};\n"
        f"    for (int i = 0; i < {SETTINGS}; i++) {{\n"
        "        configure(settings[i]);\n        answer();\n    }\n"
    )
