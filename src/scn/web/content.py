"""All that the page holds: networks as modules, inputs, what torch computes for some of them, and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from torch import Tensor

from scn.data import Dataset, short_name
from scn.export import Subject
from scn.pages.assemble import Arrays, assemble
from scn.pages.samples import ShownSamples, load_data, shown_samples
from scn.plots.style import label
from scn.runs.collection import LoadedRun
from scn.runs.labels import distinguish
from scn.runs.scores import table_file
from scn.transforms import Transform
from scn.transforms.compose import Composed
from scn.transforms.geometric import Rotation
from scn.web.inputs import ShownInputs, inputs_of, seen_by
from scn.web.module import Module

SHARED = ("base.js", "controls.js")
SCRIPTS = (
    "scn.js",
    "picture.js",
    "camera.js",
    "tilt.js",
    "networks.js",
    "drawings.js",
    "views.js",
    "facts.js",
    "state.js",
    "page.js",
)
SAMPLES = 24
CHECKED = 8  # inputs of each network whose outputs the page compares with torch's


def page(subjects: Sequence[Subject], modules: Sequence[Module]) -> tuple[bytes, dict[str, Any]]:
    """The page of one network, or of two side by side; and facts about it."""
    main = subjects[0]
    assert main.run is not None
    dataset, transform = load_data(main.run), main.transform
    samples = shown_samples(dataset, SAMPLES, transform.measured)
    inputs, arrays = inputs_of(samples, transform), Arrays()
    config = main.run.config
    camera = takes_camera(subjects, dataset)
    title = f"{config.transform} on {short_name(config.data)}"
    known = _loaded(subjects)
    content = {
        "title": title,
        "data": {
            "name": dataset.name,
            "counts": dataset.counts,
            "trained": config.samples.get("train", dataset.counts["train"]),
            "preset": config.preset,
        },
        "kind": inputs.kind,
        "camera": camera,
        "tilt": tilted(transform) if camera else None,
        "dark": camera and samples.x.mean().item() < 0.4,
        "measured": transform.measured,
        "parameters": [
            {**asdict(p), "values": axis.tolist(), "neutral": p.neutral}
            for p, axis in zip(transform.parameters, inputs.axes, strict=True)
        ],
        "samples": [_described(samples, i, transform) for i in range(len(samples.labels))],
        "inputs": {"values": arrays.add(inputs.values), "scale": inputs.scale},
        "alphas": _alphas(transform, inputs, arrays),
        "score": asdict(known[0].score),
        "networks": [
            {"label": label(*shown.key), **_network(*one, samples, inputs, arrays), **_scores(shown)}
            for one, shown in zip(zip(subjects, modules, strict=True), known, strict=True)
        ],
    }
    made = assemble("scn.web", SCRIPTS, title, content, arrays, shared=SHARED, draws=False)
    return made, {"samples": len(samples.labels), "settings": len(inputs.settings), "camera": camera}


def takes_camera(subjects: Sequence[Subject], dataset: Dataset) -> bool:
    """Whether what a camera sees can be x: images, grey or in colours, shown to each network as they are."""
    images = dataset.split("test")[0]
    plain = all(one.method.shows_the_sample for one in subjects)
    return plain and images.dtype == torch.uint8 and images.dim() == 4 and images.shape[1] in (1, 3)


def tilted(transform: Transform) -> int | None:
    """The place of the parameter that the tilt of a phone is: the angle of an image, all round."""
    parts = transform.parts if isinstance(transform, Composed) else [transform]
    place = 0
    for part in parts:
        if isinstance(part, Rotation) and part.parameters[0].periodic:
            return place
        place += len(part.parameters)
    return None


def _loaded(subjects: Sequence[Subject]) -> list[LoadedRun]:
    runs = [one.run for one in subjects if one.run is not None]
    return [LoadedRun(run, more) for run, more in zip(runs, distinguish(runs), strict=True)]


def _described(samples: ShownSamples, place: int, transform: Transform) -> dict[str, Any]:
    label, measured = samples.labels[place], samples.measured
    found = {
        "label": label.flatten().tolist() if label.is_floating_point() else int(label),
        "index": int(samples.indices[place]),
    }
    if measured is None:
        return found
    return {
        **found,
        "measured": measured[place].tolist(),
        "alpha": transform.encode(measured[place]).tolist(),
    }


def _alphas(transform: Transform, inputs: ShownInputs, arrays: Arrays) -> dict[str, Any] | None:
    """Alpha over the grid, for an encoding that is known in Python alone."""
    if transform.encodings() is not None:
        return None
    settings = torch.cartesian_prod(*inputs.axes).view(-1, len(inputs.axes))
    return arrays.add(transform.encode(settings).float().numpy())


def _network(
    subject: Subject, module: Module, samples: ShownSamples, inputs: ShownInputs, arrays: Arrays
) -> dict[str, Any]:
    seen = seen_by(subject.method, samples, inputs, subject.normalisation)
    fixed = subject.params if subject.is_scn else subject.method.fixed
    return {
        "method": subject.method_name,
        "mixes": subject.is_scn,
        "dims": subject.dims,
        "fixed": None if fixed is None else fixed.tolist(),
        "bytes": len(module.content),
        "module": arrays.add(np.frombuffer(module.content, np.uint8)),
        "own": None if seen is None else arrays.add(seen.numpy()),
        "checks": _checks(subject, samples, inputs, seen, arrays),
    }


@torch.no_grad()
def _checks(
    subject: Subject, samples: ShownSamples, inputs: ShownInputs, seen: Tensor | None, arrays: Arrays
) -> dict[str, Any]:
    """Some inputs, by sample and setting, and what torch computes for them."""
    count = min(CHECKED, len(samples.labels) * len(inputs.settings))
    flat = torch.linspace(0, len(samples.labels) * len(inputs.settings) - 1, count).round().long().tolist()
    places = [divmod(place, len(inputs.settings)) for place in flat]
    outputs = []
    for sample, setting in places:
        params = inputs.settings[setting] if samples.measured is None else samples.measured[sample]
        params = params if subject.params is None else subject.params
        x = inputs.of(sample, setting, subject.normalisation) if seen is None else seen[sample, setting][None]
        outputs.append(subject.plain(params)(x)[0])
    return {"places": places, "outputs": arrays.add(torch.stack(outputs).float().numpy())}


def _scores(shown: LoadedRun) -> dict[str, Any]:
    """Of a run that was evaluated: its score over the settings, and on how many test samples."""
    if not table_file(shown.folder).is_file():
        return {"scores": None}
    table = shown.table
    facts = {"mean": table.mean, "samples": table.facts["samples"]}
    return {"scores": {"params": shown.settings, "values": shown.values, **facts}}
