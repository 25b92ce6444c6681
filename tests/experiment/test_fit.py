"""What fits a device: the sizes are those of the export, of each kind the largest that fits is compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import run
from scn import runs
from scn.core.errors import ScnError
from scn.core.registry import allow
from scn.experiment import fit
from scn.experiment.choice import choose
from scn.experiment.fit import Limits, Size
from scn.export import Options
from scn.export.c import generate
from scn.export.subject import subject_of

SMALL = ("--epochs", "1", "--batch-size", "64", "--seeds", "1", "--step", "90")


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("flash=64k,ram=16k", Limits(65_536, 16_384)),
        ("ram=900", Limits(None, 900)),
        ("flash = 1.5M", Limits(1_572_864, None)),
        ("RAM=8kB,flash=2mb", Limits(2_097_152, 8_192)),
    ],
)
def test_limits_are_read(text: str, limits: Limits) -> None:
    assert Limits.read(text) == limits


@pytest.mark.parametrize(
    "text", ["", "64k", "rom=64k", "flash=", "flash=.", "flash=1.2.3", "flash=-1", "ram=4g"]
)
def test_what_is_no_limit_is_named(text: str) -> None:
    with pytest.raises(ScnError, match="takes limits such as flash=64k,ram=16k, but got '"):
        Limits.read(text)


def test_two_limits_of_one_kind_are_refused() -> None:
    with pytest.raises(ScnError, match="two limits for ram"):
        Limits.read("ram=1k,ram=2k")


def test_a_limit_that_is_met_exactly_holds() -> None:
    assert Limits(100, 50).hold(Size(100, 50))
    assert not Limits(100, 50).hold(Size(101, 50))
    assert not Limits(100, 50).hold(Size(100, 51))
    assert Limits(ram=50).hold(Size(10**9, 50))


@pytest.mark.parametrize(("method", "subspace"), [("scn", "factored:8"), ("scn", "full"), ("one4all", None)])
def test_sizes_are_those_of_the_exported_network(method: str, subspace: str | None, tmp_path: Path) -> None:
    choice = choose(data="digits", transform="rotation", width=8, changes={"epochs": 1, "batch_size": 64})
    more = {"dims": 3, "subspace": subspace} if method == "scn" else {}
    config = choice.config(method, **more)
    said = [f"--subspace={subspace}", "--dims=3"] if method == "scn" else []
    trained = ("train", "--data", "digits", "--width", "8", "--method", method, *said, *SMALL[:4], "--quiet")
    assert run(*trained, "-o", str(tmp_path / "run")).code == 0
    facts = generate(subject_of(runs.read(tmp_path / "run")), Options()).facts
    assert fit.size_of(config) == Size(facts["flash"]["total"], facts["ram"]["total"])


def test_the_largest_of_each_kind_that_fits_is_found() -> None:
    choice, limits = choose(data="digits", transform="rotation", width=8), Limits.read("flash=64k,ram=8k")
    found = {(one.method, one.more): one for one in fit.candidates(choice, limits, ["scn", "one4all"])}
    full, factored = found["scn", "full"], found["scn", "factored:8"]
    assert not full.fits  # theta is 33 kB
    assert full.dims == 2
    assert factored.fits
    larger = choice.config("scn", dims=fit.DIMS[fit.DIMS.index(factored.dims) + 1], subspace="factored:8")
    assert limits.hold(factored.size)
    assert not limits.hold(fit.size_of(larger))
    (rival,) = (one for (method, _), one in found.items() if method == "one4all")
    assert rival.fits
    assert rival.more == "width 12"  # 50 kB; 16 would be 66 kB


def test_base_models_that_no_grid_has_are_left_out() -> None:
    choice = choose(data="digits", transform="translation", width=8)
    kinds = {"subspace": ["factored:8"], "map": ["nodes"]}
    (found,) = fit.candidates(choice, Limits.read("flash=60k"), ["scn"], (4, 5), kinds)
    assert found.dims == 4


def test_where_nothing_fits_the_smallest_is_named() -> None:
    choice = choose(data="digits", transform="rotation", width=8)
    with pytest.raises(ScnError, match="nothing fits ram 100 bytes: the smallest, scn factored:8, takes"):
        fit.candidates(choice, Limits(ram=100), ["scn"])


def test_where_nothing_can_be_planned_the_reason_is_given() -> None:
    with pytest.raises(ScnError, match="nodse"):
        fit.candidates(choose(data="digits"), Limits(ram=100), ["scn"], variants={"map": ["nodse"]})


def test_a_backbone_of_ones_own_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "examples")
    choice = choose(data="digits", backbone="my_parts:TinyNet")
    with allow("my_parts:TinyNet"):
        found = fit.candidates(choice, Limits.read("flash=1m,ram=1m"), ["scn"], (3,), {"subspace": ["full"]})
    assert [(one.dims, one.fits) for one in found] == [(3, True)]


def test_a_seed_that_is_none_is_refused_before_any_work(tmp_path: Path) -> None:
    for more in ((), ("--fit", "flash=1m")):
        done = run("compare", "--data", "digits", "--seed", "-1", *more, *SMALL, "-o", str(tmp_path / "c"))
        assert done.code == 2
        assert "-1" in done.err
        assert not (tmp_path / "c").exists()


def test_a_network_for_each_setting_is_no_candidate() -> None:
    with pytest.raises(ScnError, match="one4one is a network for each setting"):
        fit.candidates(choose(data="digits"), Limits(ram=100), ["one4one"])


@pytest.mark.usefixtures("without_processes")
def test_the_command_compares_what_fits_and_says_what_is_best(small_data: str, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    arguments = ("compare", "--data", small_data, "--width", "8", *SMALL, "--fit", "flash=48k,ram=8k")
    done = run(*arguments, "-o", str(folder), "--json", "--quiet")
    assert done.code == 0, done.err
    rows = {(row["method"], row["more"]) for row in json.loads(done.out)["rows"]}
    assert rows == {("scn", "factored:8"), ("one4all", "width 8")}
    assert "does not fit" in done.err
    name = done.err.split("`scn export ")[1].split(" --to")[0]
    assert runs.read(Path(name)).is_trained
    reached = {
        one: json.loads((one / "metrics.jsonl").read_text().splitlines()[-1])["validation_accuracy"]
        for one in (path.parent for path in folder.glob("*/metrics.jsonl"))
    }
    assert reached[Path(name)] == max(reached.values())
    assert "by the data that were held back" in done.err


def test_without_held_back_data_the_test_data_decide_and_that_is_said(
    small_data: str, tmp_path: Path
) -> None:
    arguments = ("compare", "--data", small_data, "--width", "8", *SMALL, "--fit", "flash=48k", "--dims", "2")
    one = ("--methods", "one4all", "--set", "validation_share=0", "--jobs", "1")
    done = run(*arguments, *one, "-o", str(tmp_path / "c"), "--quiet")
    assert done.code == 0, done.err
    assert "best of what fits, by the test data, because none were held back: One4All, width 8" in done.err


def test_wrong_limits_are_one_line_and_exit_code_2(tmp_path: Path) -> None:
    done = run("compare", "--data", "digits", "--fit", "flash=lots", "-o", str(tmp_path / "c"))
    assert done.code == 2
    assert "flash=lots" in done.err
    assert not (tmp_path / "c").exists()
