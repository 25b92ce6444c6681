"""The project keeps its own promises: lean imports, and a README that runs as written."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


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


NAMED = re.compile(r"(?<![\w/])(?:src|tests)/[\w/.-]+\.py\b")


def test_every_file_that_a_page_or_the_source_names_is_there() -> None:
    texts = [ROOT / "Makefile", *ROOT.glob("*.md")]
    texts += [
        path for folder in ("docs", "src", "benchmarks", "examples") for path in (ROOT / folder).rglob("*.*")
    ]
    named = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in texts
        if path.suffix in ("", ".md", ".py", ".c", ".h")
        for name in NAMED.findall(path.read_text())
    }
    assert any(name.startswith("tests/") for _, name in named)
    assert {(page, name) for page, name in named if not (ROOT / name).is_file()} == set()


def test_every_extra_is_of_use() -> None:
    """An extra that nothing imports installs something for nothing."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    imported = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    for name in extras.keys() - {"dev", "docs"}:
        packages = [re.split(r"[<>=]", one)[0] for one in extras[name]]
        used = [one for one in packages if re.search(rf"\b{one}\b", imported)]
        assert used == packages, name
