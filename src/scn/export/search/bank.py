"""Every input is shown to the network under each of the candidates: their tables, and the functions."""

from __future__ import annotations

import torch
from torch import Tensor

from scn.core.network import SCN
from scn.export.base import Options
from scn.export.few import filled
from scn.export.graph import Graph
from scn.export.parts import Field, Parts
from scn.export.predictions import meaning_of
from scn.export.search.calls import add_calls, indented, template, words
from scn.export.search.shared import LABEL, USED, SharedCode
from scn.export.search_plan import ByCandidates
from scn.export.subject import Subject


def add(parts: Parts, subject: Subject, options: Options, graph: Graph) -> None:
    """A search that adds up what the inputs say of each candidate, and takes the best."""
    plan = subject.search
    assert isinstance(plan, ByCandidates)
    said = add_doubts(parts, subject, options, graph, plan)
    parts.add_floats("scn_candidate_alphas", plan.alphas, LABEL)
    count = len(plan.candidates)
    parts.enlarge(Field("float", "search_sums", count, LABEL))
    parts.enlarge(Field("uint32_t", "search_count", 1, LABEL))
    parts.search.defined.append(template("best", said))
    add_calls(subject, options, parts, {**said, "@SUMS@": str(count)})


def add_doubts(
    parts: Parts, subject: Subject, options: Options, graph: Graph, plan: ByCandidates
) -> dict[str, str]:
    """How badly each candidate explains an input; returns what templates say of this network."""
    code = SharedCode(graph, options)
    code.add_to(parts)
    parts.enlarge(Field("float", "search_doubts", len(plan.candidates), LABEL))
    parts.need("exp", "log", f"search_{plan.doubt}")
    shown = _add_candidates(parts, subject, plan, code)
    parts.search.declared.append(f"#define {subject.name.upper()}_CANDIDATES {len(plan.candidates)}\n")
    said = words(subject, options, parts, meaning_of(subject).size)
    text = template("doubts", {**said, "@X@": "const float *x, " if code.reads_x else ""})
    for place, statements, depth in (
        ("@EACH@", code.each, 1),
        ("@ONCE@", code.once, 1),
        ("@SHOWN@", shown, 2),
    ):
        text = text.replace(place, indented(statements, depth))
    parts.search.defined.append(filled(text, parts.few, parts.in_place))
    return said


def _add_candidates(parts: Parts, subject: Subject, plan: ByCandidates, code: SharedCode) -> list[str]:
    """Tables of the candidates; returns the statements that show one of them an input."""
    assert isinstance(subject.network, SCN)
    x = "x, " if code.reads_x else ""
    with torch.no_grad():
        betas = subject.network.beta(plan.alphas).float()
    parts.add_floats("scn_candidate_params", plan.candidates, LABEL)
    if code.shared:
        used = (betas != 0).any(dim=0).nonzero().squeeze(1)
        parts.add_numbers(USED, used, LABEL)
        parts.defines.append(f"#define SCN_USED {len(used)}")
    if not parts.few:
        parts.add_floats("scn_candidate_betas", betas, LABEL)
        return [f"scn_shown(s, {x}scn_candidate_betas + c * SCN_DIMS);"]
    shares, bases = _entries(betas)
    parts.add_floats("scn_candidate_shares", shares, LABEL)
    parts.add_numbers("scn_candidate_bases", bases, LABEL)
    parts.defines.append(f"#define SCN_ENTRIES {shares.shape[1]}")
    parts.search.defined.append(template("few", {}))
    return ["scn_few few;", "scn_candidate(c, &few);", f"scn_shown(s, {x}&few);"]


def _entries(betas: Tensor) -> tuple[Tensor, Tensor]:
    """(C, D) -> the coefficients that are not 0 and their base models, (C, E) each, filled up with zeros."""
    most = int((betas != 0).sum(dim=1).max())
    order = (betas != 0).int().argsort(dim=1, descending=True, stable=True)[:, :most]
    return betas.gather(1, order), order
