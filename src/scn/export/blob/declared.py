"""What the header of a network says about its blob."""

from __future__ import annotations

from typing import Any

from scn.export.base import Options
from scn.export.identity import API_VERSION, FORMAT_VERSION, TYPE
from scn.export.state import parameter

READ = """\
#ifndef SCN_READ
#define SCN_READ
/* A function of the program: `count` bytes, from byte `from` of the blob on, to `to`; returns 0 if all
   of them are there. Numbers of bytes are multiples of 4 while a blob is loaded, and any while the
   network is mixed. */
typedef int (*scn_read)(void *context, uint32_t from, void *to, uint32_t count);
typedef struct {
    scn_read read;
    void *context;
} scn_source;
#endif

"""
LOAD = """\
/* Use the weights in a blob, {name}.blob or a later one of the same structure, in `size` bytes of
   memory; more may follow behind it. It is checked, and used where it is: it must stay there,
   unchanged, and start at a multiple of 4. Afterwards configure anew. SCN_BAD_BLOB: it is damaged, cut
   off, or none. SCN_OTHER_NETWORK: it is whole, but of a network of another structure. SCN_BUSY:
   another call is using the weights. After each of these the weights of before are still in use. */
"""
LOAD_FROM = """\
/* Use the weights in a blob that `read` gives, {name}.blob or a later one of the same structure, in
   storage of `size` bytes; more may follow behind it. All of it is read and checked; what is small
   stays in memory, and each configuration reads base models in pieces. It must stay there, unchanged.
   Afterwards configure anew. SCN_BAD_BLOB: it is damaged, cut off, or could not be read.
   SCN_OTHER_NETWORK: it is whole, but of a network of another structure. SCN_BUSY: another call is
   using the weights. After each of these the weights of before are still in use, unless the storage
   changed between two readings: then none are. {name}_mix and {name}_configure return SCN_BAD_BLOB
   where reading fails; then configure again. */
"""
UNLOAD = """\
/* Use no weights any more: after SCN_OK nothing of the blob is read, and its memory may be written. */
"""
IDENTITY = """\
/* Which weights are loaded. The texts are in the blob, as long as that is there. */
"""


def first(options: Options) -> str:
    """What stands before all types."""
    return "#include <stddef.h>\n#include <stdint.h>\n\n" + (READ if options.weights_in == "storage" else "")


def defines(name: str, facts: dict[str, Any]) -> str:
    """What is known when the program is compiled."""
    upper = name.upper()
    return (
        f"#define {upper}_API_VERSION {API_VERSION}\n#define {upper}_FORMAT_VERSION {FORMAT_VERSION}\n"
        f'#define {upper}_STRUCTURE "{facts["structure"]}" /* that a blob must be of */\n'
        f"#define {upper}_BLOB_BYTES {facts['blob']}\n"
    )


def functions(name: str, options: Options) -> list[str]:
    """What loads."""
    takes, about, what = "const void *blob, size_t size", LOAD, "load"
    if options.weights_in == "storage":
        takes, about, what = "scn_read read, void *context, size_t size", LOAD_FROM, "load_from"
    return [
        f"{about.format(name=name)}scn_status {name}_{what}({parameter(name, options, takes)});\n",
        f"{UNLOAD}scn_status {name}_unload({parameter(name, options, '')});\n",
    ]


def identity(name: str, options: Options) -> str:
    takes = parameter(name, options, "scn_identity *identity")
    return f"{TYPE}{IDENTITY}scn_status {name}_identity({takes});\n"
