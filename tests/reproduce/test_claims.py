"""Claims are a table: every row has an entry, a check that works, and a place on the page."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from made_evidence import evidence, row, scns

from scn.reproduce import published
from scn.reproduce.carry import all_evidence
from scn.reproduce.claims import CLAIMS, of_entry
from scn.reproduce.entries import ENTRIES
from scn.reproduce.evidence import Evidence
from scn.reproduce.pages import claims_page, table_page, table_rows, verdict_page, verdicts
from scn.reproduce.parts import SIGNS
from scn.reproduce.special_checks import cheaper_than_as_good, reconfiguring_is_cheap, sizes_as_said
from scn.reproduce.verdicts import FAILS, HOLDS, OPEN


def test_every_claim_belongs_to_an_entry_and_has_a_name_of_its_own() -> None:
    assert {claim.entry for claim in CLAIMS} <= ENTRIES.keys()
    assert [name for name, count in Counter(claim.name for claim in CLAIMS).items() if count > 1] == []
    for claim in CLAIMS:
        assert set(claim.tasks) <= {part.task for part in ENTRIES[claim.entry].parts}


def test_every_entry_but_samples_decides_something() -> None:
    assert [name for name in ENTRIES if not of_entry(name)] == ["transforms"]


def test_every_claim_is_open_where_nothing_was_measured() -> None:
    for claim in CLAIMS:
        assert claim.judge(Evidence(claim.entry, "cpu", [])).verdict == OPEN


def test_published_scores_are_of_tasks_that_their_entries_have() -> None:
    for name, entry in ENTRIES.items():
        for score in published.scores(name):
            assert score.task in {part.task for part in entry.parts}
            assert 0 < score.value < 1
            assert score.source


def test_the_page_says_all_claims_and_counts_them() -> None:
    rows = [*scns({1: (0.75, 0.75), 3: (0.83, 0.83), 8: (0.86, 0.86)}), row("one4all", 0.75, 0.75)]
    page = claims_page({"rotation": evidence(*rows)})
    assert all(claim.says in page for claim in CLAIMS)
    assert "`scn reproduce scaling` does it" in page
    assert f"Of {len(CLAIMS)} claims 4 hold, 0 do not hold" in page
    assert "Published scores reached: 4 of 11" in page


def test_a_verdict_has_our_values_beside_the_published_ones() -> None:
    found = evidence(*scns({8: (0.86, 0.87)}), row("one4all", 0.75))
    (ours,) = [v for v in verdicts(found)["values"] if v["network"] == "SCN D=8"]
    assert (ours["ours"], ours["published"], ours["seeds"], ours["verdict"]) == (0.865, 0.86, 2, HOLDS)
    page = verdict_page(ENTRIES["rotation"], found)
    assert "preset default" in page
    assert "`learned`" in page
    assert "| 0.8650 | 0.86 | holds |" in page


def test_a_table_says_subsets_and_published_scores() -> None:
    part = evidence(*scns({8: (0.86,)}, samples={"train": 64, "test": 10_000}))
    head, only = table_rows(part)
    told = dict(zip(head, only, strict=True))
    assert (told["training samples"], told["test samples"]) == ("64 of 60,000", "10,000")
    assert told["published"] == "0.8600"
    assert "SCN D=8, learned" in table_page(ENTRIES["rotation"], part)


def test_sizes_are_those_of_the_formula() -> None:
    right = 3 * 100 + 64 * 3 + 65 * 3
    for stored, verdict in ((right, HOLDS), (right + 100, FAILS)):
        assert sizes_as_said(evidence(*scns({3: (0.8,)}, stored=stored))).verdict == verdict


def on_device(infer: float, change: float = 10.0) -> dict[str, list[float]]:
    counted = {"infer": infer, "hypernet": change, "configure": change}
    return {f"instructions of {phase}": [count] for phase, count in counted.items()}


def test_a_plain_network_is_compared_that_is_as_accurate() -> None:
    rows = [
        row("scn", 0.63, 0.65, dims=3, task=SIGNS, facts=on_device(100)),
        row("one4all", 0.45, 0.46, task=SIGNS, facts=on_device(100), used=10),
        row("one4all", 0.66, 0.67, task=SIGNS, facts=on_device(300), used=30, sizes={"width": 36}),
        row("one4all", 0.71, 0.72, task=SIGNS, facts=on_device(900), used=90, sizes={"width": 48}),
    ]
    found = cheaper_than_as_good("inference_time_ratio", "instructions of infer")(evidence(*rows))
    assert found.verdict == FAILS
    assert found.why == "3.00 times as much for One4All of width 36; published 7.6"


def test_reconfiguring_is_counted_with_the_map() -> None:
    for change, verdict in ((1.0, HOLDS), (100.0, FAILS)):
        found = evidence(row("scn", 0.6, dims=3, task=SIGNS, facts=on_device(100, change)))
        assert reconfiguring_is_cheap(SIGNS)(found).verdict == verdict


DOCS = Path(__file__).parents[2] / "docs"


def test_the_documented_claims_and_tables_follow_from_the_evidence_beside_them() -> None:
    known = all_evidence(DOCS / "paper")
    assert {found.budget for found in known.values()} == {"cpu"}
    assert (DOCS / "claims.md").read_text() == claims_page(known)
    for name, found in known.items():
        assert (DOCS / "paper" / name / "table.md").read_text() == table_page(ENTRIES[name], found), name
