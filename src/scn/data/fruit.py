"""Fruit under a colour sensor while the light changes (O. Saukh et al., 2023): one CSV file a fruit.

No artificial transform is needed here: the brightness that the sensor measures is the parameter.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from scn.core.errors import ScnError
from scn.data.dataset import Arrays, preparations
from scn.data.download import Remote
from scn.data.sources import Request, Source, register

CLASSES = ("apple", "banana", "kiwi", "lemon", "orange")
STRETCH = 31  # readings; each fruit has 33 such stretches
COLUMNS = ("No", "Red", "Green", "Blue", "Brightness")


def read(request: Request) -> Arrays | None:
    """Colours in thousandths (N, 3), brightness, fruit and place in time (N,)."""
    paths = request.find_all(*((f"{name}.csv",) for name in CLASSES))
    if paths is None:
        return None
    tables = [read_table(path) for path in paths]
    table = np.concatenate(tables)
    return {
        "rgb_milli": (table[:, 1:4] * 1000).round().astype(np.int16),
        "brightness": table[:, 4].astype(np.int16),
        "y": np.repeat(np.arange(len(CLASSES), dtype=np.uint8), [len(part) for part in tables]),
        "order": table[:, 0].astype(np.int16),
        "classes": np.array(CLASSES),
        "provenance": np.array(
            "Fruit under a colour sensor, O. Saukh et al. 2023, IoT/Fruit Classification/*.csv of "
            "github.com/osaukh/subspace-configurable-networks; MIT licence"
        ),
    }


def read_table(path: Path) -> np.ndarray[Any, Any]:
    """(N, 5) numbers in the order of COLUMNS."""
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        rows = list(csv.DictReader(file))
    try:
        table = np.array([[float(row[column]) for column in COLUMNS] for row in rows])
    except (KeyError, ValueError, TypeError) as error:
        raise ScnError(f"{path} is not a table of {', '.join(COLUMNS)}: {error!r}") from error
    if not len(table) or not np.isfinite(table).all() or np.abs(table[:, (0, 4)]).max() > 32767:
        raise ScnError(f"{path} has no rows, or numbers out of range")
    return table


def _official(name: str) -> Remote:
    commit = "1decf8c0aecd2d325047e80df3b18a7f3303a280"
    folder = f"https://raw.githubusercontent.com/osaukh/subspace-configurable-networks/{commit}"
    return Remote(f"{folder}/IoT/Fruit%20Classification/{name}.csv")


def prepare(arrays: Arrays) -> Arrays:
    """Colours as samples, brightness as what was measured; every fifth stretch of time is for the test.

    Every tenth is for validation. Readings that follow each other are nearly the same, so whole stretches
    of time are held back.
    """
    stretch = (arrays["order"].astype(int) - 1) // STRETCH
    test, validation = stretch % 5 == 4, stretch % 10 == 2
    found = {name: arrays[name] for name in ("classes", "provenance")}
    for split, chosen in (("train", ~test & ~validation), ("val", validation), ("test", test)):
        found[f"x_{split}"] = arrays["rgb_milli"][chosen]
        found[f"y_{split}"] = arrays["y"][chosen]
        found[f"params_{split}"] = arrays["brightness"][chosen, None].astype(np.float32)
    return found


preparations["fruit"] = prepare

register(
    Source(
        name="fruit",
        description="5,115 readings of a colour sensor under changing light, 5 fruits",
        licence="MIT",
        read=read,
        files=tuple(_official(name) for name in CLASSES),
    )
)
