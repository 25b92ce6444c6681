"""Measure a run on a target: every answer beside that of torch, instructions by phase, flash and RAM."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from scn import data, runs
from scn.core.errors import Failed, ScnError
from scn.core.network import SCN
from scn.data import to_float
from scn.device.build import Code, Footprint, build
from scn.device.emulate import Answers, Group
from scn.device.emulate import run as emulate
from scn.device.targets import Target
from scn.export import Options, Subject
from scn.export import targets as exports

FILE = "device.json"


@dataclass(frozen=True)
class Inputs:
    """Test samples under settings: a group for each setting, with what torch answers and what is right."""

    groups: list[Group]
    logits: Tensor  # (N, classes), of torch
    labels: Tensor  # (N,)
    beta: Tensor | None  # (G, D), of torch; None where nothing is configured


@dataclass(frozen=True)
class Row:
    """One run on one target. Bytes; `ram` is static data and the stack at its deepest.

    `instructions` are means over all calls, `instructions_range` the least and the most of one call; both are
    None where the target cannot count. `accuracy` is on the inputs that were sent, not on all test data.
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
    agreement: float
    accuracy: float
    torch_accuracy: float
    inputs: int
    settings: int


def measure(
    subject: Subject,
    options: Options,
    target: Target,
    folder: Path,
    *,
    samples: int = 200,
    settings: int = 8,
    name: str | None = None,
    note: Callable[[str], None] = lambda message: None,
) -> Row:
    """Export, build, run and compare. All files go into `folder`."""
    target.require()
    code = export(subject, options, folder / "export")
    note(f"{code.name}: building for {target.name}")
    program, footprint = build(code, target, folder / "build")
    inputs = inputs_of(subject, options, samples, settings)
    note(f"{code.name}: {len(inputs.labels):,} inputs on {target.name}")
    answers = emulate(program, code, target, inputs.groups)
    return _row(name or subject.name, target, options, footprint, answers, inputs)


def export(subject: Subject, options: Options, folder: Path) -> Code:
    """The C files of a run, and how the harness calls them."""
    folder.mkdir(parents=True, exist_ok=True)
    report = exports.get("c")(subject, options, folder)
    name, upper = subject.name, subject.name.upper()
    configured = subject.is_scn and options.theta != "fixed"
    explicit = options.state == "explicit"
    first = "&state, " if explicit else ""
    lines = [
        f'#include "{name}.h"',
        *([f"static {name}_state state;"] if explicit else []),
        f"#define SUBJECT_INPUT {name}_input",
        f"#define SUBJECT_INPUTS {upper}_INPUT_SIZE",
        f"#define SUBJECT_CLASSES {upper}_CLASSES",
        f"#define SUBJECT_ALPHAS {f'{upper}_ALPHA_SIZE' if configured else 0}",
        f"#define SUBJECT_DIMS {upper}_DIMS",
        f"#define SUBJECT_BETA(alpha, beta) {name}_beta(alpha, beta)",
        f"#define SUBJECT_MIX(beta) {name}_mix({first}beta)",
        f"#define SUBJECT_CONFIGURE(alpha) {name}_configure({first}alpha)",
        f"#define SUBJECT_INFER(x, logits) {name}_infer({first}x, logits)",
    ]
    return Code(
        name,
        tuple(path for path in report.files if path.suffix == ".c"),
        (folder,),
        "\n".join(lines) + "\n",
        inputs=int(np.prod(subject.shape)),
        classes=len(subject.classes),
        alphas=subject.transform.alpha_dim if configured else 0,
        dims=report.facts["dims"] if configured else 0,
    )


@torch.no_grad()
def inputs_of(subject: Subject, options: Options, samples: int, settings: int) -> Inputs:
    """So many test samples, spread over all of them, under each of so many settings.

    Where the settings were measured with the samples, each sample has its own. A network that is fixed to one
    setting is asked under that one.
    """
    dataset, transform = data.load(subject.data), subject.transform
    images, labels = dataset.split("test")
    if not 1 <= samples <= len(labels):
        raise ScnError(f"{dataset.name} has {len(labels)} test samples, but {samples} were asked for")
    if settings < 1:
        raise ScnError(f"at least 1 setting is needed, but {settings} were asked for")
    chosen = torch.linspace(0, len(labels) - 1, samples).round().long()
    images, labels = images[chosen], labels[chosen]
    fixed = subject.params if options.theta == "fixed" and subject.is_scn else None
    pairs: list[tuple[Tensor, Tensor]]
    if transform.measured:
        readings = dataset.measured("test")
        pairs = list(zip(to_float(images).split(1), transform.clamped(readings[chosen]), strict=True))
    elif fixed is not None:
        pairs = [(transform.apply(to_float(images), fixed), fixed)]
    else:
        rows = transform.sample(settings, torch.Generator().manual_seed(0))
        pairs = [(transform.apply(to_float(images), row), row) for row in rows]
    net = subject.network if isinstance(subject.network, SCN) and fixed is None else None
    groups, logits, beta = [], [], []
    for changed, params in pairs:
        x = subject.normalisation(subject.method.see(changed, params)).contiguous()
        alpha = torch.zeros(0) if net is None else transform.encode(params)
        groups.append(Group(alpha.numpy(), x.numpy()))
        logits.append(subject.plain(params if fixed is None else fixed)(x))
        if net is not None:
            beta.append(net.beta(alpha))
    right = labels if transform.measured else labels.repeat(len(pairs))
    return Inputs(groups, torch.cat(logits), right, torch.stack(beta) if beta else None)


def _row(
    name: str, target: Target, options: Options, footprint: Footprint, answers: Answers, inputs: Inputs
) -> Row:
    ours, theirs = torch.from_numpy(answers.logits.copy()), inputs.logits
    if not torch.isfinite(ours).all():
        raise Failed(f"{name} answers with values that are not finite on {target.name}")
    classes, labels = ours.argmax(dim=1), inputs.labels
    stack, counted = max(answers.stack.values()), answers.instructions
    beta = None if inputs.beta is None else np.abs(answers.beta - inputs.beta.numpy()).max().item()
    return Row(
        name,
        target.name,
        {name: value for name, value in asdict(options).items() if name != "sensor"},
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
        agreement=(classes == theirs.argmax(dim=1)).double().mean().item(),
        accuracy=(classes == labels).double().mean().item(),
        torch_accuracy=(theirs.argmax(dim=1) == labels).double().mean().item(),
        inputs=len(labels),
        settings=len(inputs.groups),
    )


def keep(folder: Path, row: Row) -> Path:
    """Write a row into the run's device.json, in place of one of the same target and options."""
    path = folder / FILE
    rows = json.loads(path.read_text())["rows"] if path.is_file() else []
    new = json.loads(json.dumps(asdict(row)))
    others = [old for old in rows if (old["target"], old["options"]) != (new["target"], new["options"])]
    runs.write_json(path, {"rows": [*others, new]})
    return path
