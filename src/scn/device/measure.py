"""Measure a run on a target: every prediction beside that of torch, instructions by phase, flash and RAM."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from scn import data, runs
from scn.core.errors import Failed, ScnError
from scn.core.network import SCN
from scn.data import to_float
from scn.device.blob import embedded, loading
from scn.device.build import Code, Footprint, build
from scn.device.emulate import DeviceOutputs, Group, emulate
from scn.device.targets import Target
from scn.device.trace import estimated_cycles
from scn.export import Options, Subject
from scn.export import targets as exports
from scn.export.predictions import agreement, are_classes, largest_difference, meaning_of, scores_of
from scn.objectives import Objective
from scn.runs.folder import DEVICE

SAMPLES = 200  # that are sent under each setting, where there are so many
BESIDE_THE_NETWORK = (
    "sensor",
    "lose",
    "input",
    "guard",
    "follows",
)  # options that change nothing that is measured


@dataclass(frozen=True)
class Inputs:
    """Test samples under settings: a group for each setting, with the outputs of torch and what is right."""

    groups: list[Group]
    outputs: Tensor  # (N, O), of torch
    labels: Tensor  # (N,) or (N, T), as the objective has them
    beta: Tensor | None  # (G, D), of torch; None where nothing is configured


@dataclass(frozen=True)
class DeviceRow:
    """One run on one target. Bytes; `ram` is static data and the stack at its deepest.

    `instructions` are means over all calls, `instructions_range` the least and the most of one call; both are
    None where the target cannot count. `estimated_cycles` are of the first call of each phase, by the table
    of the core's manual; None for a core without one. `max_difference` is that of an output from torch's. Of
    predictions, `agreement` is how often the class is that of torch, or `max_prediction_difference` how far a
    value is from that of torch, in its unit. `scores` are on the inputs that were sent, not on all test data;
    the first is the one that counts.
    """

    name: str
    target: str
    options: dict[str, Any]
    flash: int
    weights: int
    code: int
    ram: int
    static: int
    stack: int
    instructions: dict[str, int] | None
    instructions_range: dict[str, tuple[int, int]] | None
    max_difference: float
    max_beta_difference: float | None
    agreement: float | None
    max_prediction_difference: float | None
    scores: dict[str, float]
    torch_scores: dict[str, float]
    inputs: int
    settings: int
    estimated_cycles: dict[str, int] | None = None

    def to_json(self) -> dict[str, Any]:
        """Each score under its own name, and which of them counts under "score"."""
        content = asdict(self)
        ours, theirs = content.pop("scores"), content.pop("torch_scores")
        return {
            **content,
            "score": next(iter(ours), None),
            **ours,
            **{f"torch_{name}": value for name, value in theirs.items()},
        }


def measure(
    subject: Subject,
    options: Options,
    target: Target,
    folder: Path,
    *,
    samples: int | None = None,
    settings: int = 8,
    name: str | None = None,
    note: Callable[[str], None] = lambda message: None,
) -> DeviceRow:
    """Export, build, run and compare. All files go into `folder`.

    samples: by default 200, or all test samples where there are fewer.
    """
    target.require()
    inputs = inputs_of(subject, options, samples, settings)  # may refuse: before there are files
    code = export(subject, options, folder / "export")
    note(f"{code.name}: building for {target.name}")
    program, footprint = build(code, target, folder / "build")
    few = len(inputs.labels) // (1 if subject.transform.measured else len(inputs.groups))
    if samples is None and few < SAMPLES:
        note(f"{code.name}: there are only {few} test samples: all of them are sent")
    note(f"{code.name}: {len(inputs.labels):,} inputs on {target.name}")
    found = emulate(program, code, target, inputs.groups)
    cycles = estimated_cycles(program, code, target, inputs.groups[0])
    return replace(
        _row(name or subject.name, subject.objective, target, options, footprint, found, inputs),
        estimated_cycles=cycles,
    )


def export(subject: Subject, options: Options, folder: Path) -> Code:
    """The C files of a run, and how the harness calls them."""
    report = exports.get("c")(subject, options, folder)
    name, upper = subject.name, subject.name.upper()
    configured = subject.is_scn and options.theta != "fixed"
    explicit = options.state == "explicit"
    first = "&state, " if explicit else ""
    beta = f"{first}alpha, beta" if options.in_blob else "alpha, beta"
    lines = [
        f'#include "{name}.h"',
        *([f"static {name}_state state;"] if explicit else []),
        f"#define SUBJECT_INPUT {name}_input",
        f"#define SUBJECT_INPUTS {upper}_INPUT_SIZE",
        f"#define SUBJECT_OUTPUTS {upper}_{meaning_of(subject).size}",
        f"#define SUBJECT_ALPHAS {f'{upper}_ALPHA_SIZE' if configured else 0}",
        f"#define SUBJECT_DIMS {upper}_DIMS",
        f"#define SUBJECT_BETA(alpha, beta) {name}_beta({beta})",
        f"#define SUBJECT_MIX(beta) {name}_mix({first}beta)",
        f"#define SUBJECT_CONFIGURE(alpha) {name}_configure({first}alpha)",
        f"#define SUBJECT_INFER(x, outputs) {name}_infer({first}x, outputs)",
    ]
    sources = [path for path in report.files if path.suffix == ".c"]
    if options.in_blob:
        sources.append(embedded(folder, name))
        lines += loading(name, options)
    return Code(
        name,
        tuple(sources),
        (folder,),
        "\n".join(lines) + "\n",
        inputs=int(np.prod(subject.shape)),
        outputs=subject.outputs,
        alphas=subject.transform.alpha_dim if configured else 0,
        dims=report.facts["dims"] if configured else 0,
    )


@torch.no_grad()
def inputs_of(subject: Subject, options: Options, samples: int | None, settings: int) -> Inputs:
    """So many test samples, spread over all of them, under each of so many settings.

    Where the settings were measured with the samples, each sample has its own. A network that is fixed to one
    setting is asked under that one.
    """
    dataset, transform = data.load(subject.data), subject.transform
    images, labels = dataset.split("test")
    if settings < 1:
        raise ScnError(f"at least 1 setting is needed, but {settings} were asked for")
    chosen = _spread(dataset.name, len(labels), samples)
    images, labels = to_float(images[chosen]), subject.objective.labels(labels[chosen])
    fixed = subject.params if options.theta == "fixed" and subject.is_scn else None
    pairs: list[tuple[Tensor, Tensor]]
    if transform.measured:
        readings = dataset.measured("test")[chosen]
        pairs = list(zip(images.split(1), transform.clamped(readings), strict=True))
    elif fixed is not None:
        pairs = [(images, fixed)]
    else:
        pairs = [(images, row) for row in transform.sample(settings, torch.Generator().manual_seed(0))]
    net = subject.network if isinstance(subject.network, SCN) and fixed is None else None
    groups, outputs, beta = [], [], []
    for group, params in pairs:
        x = subject.method.inputs(group, params, subject.normalisation).contiguous()
        alpha = torch.zeros(0) if net is None else transform.encode(params)
        groups.append(Group(alpha.numpy(), x.numpy()))
        outputs.append(subject.plain(params if fixed is None else fixed)(x))
        if net is not None:
            beta.append(net.beta(alpha))
    right = labels if transform.measured else torch.cat([labels] * len(pairs))
    return Inputs(groups, torch.cat(outputs), right, torch.stack(beta) if beta else None)


def _spread(name: str, count: int, asked: int | None) -> Tensor:
    """The samples to take, of `count`: as many as were asked for, or up to the usual number."""
    if count < 1:
        raise ScnError(f"{name} has no test samples to send")
    if asked is not None and not 1 <= asked <= count:
        raise ScnError(f"{name} has {count} test samples, but {asked} were asked for")
    return torch.linspace(0, count - 1, asked or min(SAMPLES, count)).round().long()


def _row(
    name: str,
    objective: Objective,
    target: Target,
    options: Options,
    footprint: Footprint,
    found: DeviceOutputs,
    inputs: Inputs,
) -> DeviceRow:
    ours, theirs = torch.from_numpy(found.outputs.copy()), inputs.outputs
    if not torch.isfinite(ours).all():
        raise Failed(f"{name} gives outputs that are not finite on {target.name}")
    predictions = objective.predictions(ours), objective.predictions(theirs)
    classes = are_classes(predictions[1])
    stack, counted = max(found.stack.values()), found.instructions
    beta = None if inputs.beta is None else np.abs(found.beta - inputs.beta.numpy()).max().item()
    return DeviceRow(
        name,
        target.name,
        _said(options),
        footprint.flash,
        footprint.weights,
        footprint.code,
        footprint.static + stack,
        footprint.static,
        stack,
        {k: round(float(v.mean())) for k, v in counted.items()} if counted else None,
        {k: (int(v.min()), int(v.max())) for k, v in counted.items()} if counted else None,
        max_difference=(ours - theirs).abs().max().item(),
        max_beta_difference=beta,
        agreement=agreement(*predictions) if classes else None,
        max_prediction_difference=None if classes else largest_difference(*predictions),
        scores=scores_of(objective, ours, inputs.labels),
        torch_scores=scores_of(objective, theirs, inputs.labels),
        inputs=len(inputs.labels),
        settings=len(inputs.groups),
    )


def _said(options: Options) -> dict[str, Any]:
    """The options that a row is of; where weights are is said if it is not the usual place."""
    left_out = {*BESIDE_THE_NETWORK, *([] if options.in_blob else ["weights_in"])}
    return {name: value for name, value in asdict(options).items() if name not in left_out}


def keep(folder: Path, row: DeviceRow) -> Path:
    """Write a row into the run's device.json, in place of one of the same target and options."""
    path = folder / DEVICE
    rows = json.loads(path.read_text())["rows"] if path.is_file() else []
    new = json.loads(json.dumps(row.to_json()))
    others = [old for old in rows if (old["target"], old["options"]) != (new["target"], new["options"])]
    runs.write_json(path, {"rows": [*others, new]})
    return path
