"""What runs cost on a device, from what `scn device` measured: instructions by phase, score, memory."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from scn.core.errors import NotThere, ScnError
from scn.objectives import Score
from scn.plots.options import FigureOptions
from scn.plots.scale import brief, score_axis, wrapped
from scn.plots.style import BLUE, BLUES, GREEN, PURPLE, colours, entitle, label, new_figure
from scn.runs.collection import LoadedRun, groups
from scn.runs.labels import task_title

PHASES = {"hypernet": ("configuration network h", BLUES[0]), "configure": ("configure", BLUE),
          "infer": ("infer", BLUES[-1])}  # fmt: skip
MEMORY = {"flash": ("flash", GREEN), "ram": ("RAM", PURPLE)}
WIDE = 0.8  # of the bars of one entry


@dataclass(frozen=True)
class DeviceEntry:
    """One run on one target."""

    name: str
    colour: str
    row: dict[str, Any]
    reached: float


def draw(loaded: Sequence[LoadedRun], options: FigureOptions) -> Any:
    """The figure `device`."""
    entries = _entries(loaded)
    counted = [phase for phase in PHASES if any(phase in (e.row["instructions"] or {}) for e in entries)]
    panels: list[Callable[[Any, Sequence[DeviceEntry]], None]]
    panels = [functools.partial(_draw_score, loaded[0].score), _draw_memory]
    panels = [_draw_instructions, *panels] if counted else panels
    figure = new_figure(1.5 + 1.1 * len(panels))
    stacked = figure.subplots(len(panels), 1, sharex=True)
    for axes, panel in zip(stacked, panels, strict=True):
        panel(axes, entries)
        axes.grid(visible=False, axis="x")
    stacked[-1].set_xticks(range(len(entries)), [entry.name for entry in entries], rotation=35, ha="right",
                           rotation_mode="anchor")  # fmt: skip
    stacked[-1].set_xlim(-0.6, len(entries) - 0.4)
    targets = sorted({str(entry.row["target"]) for entry in entries})
    inputs = sorted({entry.row["inputs"] for entry in entries if "inputs" in entry.row})
    asked = " to ".join(f"{count:,}" for count in (inputs[:1] + inputs[1:][-1:]))
    entitle(
        figure, task_title(loaded[0].run, f"on {', '.join(targets)}" + (f", {asked} inputs" if asked else ""))
    )
    return figure


def rows_of(one: LoadedRun) -> list[dict[str, Any]]:
    """What device.json holds: rows, several in a list, or one alone."""
    path = one.run.device_file
    if not path.is_file():
        raise NotThere(f"{one.folder} was not measured on a device: `scn device {one.folder}` does it")
    try:
        content = json.loads(path.read_text())
        rows: list[dict[str, Any]] = content if isinstance(content, list) else content.get("rows", [content])
        for row in rows:
            if not (row["flash"] >= 0 and row["ram"] >= 0):
                raise ScnError("memory below 0")
            row.setdefault("instructions", None)
            row["target"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ScnError(
            f"{path} is not what a device measured ({error!r}): `scn device {one.folder}` writes it anew"
        ) from error
    return rows


def _entries(loaded: Sequence[LoadedRun]) -> list[DeviceEntry]:
    """Every row of the first seed of each kind of run, named by what tells it from the others."""
    firsts = [several[0] for several in groups(loaded).values()]
    found = [(one, row) for one in firsts for row in rows_of(one)]
    shades = colours([one.key for one in firsts])
    said = [_flat(row) for _, row in found]
    entries = []
    for (one, row), mine in zip(found, said, strict=True):
        differing = [name for name in mine if any(theirs.get(name) != mine[name] for theirs in said)]
        more = " ".join(_said(name, mine[name]) for name in differing)
        name = " ".join(f"{label(*one.key)} {more}".split())
        known = row.get(one.score.key)
        entries.append(DeviceEntry(name, shades[one.key], row, one.mean if known is None else float(known)))
    return entries


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    given = row.get("options")
    return {"target": row["target"], **(given if isinstance(given, dict) else {"options": given})}


def _said(name: str, value: Any) -> str:
    """An option in a label: a switch by its name, if it is on, and anything else by its value."""
    if isinstance(value, bool):
        return name.replace("_", " ") if value else ""
    return "" if value is None else str(value)


def _draw_instructions(axes: Any, entries: Sequence[DeviceEntry]) -> None:
    """Bars beside each other: the phases happen at different times, so their sum means nothing."""
    for index, (phase, (text, colour)) in enumerate(PHASES.items()):
        values = {
            place: entry.row["instructions"][phase] / 1000
            for place, entry in enumerate(entries)
            if phase in (entry.row["instructions"] or {})
        }
        if values:
            _bars(axes, values, (index, len(PHASES)), colour, text)
    axes.set_ylabel("instructions (thousands)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(PHASES))


def _draw_score(score: Score, axes: Any, entries: Sequence[DeviceEntry]) -> None:
    values = [entry.reached for entry in entries]
    low, high = min(0.0, *values), max(score.highest or 0.0, *values)
    bars = axes.bar(range(len(entries)), values, WIDE, color=[entry.colour for entry in entries])
    axes.bar_label(bars, [brief(score, value) for value in values], fontsize=5, padding=1)
    axes.set(ylabel=wrapped(score_axis(score)), ylim=(1.12 * low, 1.12 * high or 1.0))


def _draw_memory(axes: Any, entries: Sequence[DeviceEntry]) -> None:
    for index, (kind, (text, colour)) in enumerate(MEMORY.items()):
        values = {place: entry.row[kind] / 1000 for place, entry in enumerate(entries)}
        _bars(axes, values, (index, len(MEMORY)), colour, text)
    axes.set_ylabel("memory (kB)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(MEMORY))


def _bars(axes: Any, values: dict[int, float], part: tuple[int, int], colour: str, text: str) -> None:
    """One of several bars of each entry, its value upright above it: the next bar may be higher."""
    index, count = part
    slot = WIDE / count
    places = [place + (index - (count - 1) / 2) * slot for place in values]
    bars = axes.bar(places, list(values.values()), slot, color=colour, label=text)
    said = [f"{value:,.0f}" if value >= 100 else f"{value:.3g}" for value in values.values()]
    axes.bar_label(bars, said, fontsize=4.5, padding=1.5, rotation=90)
    axes.margins(y=0.28)
