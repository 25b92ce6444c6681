"""`scn export`: from a run folder to files, and what is said about wrong input."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import scn
from commands import run
from scn.export import staging


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a few epochs on some of the digits."""
    folder = tmp_path_factory.mktemp("run")
    arrays = scn.data.load("digits").arrays
    classes = np.array([f'the "{i}" \\ é' for i in range(10)])
    parts = {key: arrays[key][:300] for key in ("x_train", "y_train", "x_test", "y_test")}
    np.savez(folder / "small.npz", allow_pickle=False, **parts, classes=classes)
    sizes = ("--width", "6", "--epochs", "1", "--batch-size", "32", "--dims", "2", "--quiet")
    result = run("train", "--data", str(folder / "small.npz"), *sizes, "-o", str(folder / "my run"))
    assert result.code == 0, result.err
    return folder / "my run"


def test_the_files_are_named_after_the_run(trained: Path, tmp_path: Path) -> None:
    result = run("export", str(trained), "--to", "c", "-o", str(tmp_path / "out"))
    assert result.code == 0, result.err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "my_run.c",
        "my_run.cmake",
        "my_run.h",
    ]
    assert "wrote" in result.err
    assert "theta: ram" in result.out
    source = (tmp_path / "out" / "my_run.c").read_text()
    assert r'"the \0420\042 \134 \303\251"' in source  # any name of a class becomes a string of C


def test_json_tells_sizes_and_the_accuracy_of_rounded_weights(trained: Path, tmp_path: Path) -> None:
    options = ("--weights", "int8", "--inference", "int8", "--name", "eye", "--json")
    result = run("export", str(trained), "--to", "c", "-o", str(tmp_path), *options)
    assert result.code == 0, result.err
    facts = json.loads(result.out)
    assert facts["name"] == "eye"
    assert facts["macs"] == 1024 * 6 + 6 * 10
    assert facts["flash"]["bases"] == 2 * facts["macs"]
    accuracy = facts["accuracy"]
    assert accuracy["samples"] == 300
    assert accuracy["drop"] == pytest.approx(accuracy["float32"] - accuracy["exported"], abs=1e-4)
    assert [Path(name).name for name in facts["files"]] == ["eye.h", "eye.c", "eye.cmake"]


def test_alpha_alone_means_one_configuration(trained: Path, tmp_path: Path) -> None:
    result = run("export", str(trained), "--to", "c", "-o", str(tmp_path), "--alpha", "30", "--name", "one")
    assert result.code == 0, result.err
    header = (tmp_path / "one.h").read_text()
    assert "one configuration" in header
    assert "params [30.0]" in header
    assert "one_configure" not in header


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "basic"), 'there is no target "basic". Known:'),
        (("--to", "c", "--name", "two words"), "cannot be a name in C"),
        (("--to", "c", "--theta", "fixed"), "say which by --alpha"),
        (("--to", "c", "--theta", "ram", "--alpha", "3"), "--alpha is for theta=fixed"),
        (("--to", "c", "--alpha", "1,2"), "must have 1 value"),
        (("--to", "c", "--alpha", "north"), "--alpha takes numbers"),
        (("--to", "c", "--weights", "int4"), 'no weights "int4"'),
        (("--to", "c", "--inference", "int8"), "needs weights in int8"),
        (("--to", "c", "--theta", "row", "--double-buffer"), "double buffer is for theta in RAM"),
        (("--to", "c", "--guard", "range=refuze"), 'Did you mean "refuse"'),
        (("--to", "c", "--guard", "rate=90:keep"), "write rate=90/s:ACTION"),
        (("--to", "c", "--guard", "range=keep", "--alpha", "3"), "leave out --guard"),
        (("--to", "arduino", "--guard", "range=keep"), "export to c with --guard"),
        (("--to", "c", "--guard", "range"), "and range says nothing: write range=ACTION"),
        (("--to", "c", "--name", "Math"), "that of a header already: choose another by --name"),
        (("--to", "c", "--name", "scn_light", "--sensor", "accelerometer"), "choose another by --name"),
        (("--to", "c", "--weights-in", "storage", "--theta", "row"), "use --weights-in blob, or --theta ram"),
        (("--to", "c", "--weights-in", "blob", "--input", "camera:9x9:grey"), "leave out --input, or --weig"),
        (("--to", "c", "--input", "pcm16"), "leave out --input"),
        (("--to", "c", "--package", "version=2.0.0"), "leave out --package"),
        (("--to", "blob", "--for", "no such.blob"), "no such.blob cannot be read"),
        (("--to", "blob", "--for", "."), ". cannot be read"),
        (("--to", "c", "--search", "grid:100000"), "choose at most 5000 steps"),
        (("--to", "c", "--search", "tracker:100000"), "choose at most 5000 steps"),
        (("--to", "c", "--search", "candidates"), "such as candidates:0,90,180,270"),
        (("--to", "c", "--search", "candidates:"), "such as candidates:0,90,180,270"),
    ],
)
def test_wrong_options_are_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str, trained: Path, tmp_path: Path
) -> None:
    result = run("export", str(trained), *arguments, "-o", str(tmp_path / "out"))
    assert result.code == 2
    assert message in result.err
    assert result.err.startswith("scn: ")
    assert not list(tmp_path.glob("out/*"))


def test_a_run_that_is_not_trained(trained: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text((trained / "config.json").read_text())
    result = run("export", str(tmp_path), "--to", "c", "-o", str(tmp_path / "out"))
    assert (result.code, "has no trained network yet" in result.err) == (2, True)


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    result = run("export", str(tmp_path), "--to", "c", "-o", str(tmp_path / "out"))
    assert (result.code, "is not a run" in result.err) == (2, True)


def test_a_file_where_the_folder_should_be(trained: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("export", str(trained), "--to", "c", "-o", str(tmp_path / "file"))
    assert (result.code, "is a file: choose a folder" in result.err) == (2, True)
    result = run("export", str(trained), "--to", "c", "-o", str(tmp_path / "file" / "below"))
    assert (result.code, "cannot be made" in result.err) == (2, True)


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what the system says: a test may run as a user whom no rights stop."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ValueError, match="cannot be written to"), staging.staged(tmp_path):
        pass


def test_a_network_without_base_models_takes_no_alpha(trained: Path, tmp_path: Path) -> None:
    data = json.loads((trained / "config.json").read_text())["data"]
    sizes = ("--width", "6", "--epochs", "1", "--batch-size", "32", "--quiet", "--method", "one4all")
    assert run("train", "--data", data, *sizes, "-o", str(tmp_path / "plain")).code == 0
    result = run("export", str(tmp_path / "plain"), "--to", "c", "-o", str(tmp_path / "out"))
    assert result.code == 0, result.err
    assert "PLAIN_FIXED 1" in (tmp_path / "out" / "plain.h").read_text()
    result = run("export", str(tmp_path / "plain"), "--to", "c", "-o", str(tmp_path), "--alpha", "30")
    assert (result.code, "leave out --alpha" in result.err) == (2, True)
