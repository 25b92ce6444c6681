"""`scn device` takes what there is: few test samples, and runs whose configuration counts none."""

from __future__ import annotations

import json
from pathlib import Path

from commands import run
from needs import tool


def test_all_samples_are_sent_where_there_are_fewer_than_usual(small_run: Path) -> None:
    tool("gcc")
    result = run("device", str(small_run), "--target", "host", "--settings", "2", "--json")
    assert result.code == 0, result.err
    (row,) = json.loads(result.out)["rows"]
    assert (row["inputs"], row["settings"]) == (80, 2)
    assert "only 40 test samples: all of them are sent" in " ".join(result.err.split())


def test_more_samples_than_there_are_cannot_be_asked_for(small_run: Path) -> None:
    tool("gcc")
    result = run("device", str(small_run), "--target", "host", "--samples", "41")
    assert (result.code, "has 40 test samples, but 41 were asked for" in result.err) == (2, True)


def test_a_run_without_sample_counts_is_exported_and_measured(small_run: Path, tmp_path: Path) -> None:
    """As `scn import` writes them."""
    tool("gcc")
    path = small_run / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "samples": {}, "checksum": ""}))
    result = run("device", str(small_run), "--target", "host", "--samples", "5", "--settings", "1")
    assert result.code == 0, result.err
    for target in ("c", "arduino", "esp-idf"):
        options = ("--weights", "int8", "--inference", "int8")
        result = run("export", str(small_run), "--to", target, *options, "-o", str(tmp_path / target))
        assert result.code == 0, result.err
