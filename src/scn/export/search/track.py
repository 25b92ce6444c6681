"""A Bayes filter over a grid of settings: what earlier inputs said spreads as the setting may have moved."""

from __future__ import annotations

import torch

from scn.export.base import Options
from scn.export.graph import Graph
from scn.export.pack import exact
from scn.export.parts import Field, Parts
from scn.export.search.bank import add_doubts
from scn.export.search.calls import template
from scn.export.search.shared import LABEL
from scn.export.search_plan import Axis, ByTracker
from scn.export.state import parameter
from scn.export.subject import Subject

BEGIN = "/* Forget what is believed: any setting is as likely as any other. */\n"
TRACK = """\
/* One more input of a stream: the setting that is believed then, and if their pointers are not null the
   standard deviation of the belief in each parameter, and whether it is lost, spread over several places.
   SCN_BAD_INPUT: x could not be used; time has passed all the same, and the belief has spread. SCN_BUSY:
   nothing has happened. The configuration is not changed. */
"""


def add(parts: Parts, subject: Subject, options: Options, graph: Graph) -> None:
    """A tracker of the plan, whose state is the belief."""
    plan, name = subject.search, subject.name
    assert isinstance(plan, ByTracker)
    count = len(plan.candidates)
    said = add_doubts(parts, subject, options, graph, plan) | {
        "@AXES@": ", ".join(_axis(parts, number, axis) for number, axis in enumerate(plan.axes)),
        "@NEAR@": exact(plan.near),
        "@ENOUGH@": exact(plan.enough),
        "@STAYS@": exact(1 - plan.jump),
        "@JUMPS@": exact(plan.jump / count),
        "@COLD@": exact(1 / plan.temperature),
    }
    parts.enlarge(Field("float", "track_belief", count, LABEL))
    parts.enlarge(Field("uint32_t", "track_begun", 1, LABEL))
    takes = {
        "track_begin": (BEGIN, ""),
        "track": (TRACK, f"const {name}_input *x, float *params, float *spread, int *lost"),
    }
    for call, (about, rest) in takes.items():
        parts.search.names.append(f"{name}_{call}")
        parts.search.declared.append(f"{about}scn_status {name}_{call}({parameter(name, options, rest)});\n")
    parts.search.defined.append(template("track", said))


def _axis(parts: Parts, number: int, axis: Axis) -> str:
    tables = {"kernel": axis.kernel, "norms": axis.norms.to(torch.float32)}
    names = [parts.add_floats(f"scn_{key}_{number}", values, LABEL) for key, values in tables.items()]
    ends = [exact(axis.low), exact(axis.span)]
    sizes = [int(axis.circle), axis.steps, len(axis.kernel) - 1]
    return f"{{{', '.join([*names, *ends, *map(str, sizes)])}}}"
