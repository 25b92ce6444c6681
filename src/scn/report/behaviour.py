"""What a report shows beside what the runs hold: inputs, and networks that do not know the setting.

Inputs, and networks that stay as they are, need the data set; where it is not at hand they are left out.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

from scn import data
from scn.plots import figures
from scn.plots.options import FigureOptions
from scn.plots.specialisation import frozen_table
from scn.plots.style import column_style, in_words, label
from scn.plots.violin import searched
from scn.runs.collection import LoadedRun
from scn.runs.labels import Key

DPI = 200
SAMPLES = 300  # that networks which stay as they are are tested on
MOST_WEIGHTS = 200_000  # of a network that is tested here


def has_data(shown: Sequence[LoadedRun]) -> bool:
    """Whether the data set that the runs were trained on is at hand."""
    config = shown[0].run.config
    try:
        dataset = data.load(config.data)
    except (FileNotFoundError, ValueError):
        return False
    return config.checksum in ("", dataset.checksum)


def sample_picture(shown: Sequence[LoadedRun]) -> str:
    """Inputs before, after and after undoing the transform, as the address of a picture."""
    content = io.BytesIO()
    with column_style():
        figures.make("samples", shown).savefig(content, dpi=DPI, format="png")
    return f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}"


def frozen_networks(groups: Mapping[Key, Sequence[LoadedRun]]) -> dict[str, Any]:
    """The first SCN of each kind, configured once and left so: its score under all settings."""
    mixing = {key: several[0] for key, several in groups.items() if several[0].mixes}
    small = {key: one for key, one in mixing.items() if one.outcome.used <= MOST_WEIGHTS}
    if not small:
        return {"configured": "", "samples": 0, "entries": []}
    transform = next(iter(small.values())).transform
    fixed = transform.neutral()
    tables = {key: frozen_table(one, fixed, FigureOptions(samples=SAMPLES)) for key, one in small.items()}
    return {
        "configured": in_words(transform, fixed.tolist()),
        "samples": min(int(table.facts["samples"]) for table in tables.values()),
        "entries": [
            {
                "label": label(*key),
                "points": False,
                "params": table.params.tolist(),
                "seeds": [table.values.tolist()],
            }
            for key, table in tables.items()
        ],
    }


def searching_networks(groups: Mapping[Key, Sequence[LoadedRun]]) -> list[dict[str, Any]]:
    """What SCNs reached that had to find the setting themselves, by batch size."""
    return [
        {"label": one.name, "of": label(*key), "values": one.values, "mean": one.mean}
        for key, several in groups.items()
        for one in searched(several, "")
    ]
