"""Gather what an explorer shows and write it: everything is computed here, and the page only looks it up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from scn import methods
from scn.core.errors import ScnError
from scn.core.network import SCN
from scn.core.storage import write_atomically
from scn.data import Dataset, short_name
from scn.explorer.grid import Demand, PageGrid, candidates, described
from scn.explorer.networks import describe, outputs_at_low_end
from scn.explorer.outputs import OutputForm, output_form
from scn.explorer.samples import bytes_of, drawing, kind_of
from scn.explorer.weights import MOST_BYTES
from scn.pages.assemble import Arrays, assemble
from scn.pages.samples import ShownSamples, load_data, shown_samples
from scn.plots.scale import chance_level
from scn.plots.style import label
from scn.runs.collection import LoadedRun

SHARED = ("base.js", "controls.js")
SCRIPTS = ("state.js", "samples.js", "views.js", "curves.js", "space.js", "page.js")
LIMIT = 12_000_000  # bytes of a page
BETA_BYTES = 4  # of a coefficient


def write_explorer(
    shown: Sequence[LoadedRun], path: Path, *, samples: int = 12, say: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Write the page of these runs of one task as one file; returns what it holds."""
    adaptive, rigid = _shown_networks(shown)
    dataset = load_data(shown[0].run)
    picked = shown_samples(dataset, samples, shown[0].transform.measured)
    costs = [outputs_at_low_end(one, picked) for one in adaptive]
    form = output_form(shown[0].run.objective(), costs[0][0], dataset)
    demand = _demand(adaptive, rigid, picked, form.size, sum(operations for _, operations in costs))
    for grid in candidates(shown[0].transform.parameters, demand):
        assumed = len(grid.assumed)
        say(f"computing {len(grid.settings):,} settings, {assumed:,} of them for wrong inputs ...")
        page = _page(adaptive, rigid, dataset, picked, grid, form)
        if len(page) < LIMIT:
            write_atomically(path, page)
            return {"settings": len(grid.settings), "assumed": assumed, "samples": len(picked.labels)}
    raise ScnError(f"{samples} samples do not fit a page of {LIMIT:,} bytes: ask for fewer `samples`")


def _shown_networks(shown: Sequence[LoadedRun]) -> tuple[list[LoadedRun], LoadedRun | None]:
    """One SCN of each kind (that of the first seed), and the first network that does not adapt."""
    adaptive: dict[str, LoadedRun] = {}
    for one in shown:
        if isinstance(one.network, SCN):
            adaptive.setdefault(_label(one), one)
    if not adaptive:
        raise ScnError(
            f"an explorer shows SCNs, but {shown[0].run.folder} is none: `scn train --method scn` makes one"
        )
    rigid = next((one for one in shown if not methods.get(one.run.config.method).knows_setting), None)
    return list(adaptive.values()), rigid


def _label(one: LoadedRun) -> str:
    return label(*one.key)


def _demand(
    adaptive: Sequence[LoadedRun], rigid: LoadedRun | None, samples: ShownSamples, size: int, operations: int
) -> Demand:
    """Bytes before compression for a setting and for a pair, and a pair's work.

    `size` are the bytes of a network's outputs about a sample, `operations` what all samples take.
    """
    transform = adaptive[0].transform
    outputs = len(samples.labels) * size
    networks = len(adaptive) + (rigid is not None)
    drawn = bytes_of(kind_of(samples.x, transform), samples.x, transform)
    low = torch.tensor([p.low for p in transform.parameters])
    values = transform.apply(samples.x, low).numel()
    beta = sum(BETA_BYTES * one.run.config.dims for one in adaptive)
    own = drawn + networks * outputs + beta
    return Demand(own, len(adaptive) * outputs, len(adaptive) * values, operations)


def _page(
    adaptive: Sequence[LoadedRun],
    rigid: LoadedRun | None,
    dataset: Dataset,
    samples: ShownSamples,
    grid: PageGrid,
    form: OutputForm,
) -> bytes:
    arrays = Arrays()
    transform, config = adaptive[0].transform, adaptive[0].run.config

    def network(one: LoadedRun) -> dict[str, Any]:
        room = MOST_BYTES * one.run.config.dims // sum(other.run.config.dims for other in adaptive)
        return {"label": _label(one), **describe(one, samples, grid, form, arrays, room)}

    title = f"{config.transform} on {short_name(config.data)}"
    content = {
        "title": title,
        "note": described(grid),
        "data": {
            "name": dataset.name,
            "counts": dataset.counts,
            "preset": config.preset,
            "tested": adaptive[0].table.facts["samples"],
        },
        "outputs": form.content(),
        "score": asdict(adaptive[0].score),
        "chance": chance_level([adaptive[0].table]),
        "measured": transform.measured,
        "parameters": [
            {**asdict(p), "values": axis.tolist()} for p, axis in zip(grid.parameters, grid.axes, strict=True)
        ],
        "coarse": grid.coarse,
        "start": grid.start,
        "samples": [
            {
                "label": form.label(samples.labels[i]),
                "index": int(samples.indices[i]),
                "measured": None if samples.measured is None else samples.measured[i].tolist(),
            }
            for i in range(len(samples.labels))
        ],
        "drawing": drawing(kind_of(samples.x, transform), samples.x, transform, grid, arrays),
        "networks": [network(one) for one in adaptive],
        "rigid": None if rigid is None else network(rigid),
    }
    return assemble("scn.explorer", SCRIPTS, f"Explorer: {title}", content, arrays, shared=SHARED)
