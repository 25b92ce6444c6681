"""`scn reproduce`: what is missing is trained once, for all that need it, and the rest is read."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands import in_this_process, run
from scn.experiment import compare
from scn.experiment import train as training
from scn.reproduce import costs
from scn.reproduce.carry import read_evidence
from scn.reproduce.entries import ENTRIES
from scn.reproduce.parts import PaperEntry, Part
from scn.reproduce.plan import plan, wanted

DIGITS = "rotation/mlp/digits"
SMALL = PaperEntry(
    "small",
    "a figure of digits",
    (Part(DIGITS, dims=((1, 3), (3,), (3,)), alone=((0.0,), (90.0,), (180.0,))),),
    ("accuracy", "violin", "beta", "specialisation", "settings"),
    ("beta", "frozen"),
)
OTHER = PaperEntry("other", "another", (Part(DIGITS, ("scn", "one4all"), ((3, 5), (3,), (3,))),))
ALONE = PaperEntry("alone", "what is not here", (Part("speed/m5/speech-commands", ("one4all",)),))
MADE = {"small": SMALL, "other": OTHER, "alone": ALONE}


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Three small entries in the place of the paper's, and no data but the digits."""
    for name in list(ENTRIES):
        monkeypatch.delitem(ENTRIES, name)
    for name, entry in MADE.items():
        monkeypatch.setitem(ENTRIES, name, entry)
    monkeypatch.setenv("SCN_DATA_DIR", str(tmp_path / "nothing"))
    with in_this_process():
        yield


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all runs that are trained from now on."""
    names: list[str] = []
    before = training.train

    def train(run: Any, *more: Any, **options: Any) -> Any:
        names.append(run.folder.name)
        return before(run, *more, **options)

    monkeypatch.setattr(compare, "train", train)
    return names


def make(name: str, folder: Path, *more: str) -> dict[str, Any]:
    result = run("reproduce", name, "--budget", "smoke", "-o", str(folder), "--json", "--quiet", *more)
    assert result.code == 0, result.err
    content: dict[str, Any] = json.loads(result.out)
    return content


def test_an_entry_is_trained_drawn_and_judged_and_then_read(tmp_path: Path, trained: list[str]) -> None:
    content = make("small", tmp_path)
    assert [row["entry"] for row in content["rows"]] == ["small"]
    assert len(trained) == 6  # D=1 and 3, One4All, Inverse, and One4One at two of its settings
    place = tmp_path / "small"
    for name in SMALL.figures:
        assert (place / f"{name}.png").stat().st_size > 5_000
        assert len((place / f"{name}.csv").read_text().splitlines()) > 4
    assert json.loads((place / "verdict.json").read_text())["budget"] == "smoke"
    assert "preset default" in (place / "verdict.md").read_text()
    lines = (place / "table.csv").read_text().splitlines()
    networks = [row["network"] for row in csv.DictReader(lines)]
    assert networks == [
        "SCN D=1, learned, width 32, depth 1",
        "SCN D=3, learned, width 32, depth 1",
        "One4All, width 32, depth 1",
        "Inverse, width 32, depth 1",
        "One4One, width 32, depth 1",
    ]
    evidence, _ = read_evidence(tmp_path, "small") or (None, "")
    assert evidence is not None
    (of_three,) = [row for row in evidence.rows if row.dims == 3]
    assert of_three.facts["largest change of beta"][0] < 0.2
    assert 0 <= of_three.facts["at home"][0] <= 1

    trained.clear()
    drawn = (place / "beta.png").stat().st_mtime_ns
    began = time.monotonic()
    assert make("small", tmp_path) == content
    assert time.monotonic() - began < 10
    assert trained == []
    assert (place / "beta.png").stat().st_mtime_ns == drawn

    make("other", tmp_path)
    assert [name.split("-")[3:6] for name in trained] == [["scn", "learned", "d5"]]  # the rest is shared


def test_evidence_of_another_version_is_measured_anew_of_the_same_runs(
    tmp_path: Path, trained: list[str]
) -> None:
    make("other", tmp_path)
    path, count = tmp_path / "other" / "evidence.json", len(trained)
    path.write_text(path.read_text().replace('"version": ', '"version": 1000'))
    assert read_evidence(tmp_path, "other") is None
    make("other", tmp_path)
    assert read_evidence(tmp_path, "other") is not None
    assert len(trained) == count


def test_more_seeds_train_what_is_missing(tmp_path: Path, trained: list[str]) -> None:
    make("other", tmp_path)
    make("other", tmp_path, "--seeds", "2")
    assert len(trained) == 6
    evidence, _ = read_evidence(tmp_path, "other") or (None, "")
    assert evidence is not None
    assert [row.seeds for row in evidence.rows] == [[0, 1], [0, 1], [0, 1]]


def test_what_was_interrupted_goes_on(
    tmp_path: Path, trained: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, asked = compare.carry_out, []

    def stopped(folder: Path, job: Any) -> Any:
        asked.append(job.name)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return before(folder, job)

    with monkeypatch.context() as patch:
        patch.setattr(compare, "carry_out", stopped)
        result = run("reproduce", "other", "--budget", "smoke", "-o", str(tmp_path), "--quiet")
    assert result.code == 130
    assert "the same command goes on" in result.err
    assert not (tmp_path / "other").exists()
    listed = json.loads(run("reproduce", "list", "--budget", "smoke", "-o", str(tmp_path), "--json").out)
    assert [row["done"] for row in listed["rows"] if row["name"] == "other"] == ["1 of 3 models"]
    make("other", tmp_path)
    assert len(trained) == len(set(trained)) == 3


def test_all_goes_on_without_what_is_not_here_and_names_it(tmp_path: Path) -> None:
    result = run("reproduce", "all", "--budget", "smoke", "-o", str(tmp_path), "--json", "--quiet")
    assert result.code == 1
    assert "1 of 3 could not be done: alone" in result.err
    content = json.loads(result.out)
    assert [row["entry"] for row in content["rows"]] == ["small", "other"]
    assert "scn data get speech-commands" in content["missed"][0]["reason"]
    assert (tmp_path / "claims.md").is_file()
    listed = json.loads(run("reproduce", "list", "--budget", "smoke", "-o", str(tmp_path), "--json").out)
    done = {row["name"]: row["done"] for row in listed["rows"]}
    assert (done["small"], done["other"]) == ("done (smoke)", "done (smoke)")
    assert "scn data get speech-commands" in done["alone"]


def test_one_entry_without_its_data_says_which_are_missing(tmp_path: Path) -> None:
    result = run("reproduce", "alone", "--budget", "smoke", "-o", str(tmp_path), "--quiet")
    assert result.code == 2
    assert "scn data get speech-commands" in result.err


def test_a_shorter_budget_does_not_replace_a_longer_one(tmp_path: Path) -> None:
    make("other", tmp_path)
    path = tmp_path / "other" / "evidence.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "budget": "cpu"}))
    result = run("reproduce", "other", "--budget", "smoke", "-o", str(tmp_path), "--quiet")
    assert result.code == 2
    assert "holds the result of the budget cpu" in result.err


def test_damaged_evidence_is_named(tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "evidence.json").write_text("{")
    result = run("reproduce", "claims", "-o", str(tmp_path))
    assert result.code == 2
    assert "the same command makes it anew" in result.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("smalll",), 'there is no figure or table "smalll"'),
        (("small", "--budget", "gpu"), 'there is no budget "gpu"'),
        (("small", "--engine", "smoke-signals"), "smoke-signals"),
        (("small", "--seeds", "0"), "seeds"),
    ],
)
def test_unknown_names_are_refused(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    result = run("reproduce", *arguments, "-o", str(tmp_path), "--quiet")
    assert result.code == 2
    assert said in result.err


def test_claims_are_a_page_of_what_is_there(tmp_path: Path) -> None:
    result = run("reproduce", "claims", "-o", str(tmp_path))
    assert result.code == 0
    assert result.out.startswith("# Claims of the paper")
    assert json.loads(run("reproduce", "claims", "-o", str(tmp_path), "--json").out) == {"rows": []}


def test_what_entries_share_is_counted_once() -> None:
    both, apart = costs.cost([SMALL, OTHER], "smoke"), [costs.cost([e], "smoke") for e in (SMALL, OTHER)]
    assert [cost.models for cost in apart] == [6, 3]
    assert both.models == 7
    assert both.seconds is None  # digits are not in the table


def test_every_run_of_a_plan_has_the_name_of_its_content() -> None:
    names = [one.job.name for one in plan(OTHER, "smoke")]
    assert len(set(names)) == 3
    assert names == [one.job.name for one in plan(replace(OTHER, name="same"), "smoke")]


@pytest.mark.parametrize(
    ("seconds", "said"), [(None, "?"), (0.2, "1 s"), (90, "1.5 min"), (7200 * 30, "2.5 d")]
)
def test_times_are_said_in_words(seconds: float | None, said: str) -> None:
    assert costs.words(seconds) == said


def test_an_epoch_is_timed_here() -> None:
    (one, *_) = wanted(OTHER, "smoke")
    assert 0 < costs.seconds_of_epoch(one.chosen, 3) < 60
