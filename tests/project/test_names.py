"""A data set, transform or backbone is known to its own file, a registry and the task table alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

import scn
from scn import backbones, data, transforms

SOURCE = Path(scn.__file__).parent
FAMILIES: dict[str, Iterable[str]] = {
    "data": data.registry,
    "transforms": transforms.registry,
    "backbones": backbones.registry,
}
TABLES = {SOURCE / "experiment" / "tasks.py", *(SOURCE / family / "__init__.py" for family in FAMILIES)}


@pytest.mark.parametrize(
    ("family", "name"), [(family, name) for family, registry in FAMILIES.items() for name in registry]
)
def test_no_other_file_knows_the_name(family: str, name: str) -> None:
    quoted = re.compile(rf"[\"']{re.escape(name)}[\"']")
    files = [path for path in SOURCE.rglob("*.py") if path not in TABLES]
    knowing = [path for path in files if quoted.search(path.read_text())]
    assert len([path for path in knowing if path.parent == SOURCE / family]) == 1
    assert not [path for path in knowing if path.parent.name not in FAMILIES]  # a key of a file may be alike
