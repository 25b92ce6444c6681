"""What was found as pages and tables: of one entry, and of all claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from scn.plots.style import label
from scn.reproduce import published
from scn.reproduce.claims import CLAIMS, of_entry
from scn.reproduce.entries import ENTRIES
from scn.reproduce.evidence import Evidence, NotMeasured, Reached, Values, in_words
from scn.reproduce.late_gain import GRANTED
from scn.reproduce.parts import FULL, PaperEntry
from scn.reproduce.verdicts import ERRORS, FAILS, HOLDS, ONE_SEED, OPEN, Judgement

COLUMNS = (
    "task", "network", "score", "deviation", "seeds", "worst setting", "published", "epochs", "minutes",
    "late gain", "weights used", "weights stored", "training samples", "test samples", "preset",
)  # fmt: skip


def named(row: Reached) -> str:
    """A row of a table in words."""
    more = [row.map] if row.map else []
    more += [in_words(row.sizes)] if row.sizes else []
    more += [] if row.configurable == "*" else [row.configurable]
    more += ["trained for search"] if row.for_search else []
    more += [] if row.fixed is None else [f"for {', '.join(f'{v:g}' for v in row.fixed)}"]
    return label(row.method, row.dims, ", ".join(more))


def table_rows(evidence: Evidence) -> Iterator[list[Any]]:
    """Our values, and beside them the published ones."""
    yield list(COLUMNS)
    for row in evidence.rows:
        values = Values(tuple(row.means))
        yield [
            row.task,
            named(row),
            f"{values.mean:.4f}",
            f"{values.std:.4f}" if len(row.means) > 1 else "",
            len(row.seeds),
            f"{min(row.worst):.4f}",
            _published(evidence.entry, row),
            row.epochs,
            "" if row.seconds is None else f"{row.epochs * row.seconds / 60:.1f}",
            "" if row.late_gain is None else f"{row.late_gain:+.4f}",
            row.used,
            row.stored,
            _part(row, "train"),
            _part(row, "test"),
            row.preset,
        ]


def _published(entry: str, row: Reached) -> str:
    """The score that was published for this row, if one was."""
    if row.map not in ("", "learned") or row.for_search:
        return ""
    for one in published.scores(entry):
        setting = None if one.setting is None else list(one.setting)
        if (one.task, one.method, one.dims, setting) == (row.task, row.method, row.dims, row.fixed):
            return f"{one.value:.4f}"
    return ""


def _part(row: Reached, name: str) -> str:
    used, there = row.samples[name], row.of[name]
    whole = published.samples().get(row.task.rpartition("/")[2])
    official = whole[0 if name == "train" else 1] if whole else there
    known = max(there, official)
    return f"{used:,}" if used >= 0.95 * known else f"{used:,} of {known:,}"


def markdown(rows: Iterator[list[Any]]) -> str:
    """Rows as a table, the first of them its head."""
    lines = [f"| {' | '.join(str(value) for value in row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * lines[0].count(" | ") + "---|", *lines[1:]])


def table_page(entry: PaperEntry, evidence: Evidence) -> str:
    return f"# {entry.name}\n\n{_head(entry, evidence)}\n\n{markdown(table_rows(evidence))}\n"


def _head(entry: PaperEntry, evidence: Evidence) -> str:
    """What stands above every table."""
    presets = ", ".join(dict.fromkeys(row.preset for row in evidence.rows))
    recipe = "the published recipe" if evidence.budget == FULL else "our recipe"
    lines = [
        f"{entry.shows[0].upper()}{entry.shows[1:]}.",
        f"Budget `{evidence.budget}`: {recipe}, preset {presets}; SCNs have the published map (`learned`) "
        "unless another is named.",
    ]
    source = published.source(entry.name)
    lines += (
        [f"Published: {source}."] if source else ["No numbers of this figure were published, only curves."]
    )
    return "\n".join(lines + ([f"Note: {entry.note}."] if entry.note else []))


def judged(evidence: Evidence) -> dict[str, Judgement]:
    """Every claim that an entry decides, by name."""
    return {claim.name: claim.judge(evidence) for claim in of_entry(evidence.entry)}


def values_judged(evidence: Evidence) -> list[dict[str, Any]]:
    """Every published score beside ours."""
    found = []
    for one in published.scores(evidence.entry):
        judgement = one.judge(evidence)
        measured: dict[str, Any]
        try:
            ours = one.ours(evidence)
            measured = {"ours": ours.mean, "std": ours.std, "seeds": len(ours.by_seed)}
        except NotMeasured:
            measured = {"ours": None, "std": None, "seeds": 0}
        where = None if one.setting is None else list(one.setting)
        known = {
            "task": one.task,
            "network": label(one.method, one.dims),
            "setting": where,
            "published": one.value,
        }
        found.append({**known, **measured, "verdict": judgement.verdict, "why": judgement.why})
    return found


def verdicts(evidence: Evidence) -> dict[str, Any]:
    """verdict.json: what holds, with our values and the published ones."""
    claims = [
        {"name": claim.name, "says": claim.says, "where": claim.where, "verdict": j.verdict, "why": j.why}
        for claim in of_entry(evidence.entry)
        for j in [claim.judge(evidence)]
    ]
    return {
        "entry": evidence.entry,
        "budget": evidence.budget,
        "source": published.source(evidence.entry),
        "claims": claims,
        "values": values_judged(evidence),
    }


def verdict_page(entry: PaperEntry, evidence: Evidence) -> str:
    """verdict.md."""
    found = verdicts(evidence)
    parts = [f"# {entry.name}: what holds", _head(entry, evidence)]
    claims: list[list[Any]] = [["claim", "verdict", "why"]]
    claims += [[f"{c['says']} ({c['where']})", c["verdict"], c["why"]] for c in found["claims"]]
    parts.append(
        markdown(iter(claims)) if len(claims) > 1 else "The paper says nothing of it that could be checked."
    )
    values: list[list[Any]] = [["network", "setting", "ours", "published", "verdict", "why"]]
    values += [
        [
            f"{v['network']}, {v['task']}",
            _setting(v["setting"]),
            _number(v["ours"]),
            v["published"],
            v["verdict"],
            v["why"],
        ]
        for v in found["values"]
    ]
    if len(values) > 1:
        parts.append(f"Published scores, reached where ours are at most {published.NEAR} below.")
        parts.append(markdown(iter(values)))
    return "\n\n".join(parts) + "\n"


def _setting(setting: list[float] | None) -> str:
    return "all" if setting is None else ", ".join(f"{value:g}" for value in setting)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def claims_page(known: Mapping[str, Evidence]) -> str:
    """docs/claims.md: every claim, what we measured of it, and the verdict."""
    judgements = {
        claim.name: claim.judge(known[claim.entry])
        if claim.entry in known
        else Judgement(OPEN, f"not measured yet: `scn reproduce {claim.entry}` does it")
        for claim in CLAIMS
    }
    counts = Counter(judgement.verdict for judgement in judgements.values())
    unknown = sum(claim.entry not in known for claim in CLAIMS)
    counted = f"{counts[HOLDS]} hold, {counts[FAILS]} do not hold, {counts[OPEN]} are not decided"
    parts = [
        "# Claims of the paper",
        "What the paper says that can be checked, in our words, and what our runs say of it. This page is "
        "made by `scn reproduce claims` from what [`scn reproduce`](reproduce.md) measured: nothing on it is "
        f"written by hand. A difference decides where it is larger than {ERRORS:g} standard errors over the "
        f"seeds, or, with one seed, than {ONE_SEED:g}. What does not hold would not hold either if networks "
        f"went on and gained {GRANTED:g} times what the last fifth of their training gave (the late gain).",
        f"Of {len(CLAIMS)} claims {counted}, {unknown} of these because nothing was measured yet.",
    ]
    for entry in ENTRIES.values():
        rows: list[list[Any]] = [["claim", "verdict", "evidence"]]
        rows += [
            [f"{c.says} ({c.where})", f"**{judgements[c.name].verdict}**", judgements[c.name].why]
            for c in of_entry(entry.name)
        ]
        if len(rows) > 1:
            parts += [
                f"## {entry.name}",
                f"{entry.shows[0].upper()}{entry.shows[1:]}. {_budget(known, entry)}",
            ]
            parts += [markdown(iter(rows))]
            parts += _reached(known, entry)
    return "\n\n".join(parts) + "\n"


def _budget(known: Mapping[str, Evidence], entry: PaperEntry) -> str:
    note = f" {entry.note[0].upper()}{entry.note[1:]}." if entry.note else ""
    if entry.name not in known:
        return f"Not measured yet.{note}"
    presets = ", ".join(dict.fromkeys(row.preset for row in known[entry.name].rows))
    return f"Budget `{known[entry.name].budget}`, map `learned`, preset {presets}.{note}"


def _reached(known: Mapping[str, Evidence], entry: PaperEntry) -> list[str]:
    """How many published scores are reached."""
    if entry.name not in known or not published.scores(entry.name):
        return []
    found = Counter(value["verdict"] for value in values_judged(known[entry.name]))
    counted = f"{found[HOLDS]} of {found.total()} ({found[FAILS]} not, {found[OPEN]} not decided)"
    return [f"Published scores reached: {counted}."]
