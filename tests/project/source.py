"""What the source says about itself, read by `ast` and never run: modules, imports, functions, errors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import scn

SOURCE = Path(scn.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def module_of(path: Path) -> str:
    """ "scn.core.network" for src/scn/core/network.py, "scn.core" for its __init__.py."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in FILES}


def imports(path: Path, when_run: bool = False) -> Iterator[str]:
    """Every module of scn that a file imports, at its head or in a function; "scn.X" for a name X of scn.

    `when_run` leaves out what only the type checker imports.
    """
    tree = parsed(path)
    unseen = {
        inner
        for node in ast.walk(tree)
        if when_run and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in unseen:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "scn")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively: name the module in full"
            if node.module == "scn":
                yield from (f"scn.{alias.name}" for alias in node.names)
            elif node.module and node.module.startswith("scn."):
                inner = [f"{node.module}.{alias.name}" for alias in node.names]
                yield from (name if name in MODULES else node.module for name in inner)


def package(module: str) -> str:
    """The part of the house that a module belongs to: "core" for scn.core.network."""
    return module.split(".")[1] if "." in module else ""


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def raised(path: Path) -> Iterator[str]:
    """The name of every exception that is raised by its name."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Raise) and node.exc is not None:
            called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(called, ast.Name):
                yield called.id
