"""Categories in C: alpha is the number of a base model, or of a row of a table."""

from __future__ import annotations

from scn.core.maps.categories import CategoryTable
from scn.export.parts import Parts


def add(parts: Parts, categories: CategoryTable, checks: list[str]) -> None:
    """A number between two categories is refused, unless it is to be clamped to the nearest."""
    last = f"{categories.count - 1}.0f"
    bounded = f"(alpha[0] > 0.0f ? (alpha[0] < {last} ? alpha[0] : {last}) : 0.0f)"
    number = f"(int)({bounded} + 0.5f)"
    if categories.table is None:
        parts.need("few")
        parts.pick = [
            *checks,
            "few->count = 1;",
            f"few->which[0] = (uint16_t){number};",
            "few->share[0] = 1.0f;",
        ]
        return
    table = parts.add_floats("scn_categories", categories.table.softmax(dim=-1), "map")
    copied = ["for (i = 0; i < SCN_DIMS; i++) {", f"    beta[i] = {table}[row * SCN_DIMS + i];", "}"]
    parts.beta = ["int i, row;", *checks, f"row = {number};", *copied]
