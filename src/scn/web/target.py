"""The target "web": a page with the network in it, and the network as a module for pages of one's own.

index.html holds everything and asks for nothing; scn.wasm is the network, scn.js calls it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scn.core.errors import ScnError
from scn.export import Options, Report, Subject, c, target
from scn.export.staging import write_staged
from scn.runs.labels import refuse_different_tasks
from scn.web.content import page
from scn.web.module import FOLDER, require_tools, wasm

COMMAND = "scn export --to web"
# What only makes sense on a board.
REFUSED = {"state": "static", "double_buffer": False, "sensor": None, "input": None, "guard": None}


def check(subject: Subject, options: Options) -> None:
    """Refuse what a page has no use for, a second network of another task, a machine without the tools."""
    for name, usual in REFUSED.items():
        if getattr(options, name) != usual:
            raise ScnError(f"a page holds the state itself and has its own sensors: leave out `{name}`")
    c.check(subject, options)
    if subject.run is None:
        raise ScnError("a page shows test samples of a run: make its subject by subject_of(run)")
    beside = subject.beside
    if beside is not None and beside.run is not None:
        refuse_different_tasks([subject.run, beside.run], COMMAND)
    require_tools()


@target("web", check, shows_two=True)
def write(subject: Subject, options: Options, folder: Path) -> Report:
    """index.html, scn.wasm and scn.js; of a network beside it NAME.wasm."""
    subjects = [subject] if subject.beside is None else [subject, subject.beside]
    modules = [wasm(one, _options_of(one, options)) for one in subjects]
    made, facts = page(subjects, modules)
    files = {"index.html": made, "scn.js": (FOLDER / "scn.js").read_bytes(), "scn.wasm": modules[0].content}
    if subject.beside is not None:
        files[f"{subject.beside.name}.wasm"] = modules[1].content
    for name, content in files.items():
        write_staged(folder / name, content)
    bytes_of: dict[str, Any] = {name: len(content) for name, content in files.items()}
    return Report([folder / name for name in files], {**modules[0].facts, **facts, "bytes": bytes_of})


def _options_of(subject: Subject, options: Options) -> Options:
    """A second SCN is configured as the first is, unless that one is fixed."""
    if subject.is_scn and subject.params is None and options.theta == "fixed":
        return Options(weights=options.weights, inference=options.inference)
    return options
