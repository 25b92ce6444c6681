"""An operation of the export is one file and one row: nothing else knows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scn import export
from scn.export.operations import OPERATIONS, SNIPPETS
from scn.export.operations.affine import Affine
from scn.export.operations.base import Operation

FOLDER = Path(export.__file__).parent
TABLE = FOLDER / "operations" / "__init__.py"


@pytest.mark.parametrize("kind", [kind for kind in OPERATIONS if kind is not Affine])
def test_no_other_file_knows_an_operation(kind: type[Operation]) -> None:
    """All but the layers with weights, which are what an export is about."""
    name = re.compile(rf"^(class|from .* import) .*\b{kind.__name__}\b", re.MULTILINE)
    knowing = [path for path in FOLDER.rglob("*.py") if name.search(path.read_text())]
    assert len([path for path in knowing if path != TABLE]) == 1


def test_no_two_operations_claim_the_same_layer_function_or_snippet() -> None:
    for claims in ("layers", "functions", "float_snippets", "int8_snippets"):
        claimed = [key for kind in OPERATIONS for key in getattr(kind, claims)]
        assert len(claimed) == len(set(claimed))


def test_every_template_is_a_snippet() -> None:
    files = {path.stem for path in (FOLDER / "templates").glob("*.c")}
    assert files <= set(SNIPPETS)
