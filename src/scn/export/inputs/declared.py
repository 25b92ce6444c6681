"""How the functions of a sensor's input are declared."""

from __future__ import annotations

import textwrap

from scn.export.base import Options
from scn.export.entrance import Entrance
from scn.export.state import parameter


def prepare_takes(name: str, options: Options, entrance: Entrance) -> str:
    """The parameters of the function that makes x."""
    rest = f"{entrance.takes}, float *x"
    return parameter(name, options, rest) if entrance.uses_state else rest


def declared(name: str, options: Options, entrance: Entrance, outputs: str) -> str:
    """For the header."""
    about = f"{entrance.about} {name}_prepare makes x of them, {name}_{entrance.function} the {outputs}."
    lines = textwrap.fill(about, 108).replace("\n", "\n   ")
    infer = parameter(name, options, f"{entrance.takes}, float *{outputs}")
    return (
        f"/* {lines} */\n"
        f"scn_status {name}_prepare({prepare_takes(name, options, entrance)});\n"
        f"scn_status {name}_{entrance.function}({infer});\n"
    )
