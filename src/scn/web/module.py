"""The C code of a network as a WebAssembly module, which imports nothing and says itself what it holds.

The exported files are compiled as they are; a few lines beside them give every module the same names. What a
program must know of the network (parameters, shape, names of classes) is JSON in a section of the module.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from string import Template
from typing import Any

from scn.core.errors import Failed, NotThere
from scn.export import Options, Subject, boards, c
from scn.export.predictions import meaning_of
from scn.objectives import Regression

FOLDER = Path(__file__).parent
TOOLS = {"clang": "clang", "wasm-ld": "lld"}  # and the packages of Debian that have them
# What every browser with DecompressionStream has: the pages need that as well.
FEATURES = ("-msimd128", "-mbulk-memory")
FLAGS = ("--target=wasm32", "-std=c99", "-ffreestanding", "-nostdlib", "-O3", *FEATURES)
LINKING = ("-Wl,--no-entry", "-Wl,--strip-all", "-Wl,--stack-first")
SECTION = b"scn"
FORMAT = 1


@dataclass(frozen=True)
class Module:
    """Bytes of a .wasm file, what its section says, and facts about the C code."""

    content: bytes
    about: dict[str, Any]
    facts: dict[str, Any]


def require_tools() -> None:
    """An error that says what to install, if anything is missing."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        packages = " ".join(TOOLS[tool] for tool in missing)
        raise NotThere(
            f"WebAssembly needs {' and '.join(missing)}, which this machine does not have: on Debian, "
            f"`apt install {packages}`; with Homebrew, `brew install llvm lld`"
        )


def wasm(subject: Subject, options: Options) -> Module:
    """The module of a network."""
    require_tools()
    made = c.generate(subject, options)
    configured = made.facts["theta"] != "fixed"
    about = described(subject, made.facts, configured)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / f"{subject.name}.h").write_text(made.header)
        (place / f"{subject.name}.c").write_text(made.source)
        (place / "glue.c").write_text(_glue(subject, configured, about["encodes"]))
        code = _compiled(place, [f"{subject.name}.c", "glue.c"])
    return Module(code + _section(json.dumps(about).encode()), about, made.facts)


def described(subject: Subject, facts: dict[str, Any], configured: bool) -> dict[str, Any]:
    """What a program must know of the network, as JSON."""
    return {
        "format": FORMAT,
        "name": subject.name,
        "method": subject.method_name,
        "configurable": configured,
        "encodes": configured and subject.transform.encodings() is not None,
        "parameters": [asdict(parameter) for parameter in subject.transform.parameters],
        "alpha_size": subject.transform.alpha_dim,
        "dims": facts["dims"],
        "shape": list(subject.shape),
        "normalisation": asdict(subject.normalisation),
        "outputs": _outputs(subject),
        **{name: facts[name] for name in ("weights", "inference", "theta", "macs")},
    }


def _outputs(subject: Subject) -> dict[str, Any]:
    """By the kind that C code says: classes, targets or plain outputs."""
    kind = meaning_of(subject).size.lower()
    if kind == "classes":
        return {"kind": kind, "names": list(subject.classes)}
    if not isinstance(subject.objective, Regression):
        return {"kind": kind, "names": [str(i) for i in range(subject.outputs)]}
    return {
        "kind": kind,
        "names": list(subject.target_names),
        "units": list(subject.target_units),
        "mean": list(subject.objective.mean),
        "deviation": list(subject.objective.deviation),
    }


def _glue(subject: Subject, configured: bool, encodes: bool) -> str:
    parts = ["glue.c", *(["glue_configure.c"] if configured else []), *(["glue_encode.c"] if encodes else [])]
    values = boards.values_of(subject)
    return "".join(Template((FOLDER / part).read_text()).substitute(values) for part in parts)


def _compiled(place: Path, sources: list[str]) -> bytes:
    command = ["clang", *FLAGS, *LINKING, *sources, "-o", "network.wasm"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        said = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip())
        raise Failed(
            f"clang could not make WebAssembly of {sources[0]}: {said}. It must know the target wasm32 "
            "(Apple's does not): on Debian, `apt install clang lld`; with Homebrew, `brew install llvm lld`"
        )
    return (place / "network.wasm").read_bytes()


def _section(content: bytes) -> bytes:
    """A custom section of a module, which runs nothing: JSON under the name "scn"."""
    body = _number(len(SECTION)) + SECTION + content
    return b"\x00" + _number(len(body)) + body


def _number(value: int) -> bytes:
    """LEB128, as sections say their length: seven bits a byte, the lowest first."""
    found = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        found.append(low | (0x80 if value else 0))
        if not value:
            return bytes(found)
