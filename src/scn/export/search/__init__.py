"""The search for alpha in C: what `scn.search` does in Python, sample by sample and without large buffers.

`plan` says what is searched (made of Python's own searches, which know nothing of C). Its code is a function
for each kind of plan: `bank` shows an input to the network under every candidate, `track` remembers what
earlier inputs said, `estimate` asks a second small network.
"""

from __future__ import annotations

from scn.core.errors import ScnError
from scn.core.network import SCN
from scn.export.base import Options
from scn.export.graph import Graph
from scn.export.parts import Parts
from scn.export.search import bank, estimate, track
from scn.export.search_plan import ByCandidates, ByEstimator, ByTracker, Plan
from scn.export.subject import Subject

WRITERS = {ByCandidates: bank.add, ByTracker: track.add, ByEstimator: estimate.add}


def check(subject: Subject, options: Options) -> None:
    """Refuse a search where there is nothing to find, or where it cannot be said in C."""
    plan = subject.search
    if plan is None:
        return
    if not isinstance(subject.network, SCN):
        raise ScnError("a network without base models is the same for every setting: leave out `search`")
    if subject.network.dims == 1:
        raise ScnError("a network with one base model is the same for every setting: leave out `search`")
    if options.theta == "fixed":
        raise ScnError("theta=fixed is one setting, and leaves none to be found: leave out `search`")
    if options.in_blob:
        raise ScnError("a search reads its weights in the code: leave out `weights_in`, or `search`")
    if options.inference == "int8" and not isinstance(plan, ByEstimator):
        raise ScnError(
            f"a search by {plan.way} compares outputs in floating point: use inference=float (weights=int8 "
            "may stay), or search=estimator"
        )


def add(parts: Parts, subject: Subject, options: Options, graph: Graph) -> None:
    """Add the tables and functions of the subject's search, where it has one."""
    if subject.search is not None:
        WRITERS[type(subject.search)](parts, subject, options, graph)


__all__ = ["ByCandidates", "ByEstimator", "ByTracker", "Plan", "add", "check"]
