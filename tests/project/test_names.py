"""A data set, transform, backbone, method or objective is known to its own file and to tables alone."""

from __future__ import annotations

import importlib
import re

import pytest
from source import MODULES, SOURCE

from scn.core import maps

FAMILIES = {
    family: list(importlib.import_module(f"scn.{family}").registry)
    for family in ("data", "transforms", "backbones", "methods", "objectives")
    if f"scn.{family}" in MODULES
}
OF_PAPER = ("experiment/tasks.py", "reproduce/parts.py", "reproduce/entries.py", "reproduce/claims.py")
TABLES = {*(SOURCE / name for name in OF_PAPER), *(SOURCE / family / "__init__.py" for family in FAMILIES)}
# A method, and the name of the command, of the package, of folders; and a map that is a method of its own.
OF_SEVERAL = ("scn", *(name for name in maps.registry if name in FAMILIES.get("methods", ())))


@pytest.mark.parametrize(
    ("family", "name"), [(family, name) for family, names in FAMILIES.items() for name in names]
)
def test_no_other_file_knows_the_name(family: str, name: str) -> None:
    quoted = re.compile(rf"[\"']{re.escape(name)}[\"']")
    files = [path for path in SOURCE.rglob("*.py") if path not in TABLES]
    knowing = [path for path in files if quoted.search(path.read_text())]
    assert len([path for path in knowing if path.parent == SOURCE / family]) == 1
    if name not in OF_SEVERAL:
        # a key of a file of another family may be alike
        others = {str(path.relative_to(SOURCE)) for path in knowing if path.parent.name not in FAMILIES}
        assert not others
