"""`scn plot` as a person calls it: files that open, and errors that help."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from commands import run
from figure_runs import RECIPE, make_all
from needs import tool
from scn.experiment.compare import open_run
from scn.experiment.plan import plan_run
from scn.plots.animation import film, write_film
from scn.plots.figures import FIGURES
from scn.plots.options import FigureOptions
from scn.runs.collection import load

ENOUGH = ("--samples", "20", "--quiet")


@pytest.fixture
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_all(tmp_path_factory.getbasetemp())


def copied(folder: Path, *without: str, into: Path) -> Path:
    """A run with some of its files left out."""
    return Path(shutil.copytree(folder, into, ignore=lambda *_: without))


@pytest.mark.parametrize(("suffix", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_suffix_says_what_is_written(
    suffix: str, begins: bytes, drawn: dict[str, Path], tmp_path: Path
) -> None:
    out = [tmp_path / "new" / f"{name}.{suffix}" for name in "ab"]
    for path in out:
        result = run("plot", str(drawn["rotation"]), "--figure", "accuracy", "-o", str(path))
        assert (result.code, result.out.strip()) == (0, str(path)), result.err
    first, second = (path.read_bytes() for path in out)
    assert first.startswith(begins)
    assert first == second, "the same figure is the same file"
    if suffix == "png":
        with Image.open(out[0]) as image:
            assert image.width == 1050, "a column of 3.5 inches at 300 dots"


def test_json_names_the_figure_its_file_and_the_runs(drawn: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "violin.png"
    result = run("plot", str(drawn["light"]), "--figure", "violin", "-o", str(out), "--json")
    content = json.loads(result.out)
    assert (content["figure"], content["file"]) == ("violin", str(out))
    assert [Path(folder).name for folder in content["runs"]] == ["scn-d2", "one4all"]


def test_a_run_that_is_named_twice_is_drawn_once(drawn: dict[str, Path]) -> None:
    assert len(load([drawn["light"], drawn["light"] / "one4all"])) == 2


def test_a_gif_has_its_frames(drawn: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "turning.gif"
    arguments = ("plot", str(drawn["rotation"] / "scn-d2"), "--animate", "--frames", "3", "-o", str(out))
    result = run(*arguments, *ENOUGH)
    assert result.code == 0, result.err
    with Image.open(out) as image:
        assert getattr(image, "n_frames", 1) == 3
        assert image.size == (525, 510)


def test_an_mp4_without_ffmpeg_says_what_to_do(
    drawn: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib.animation import FFMpegWriter

    monkeypatch.setattr(FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    folder, out = drawn["rotation"] / "scn-d2", tmp_path / "turning.mp4"
    result = run("plot", str(folder), "--animate", "-o", str(out), *ENOUGH)
    assert result.code == 2
    assert f"install it (apt install ffmpeg), or write {tmp_path / 'turning.gif'} instead" in result.err
    with pytest.raises(ValueError, match="needs ffmpeg"):
        write_film(film(load([folder]), FigureOptions(samples=20), 2), out)


def test_an_mp4_is_written_where_ffmpeg_is(drawn: dict[str, Path], tmp_path: Path) -> None:
    tool("ffmpeg")
    out = tmp_path / "turning.mp4"
    folder = str(drawn["rotation"] / "scn-d2")
    result = run("plot", folder, "--animate", "--frames", "3", "-o", str(out), *ENOUGH)
    assert result.code == 0, result.err
    assert out.read_bytes()[4:8] == b"ftyp"


def test_runs_of_different_tasks_are_refused(drawn: dict[str, Path], tmp_path: Path) -> None:
    both = (str(drawn["rotation"] / "scn-d2"), str(drawn["scaling"] / "scn-d2"))
    result = run("plot", *both, "--figure", "accuracy", "-o", str(tmp_path / "x.png"))
    assert result.code == 2
    assert f"{both[0]} has transform rotation and {both[1]} has transform scaling" in result.err
    assert "call `scn plot` once for each task" in result.err


def test_a_run_that_was_not_evaluated_names_the_command(drawn: dict[str, Path], tmp_path: Path) -> None:
    folder = copied(drawn["rotation"] / "scn-d2", "scores.csv", "evaluation.json", into=tmp_path / "run")
    for name in ("accuracy", "violin"):
        result = run("plot", str(folder), "--figure", name, "-o", str(tmp_path / "x.png"))
        assert result.code == 2
        assert f"{folder} was not evaluated: `scn evaluate {folder}` does it" in result.err
    drawn_anyway = run("plot", str(folder), "--figure", "training", "-o", str(tmp_path / "x.png"))
    assert drawn_anyway.code == 0, drawn_anyway.err


@pytest.mark.parametrize("name", ["scores", "specialisation", "violin", "beta", "training", "theta"])
def test_a_run_that_was_not_trained_names_the_command(
    name: str, drawn: dict[str, Path], tmp_path: Path
) -> None:
    data = load([drawn["rotation"] / "one4all"])[0].run.config.data
    folder = tmp_path / "run"
    open_run(folder, plan_run(data, "rotation", "mlp", "scn", RECIPE, dims=2))
    result = run("plot", str(folder), "--figure", name, "-o", str(tmp_path / "x.png"))
    assert result.code == 2
    assert f"`scn train --resume {folder}` goes on" in result.err


def test_seeds_that_were_tested_differently_are_not_averaged(drawn: dict[str, Path], tmp_path: Path) -> None:
    folders = [copied(drawn["rotation"] / name, into=tmp_path / name) for name in ("scn-d2", "scn-d2-seed1")]
    lines = (folders[1] / "scores.csv").read_text().splitlines()
    (folders[1] / "scores.csv").write_text("\n".join(lines[:5]) + "\n")
    facts = json.loads((folders[1] / "evaluation.json").read_text())
    (folders[1] / "evaluation.json").write_text(json.dumps({**facts, "settings": 4}))
    result = run("plot", *map(str, folders), "--figure", "accuracy", "-o", str(tmp_path / "x.png"))
    assert result.code == 2
    assert "evaluated under different settings (8 and 4): `scn evaluate RUN --step X`" in result.err


@pytest.mark.parametrize(
    ("file", "damage", "said"),
    [
        ("scores.csv", lambda text: "angle,alpha_1,alpha_2,accuracy\n0,one\n", "could not convert"),
        ("scores.csv", lambda text: text[: len(text) // 2].rsplit("\n", 1)[0], "rows instead of 8"),
        ("scores.csv", lambda text: text.rsplit(",", 1)[0] + ",nan\n", "not from 0 to 1"),
        ("evaluation.json", lambda text: "{}", "what it was measured on is not said"),
        ("evaluation.json", lambda text: "[1]", "what it was measured on is not said"),
        ("evaluation.json", lambda text: text[:20], "cannot be read"),
    ],
)
def test_a_damaged_table_is_named(
    file: str, damage: Callable[[str], str], said: str, drawn: dict[str, Path], tmp_path: Path
) -> None:
    folder = copied(drawn["rotation"] / "scn-d2", into=tmp_path / "run")
    (folder / file).write_text(damage((folder / file).read_text()))
    result = run("plot", str(folder), "--figure", "violin", "-o", str(tmp_path / "x.png"))
    assert result.code == 2
    assert said in result.err
    assert f"`scn evaluate {folder}` writes it anew" in result.err


def test_metrics_that_are_being_written_are_shown_as_far_as_they_go(
    drawn: dict[str, Path], tmp_path: Path
) -> None:
    folder = copied(drawn["rotation"] / "scn-d2", into=tmp_path / "run")
    text = (folder / "metrics.jsonl").read_text()
    (folder / "metrics.jsonl").write_text(text + '{"epoch": 9, "lo')
    (one,) = load([folder])
    assert len(one.metrics) == len(text.splitlines())
    (folder / "metrics.jsonl").write_text("[1]\n" + text)
    result = run("plot", str(folder), "--figure", "training", "-o", str(tmp_path / "x.png"))
    assert result.code == 2
    assert f"line 1 of {folder / 'metrics.jsonl'} is damaged" in result.err


def test_a_folder_of_runs_and_folders_of_runs_is_refused(drawn: dict[str, Path], tmp_path: Path) -> None:
    copied(drawn["rotation"] / "scn-d2", into=tmp_path / "runs" / "one")
    copied(drawn["rotation"] / "scn-d2", into=tmp_path / "runs" / "several" / "two")
    result = run("plot", str(tmp_path / "runs"), "--figure", "violin", "-o", str(tmp_path / "x.png"))
    assert result.code == 2
    assert "holds the run one, and several with runs of its own" in result.err


@pytest.mark.parametrize("name", ["specialisation", "beta", "theta"])
def test_a_figure_of_an_scn_needs_one(name: str, drawn: dict[str, Path], tmp_path: Path) -> None:
    one4all = str(drawn["rotation"] / "one4all")
    result = run("plot", one4all, "--figure", name, "-o", str(tmp_path / "x.png"))
    assert result.code == 2
    assert "there is none among these runs: `scn train --method scn` makes one" in result.err


def test_figures_without_what_they_show_say_what_makes_it(drawn: dict[str, Path], tmp_path: Path) -> None:
    folder, out = drawn["translation"], str(tmp_path / "x.png")
    alike = run("plot", str(folder), "--figure", "capacity", "-o", out)
    assert alike.code == 2
    assert "needs runs of several sizes, and these have all the same: `scn compare --width 16" in alike.err
    unmeasured = run("plot", str(folder), "--figure", "device", "-o", out)
    assert unmeasured.code == 2
    assert f"was not measured on a device: `scn device {folder / 'scn-d2'}` does it" in unmeasured.err
    broken = copied(folder / "scn-d2", into=tmp_path / "run")
    (broken / "device.json").write_text('{"rows": [{"flash": 1}]}')
    assert (
        f"`scn device {broken}` writes it anew"
        in run("plot", str(broken), "--figure", "device", "-o", out).err
    )


def test_a_network_without_metrics_says_that_it_was_not_trained_here(
    drawn: dict[str, Path], tmp_path: Path
) -> None:
    folder = copied(drawn["rotation"] / "scn-d2", "metrics.jsonl", into=tmp_path / "run")
    result = run("plot", str(folder), "--figure", "training", "-o", str(tmp_path / "x.png"))
    assert result.code == 2
    assert "it was not trained by `scn train`" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--figure", "acuracy", "-o", "x.png"], 'there is no figure "acuracy". Did you mean "accuracy"?'),
        (["-o", "x.png"], "say what to draw by --figure: samples, scores, accuracy"),
        (["--figure", "accuracy", "-o", "x.bmp"], "x.bmp must end in .png or .svg or .pdf"),
        (["--figure", "accuracy", "-o", "x"], "x must end in .png or .svg or .pdf"),
        (["--animate", "-o", "x.png"], "x.png must end in .gif or .mp4"),
        (["--animate", "--figure", "violin", "-o", "x.gif"], "leave out --figure violin"),
        (["--figure", "beta", "--fixed", "3", "-o", "x.png"], "--fixed is for --figure specialisation"),
        (["--figure", "specialisation", "--fixed", "1,2", "-o", "x.png"], "params must have 1 value(s)"),
    ],
)
def test_wrong_usage(
    arguments: list[str],
    message: str,
    drawn: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("plot", str(drawn["rotation"] / "scn-d2"), *arguments)
    assert result.code == 2
    assert message in result.err
    assert not list(tmp_path.iterdir())


def test_a_missing_run_names_the_command_that_makes_one(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder, message in (("none", "there is no run"), ("empty", "is not a run, and holds none")):
        path = tmp_path / folder
        result = run("plot", str(path), "--figure", "beta", "-o", str(tmp_path / "x.png"))
        assert result.code == 2
        assert message in result.err
        assert f"`scn train -o {path}`" in result.err


def test_an_output_that_cannot_be_written_is_refused_before_any_work(
    drawn: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "file" / "below")
    folder = str(drawn["light"])
    below = run("plot", folder, "--figure", "beta", "-o", str(tmp_path / "file" / "x.png"))
    assert below.code == 2
    assert "cannot be written: choose another place with -o" in below.err
    instead = run("plot", folder, "--figure", "beta", "-o", str(tmp_path / "folder.png"))
    assert instead.code == 2
    assert "is a folder: name a file in it, such as -o" in instead.err
    odd = run("plot", folder, "--figure", "beta", "-o", str(tmp_path / "dangling" / "x.png"))
    assert odd.code == 2
    assert "choose another place with -o" in odd.err


def test_the_documentation_names_every_figure() -> None:
    text = (Path(__file__).parents[2] / "docs" / "figures.md").read_text()
    for name in FIGURES:
        assert f"--figure {name} " in text
    assert "--animate" in text
