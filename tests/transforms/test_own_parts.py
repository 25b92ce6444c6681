"""Parts of the user's own, package.module:Name: named on the command line, never by a file alone."""

from __future__ import annotations

import importlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import scn
from commands import run
from scn import data, methods, objectives, transforms
from scn.core.errors import ScnError
from scn.core.registry import allow, allowed
from scn.report.repeat import commands
from scn.runs.collection import collect

EXAMPLES = Path(__file__).parents[2] / "examples"
PARTS = ("stripes", "Fading", "Blurred", "TinyNet")
SMALL = ("--epochs", "1", "--batch-size", "64")


@pytest.fixture(autouse=True)
def _in_examples(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a process that has imported none of them."""
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setattr(transforms.registry, "_entries", dict(transforms.registry._entries))
    before = list(sys.path)
    yield
    sys.modules.pop("my_parts", None)
    sys.path[:] = before


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, as a user calls it: nothing is imported yet."""
    program = [sys.executable, "-c", "from scn.cli.main import main; main()"]
    places = {"PYTHONPATH": str(Path(scn.__file__).parents[1])}
    return subprocess.run(
        [*program, *arguments], capture_output=True, text=True, env={**os.environ, **places}, check=False
    )


def own(*names: str) -> list[str]:
    return [part for name in names for part in ("--allow", f"my_parts:{name}")]


def test_code_is_imported_only_where_it_is_allowed() -> None:
    refusal = r'"my_parts:Fading" is code of your own.* by scn\.allow or `allow=my_parts:Fading`'
    with pytest.raises(ScnError, match=refusal):
        transforms.get("my_parts:Fading")
    with allow("my_parts:Fading"):
        assert transforms.get("my_parts:Fading").parameters[0].name == "visibility"
        with allow("other:Part", None, "rotation"):
            assert allowed() == {"my_parts:Fading", "other:Part"}
        assert allowed() == {"my_parts:Fading"}
    assert allowed() == frozenset()


def test_an_own_part_of_a_composition_and_its_presets() -> None:
    with allow("my_parts:Fading+rotation", "my_parts:Daylight"):
        assert [p.name for p in transforms.get("my_parts:Fading+rotation").parameters] == [
            "visibility",
            "angle",
        ]
        assert transforms.get("my_parts:Daylight").parameters[0].high == 5000
        assert transforms.get("my_parts:Daylight", "outdoors").parameters[0].high == 100_000
        with pytest.raises(ScnError, match='Daylight has no preset "paper"'):
            transforms.get("my_parts:Daylight", "paper")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my_parts:Nothing", 'the transform "my_parts:Nothing" cannot be imported'),
        ("no_such_module:Nothing", "No module named 'no_such_module'"),
        ("my_parts:", "is not of the form package.module:Name"),
        (":Fading", "is not of the form package.module:Name"),
        ("my_parts:TinyNet", r"is not a subclass of scn\.transforms\.base\.Transform"),
        ("my_parts:stripes", "is not a subclass of"),
        ("scn.transforms.base:Transform", "lacks apply, encode"),
    ],
)
def test_what_is_no_transform_is_said(name: str, message: str) -> None:
    with allow(name), pytest.raises(ScnError, match=message):
        transforms.get(name)


def test_an_own_method_and_own_data() -> None:
    with allow("my_parts:Blurred", "my_parts:stripes", "my_parts:TinyNet"):
        assert methods.get("my_parts:Blurred").__name__ == "Blurred"
        found = data.load("my_parts:stripes")
        assert (found.name, found.classes, found.counts["train"]) == ("stripes", ["upright", "level"], 400)


def test_an_own_objective() -> None:
    with pytest.raises(ScnError, match=r'the objective "scn\.objectives:Regression" is code of your own'):
        objectives.get("scn.objectives:Regression")
    with allow("scn.objectives:Regression"):
        assert objectives.get("scn.objectives:Regression") is objectives.Regression


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("scn.transforms:Light", "must return arrays by name .* but returned Light"),
        ("my_parts:__name__", "must be a function that returns arrays, not 'my_parts'"),
    ],
)
def test_what_is_no_data_set_is_said(name: str, message: str) -> None:
    with allow(name), pytest.raises(ScnError, match=message):
        data.load(name)


def test_a_run_of_own_parts_alone_imports_nothing(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    given = dict(zip(("--data", "--transform", "--method", "--backbone"), PARTS, strict=True))
    options = [part for option, name in given.items() for part in (option, f"my_parts:{name}")]
    made = command("train", *options, *SMALL, "-o", folder, "--quiet")
    assert made.returncode == 0, made.stderr
    assert json.loads((tmp_path / "run" / "config.json").read_text())["transform"] == "my_parts:Fading"
    page = str(tmp_path / "report.html")
    assert run("evaluate", folder).code == 2
    assert run("report", folder, "-o", page).code == 2
    assert "my_parts" not in sys.modules
    for missing, option in (("Fading", "--allow"), ("Blurred", "--allow"), ("TinyNet", "--backbone")):
        refused = run("evaluate", folder, *own(*(name for name in PARTS if name != missing)))
        assert refused.code == 2, refused.err
        assert f"{option} my_parts:{missing}" in refused.err
    shown = run("evaluate", folder, *own(*PARTS), "--json", "--quiet")
    assert shown.code == 0, shown.err
    assert len(json.loads(shown.out)["params"]) == 10
    reported = run("report", folder, *own(*PARTS), "-o", page)
    assert reported.code == 0, reported.err


def test_the_commands_of_a_report_allow_own_parts(tmp_path: Path) -> None:
    folder, longer = tmp_path / "run", ["--resume", str(tmp_path / "run"), "--epochs", "2"]
    given = dict(zip(("--data", "--transform", "--method", "--backbone"), PARTS, strict=True))
    options = [part for option, name in given.items() for part in (option, f"my_parts:{name}")]
    assert run("train", *options, *SMALL, "-o", str(folder), "--quiet").code == 0
    assert run("train", *longer, *own(*PARTS), "--quiet").code == 0
    assert run("evaluate", str(folder), *own(*PARTS), "--quiet").code == 0
    with allow(*(f"my_parts:{name}" for name in PARTS)):
        lines = [shlex.split(line) for line in commands(collect([folder]))]
    assert len(lines) == 3
    before = (folder / "scores.csv").read_bytes()
    folder.rename(tmp_path / "before")
    for _, *words in lines:
        typed = run(*words)
        assert typed.code == 0, typed.err
    assert (folder / "scores.csv").read_bytes() == before


def test_own_parts_reach_the_processes_of_a_comparison(tmp_path: Path) -> None:
    result = command(
        "compare", "--data", "my_parts:stripes", "--transform", "my_parts:Fading", "--width", "8",
        "--methods", "one4all,my_parts:Blurred,scn", "--dims", "2", "--seeds", "1", *SMALL,
        "-o", str(tmp_path / "runs"), "--json", "--quiet", "--jobs", "1",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert {row["method"] for row in json.loads(result.stdout)["rows"]} == {
        "one4all",
        "my_parts:Blurred",
        "scn",
    }


def test_a_range_of_ones_own_on_the_command_line(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays = {}
    for split in ("train", "test"):
        arrays[f"x_{split}"] = rng.integers(0, 1000, (300, 3)).astype(np.int16)
        arrays[f"y_{split}"] = (arrays[f"x_{split}"][:, 0] > 500).astype(np.uint8)
        arrays[f"params_{split}"] = rng.uniform(1000, 5000, (300, 1)).astype(np.float32)
    np.savez(tmp_path / "lux.npz", **arrays)  # type: ignore[arg-type]
    folder = str(tmp_path / "run")
    made = run(
        "train", "--data", str(tmp_path / "lux.npz"), "--transform", "my_parts:Daylight", "--width", "4",
        "--dims", "2", *SMALL, "-o", folder, "--quiet",
    )  # fmt: skip
    assert made.code == 0, made.err
    shown = run("evaluate", folder, *own("Daylight"), "--json", "--quiet")
    assert sum(json.loads(shown.out)["counts"]) == 300
    assert len(json.loads(shown.out)["counts"]) == 11  # and not all in one setting
    exported = run("export", folder, *own("Daylight"), "--to", "c", "-o", str(tmp_path / "c"))
    assert exported.code == 0, exported.err


def test_a_module_that_is_imported_anew_registers_its_parts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a notebook; another class of that name is still refused."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    sys.modules.pop("my_parts", None)
    first = importlib.import_module("my_parts")
    again = importlib.reload(first)
    assert transforms.registry.get("fading") is again.Fading
    with pytest.raises(ScnError, match='"fading" is registered already'):
        transforms.registry.register("fading")(transforms.Rotation)
