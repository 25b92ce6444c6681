"""Which network a program holds, readable at run time: a hash of its weights, and the versions around it."""

from __future__ import annotations

import hashlib
from importlib.metadata import version

from scn.export.parts import Parts, Table

API_VERSION = 1  # of the functions and statuses: raised when a program that calls them must change
FORMAT_VERSION = 1  # of the tables: raised when the same weights are stored otherwise
DIGITS = 16
TYPE = """\
#ifndef SCN_IDENTITY
#define SCN_IDENTITY
typedef struct {
    unsigned api_version;    /* of the functions and statuses */
    unsigned format_version; /* of how weights are stored */
    const char *model_hash;  /* of the weights and tables, as they are stored */
    const char *made_by;     /* what wrote the code */
} scn_identity;
#endif
"""


def model_hash(parts: Parts) -> str:
    """Of all tables: the same network exported in the same way has the same one, on every machine."""
    found = hashlib.sha256()
    for part in parts.constants:
        if isinstance(part, Table):
            found.update(f"{part.kind} {part.name} {tuple(part.values.shape)}".encode())
            found.update(part.values.detach().double().contiguous().numpy().tobytes())
        else:
            found.update((part if isinstance(part, str) else part.text()).encode())
    return found.hexdigest()[:DIGITS]


def made_by() -> str:
    """What writes the code."""
    return f"scn {version('scn')}"


def defines(name: str, parts: Parts) -> str:
    """For the header: known when the program is compiled."""
    upper = name.upper()
    return (
        f"#define {upper}_API_VERSION {API_VERSION}\n#define {upper}_FORMAT_VERSION {FORMAT_VERSION}\n"
        f'#define {upper}_MODEL_HASH "{model_hash(parts)}"\n'
    )


def declared(name: str) -> str:
    """For the header: known when it runs."""
    return f"{TYPE}extern const scn_identity {name}_identity;\n"


def defined(name: str) -> str:
    """For the source."""
    upper = name.upper()
    listed = f'{upper}_API_VERSION, {upper}_FORMAT_VERSION, {upper}_MODEL_HASH, "{made_by()}"'
    return f"const scn_identity {name}_identity = {{{listed}}};\n"
