"""Words have one meaning: the glossary of CONTRIBUTING is what the names in the source keep to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "scn"
ROW = re.compile(r"^\| (?!word|-)(?P<word>[^|]+) \| (?P<meaning>[^|]+) \|(?P<instead>[^|]*)\|$", re.MULTILINE)


def glossary() -> list[re.Match[str]]:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    return list(ROW.finditer(text[text.index("## Words") : text.index("## Checklists")]))


def names(path: Path) -> Iterator[str]:
    """Everything that a file gives a name to."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def has_word(name: str, word: str) -> bool:
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")
    return f"_{word}_" in f"_{plain}_"


def test_every_word_of_the_glossary_has_a_meaning() -> None:
    rows = glossary()
    assert len(rows) > 15
    assert all(row["meaning"].strip() for row in rows)
    words = [row["word"].strip() for row in rows]
    assert len(words) == len(set(words))


def test_names_use_the_words_of_the_glossary() -> None:
    unwanted = sorted({word for row in glossary() for word in re.findall(r"`(\w+)`", row["instead"])})
    assert unwanted
    found = {
        f"{path.relative_to(SOURCE)}: {name}"
        for path in SOURCE.rglob("*.py")
        for name in names(path)
        if any(has_word(name, word) for word in unwanted)
    }
    assert not found


def test_no_two_public_classes_share_a_name() -> None:
    places: dict[str, list[str]] = {}
    for path in SOURCE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert not {name: where for name, where in places.items() if len(where) > 1}
