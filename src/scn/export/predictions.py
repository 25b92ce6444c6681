"""What the outputs of a network mean, by its objective: in Python, to compare predictions, and in C.

Classes are the place of the largest logit, and their names are there. Values are predicted by standardised
outputs, and a function gives them in their units. Outputs of any other objective stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from scn.export.pack import quoted
from scn.export.parts import Table
from scn.objectives import Classification, Objective, Regression

if TYPE_CHECKING:
    from scn.export.subject import Subject


TO_UNITS = """\
{head}
{{
    int i;
    for (i = 0; i < {size}; i++) {{
        values[i] = outputs[i] * scn_target_deviation[i] + scn_target_mean[i];
    }}
}}
"""


@dataclass(frozen=True)
class Meaning:
    """Of the outputs, in C: what they are called, and how the name of their number ends.

    `about` stands in the header's comment, `title` above a project; `declared` and `defined` are texts of C.
    """

    outputs: str
    size: str
    about: str
    title: str
    declared: list[str] = field(default_factory=list)
    defined: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


def meaning_of(subject: Subject, takes: str | None = None) -> Meaning:
    """What C code says about the outputs of a network. `takes`: parameters of a function that may refuse."""
    return next(
        make(subject, takes) for kind, make in MEANINGS.items() if isinstance(subject.objective, kind)
    )


def _classes(subject: Subject, takes: str | None) -> Meaning:
    name, count = subject.name, subject.outputs
    size = f"{name.upper()}_CLASSES"
    return Meaning(
        "logits",
        "CLASSES",
        f"logits: {count} floats, one for each class; the largest is the answer.",
        f"{count} classes",
        [f"extern const char *const {name}_class_names[{size}];\n"],
        [_names(f"{name}_class_names[{size}]", subject.classes)],
    )


def _values(subject: Subject, takes: str | None) -> Meaning:
    objective, name, count = subject.objective, subject.name, subject.outputs
    assert isinstance(objective, Regression)
    size, head = f"{name.upper()}_TARGETS", f"void {name}_values(const float *outputs, float *values)"
    if takes is not None:
        head = f"scn_status {name}_values({takes})"
    known = {"names": subject.target_names, "units": subject.target_units}
    listed = ", ".join(
        _in_comment(f"{said} in {unit}" if unit else said) for said, unit in zip(*known.values(), strict=True)
    )
    return Meaning(
        "outputs",
        "TARGETS",
        f"outputs: {count} floats, one for each target, of mean 0 and deviation 1;\n"
        f"   {name}_values gives them in units: {listed}.",
        f"{count} values",
        [
            f"/* The outputs of {name}_infer in units; both may be the same array. */\n{head};\n",
            *(f"extern const char *const {name}_target_{kind}[{size}];\n" for kind in known),
        ],
        [
            *(_names(f"{name}_target_{kind}[{size}]", texts) for kind, texts in known.items()),
            *([TO_UNITS.format(head=head, size=size)] if takes is None else []),
        ],
        [
            Table("float", f"scn_target_{kind}", torch.tensor(getattr(objective, kind)), "targets")
            for kind in ("mean", "deviation")
        ],
        {
            "targets": list(subject.target_names),
            "units": list(subject.target_units),
            "mean": list(objective.mean),
            "deviation": list(objective.deviation),
        },
    )


def _outputs(subject: Subject, takes: str | None) -> Meaning:
    count = subject.outputs
    return Meaning(
        "outputs", "OUTPUTS", f"outputs: {count} floats, as the network gives them.", f"{count} outputs"
    )


MEANINGS: dict[type[Any], Callable[[Subject, str | None], Meaning]] = {
    Classification: _classes,
    Regression: _values,
    Objective: _outputs,
}


def _in_comment(text: str) -> str:
    return " ".join(text.replace("*", " ").replace("\\", " ").split())


def _names(declared: str, texts: tuple[str, ...]) -> str:
    listed = ",\n    ".join(quoted(text) for text in texts)
    return f"const char *const {declared} = {{\n    {listed}\n}};\n"


def scores_of(objective: Objective, outputs: Tensor, labels: Tensor) -> dict[str, float]:
    """The scores of outputs (N, O), by their keys; the first is the one that counts."""
    means = objective.values(outputs, labels, objective.spread(labels)).mean(dim=0)
    return {score.key: value for score, value in zip(objective.scores, means.tolist(), strict=True)}


def are_classes(predictions: Tensor) -> bool:
    return not predictions.is_floating_point()


def agreement(ours: Tensor, theirs: Tensor) -> float:
    """How much of predictions stays: the share of equal classes, or of the variance of values."""
    if are_classes(theirs):
        return (ours == theirs).double().mean().item()
    theirs = theirs.double()
    error, variance = (ours - theirs).square().mean(dim=0), theirs.var(dim=0, correction=0)
    return float((1 - error / variance.clamp(min=torch.finfo(torch.float32).tiny)).mean())


def largest_difference(ours: Tensor, theirs: Tensor) -> float:
    """Between predicted values, in their units."""
    return (ours.double() - theirs.double()).abs().max().item()
