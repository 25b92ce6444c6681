"""The project keeps its own promises: layers, lean imports, and a README that runs as written."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "scn"


def imports(path: Path) -> set[str]:
    """Every part of scn that a file imports, such as "core" or "cli"."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            base = [node.module] if node.module != "scn" else []
            names += base or [f"scn.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return {name.split(".")[1] for name in names if name.startswith("scn.")}


@pytest.mark.parametrize(
    ("part", "allowed"),
    [
        ("core", {"core"}),
        ("transforms", {"core", "transforms"}),
        ("backbones", {"core", "backbones"}),
        ("data", {"core", "data"}),
    ],
)
def test_dependencies_point_one_way(part: str, allowed: set[str]) -> None:
    files = list((SOURCE / part).glob("**/*.py"))
    assert files
    for path in files:
        assert imports(path) <= allowed, path


def test_only_the_command_line_imports_the_command_line() -> None:
    for path in SOURCE.glob("**/*.py"):
        if "cli" not in path.parts:
            assert "cli" not in imports(path), path


def test_importing_scn_imports_nothing_heavy() -> None:
    heavy = ("sklearn", "scipy", "matplotlib", "PIL", "kornia", "typer", "rich", "onnx", "ray", "plotly")
    code = f"import scn, sys; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/search.md"])
def test_code_on_a_page_runs_as_written(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert blocks(page)
    for block in blocks(page):
        exec(compile(block, page, "exec"), {})


def test_an_scn_takes_ten_lines() -> None:
    assert len([line for line in blocks("README.md")[0].splitlines() if line.strip()]) <= 10


def test_the_readme_names_pictures_that_exist() -> None:
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    assert pictures
    assert all((ROOT / picture).is_file() for picture in pictures)
