"""Blobs as files: what the command writes and refuses, what Python reads, and what a board makes of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from blobs import Loaded, in_blob
from commands import run
from generated import OK, shared, subject
from needs import emulated, tool
from scn import SCN, runs
from scn.backbones import MLP
from scn.core.errors import ScnError
from scn.experiment.plan import plan_run
from scn.export import Options, blob, targets
from scn.export.blob.format import parse
from scn.training.recipe import Recipe


def a_run(folder: Path, seed: int = 0, width: int = 4, dims: int = 2) -> Path:
    """Weights as they are before training."""
    sizes = {"width": width}
    config = plan_run("digits", "rotation", "mlp", "scn", Recipe(batch_size=8), dims=dims, sizes=sizes)
    made = runs.create(folder, config)
    made.save_network(SCN(MLP((1, 32, 32), 10, width), alpha_dim=2, dims=dims, seed=seed))
    return made.folder


def exported(folder: Path, output: Path, *options: str) -> dict[str, object]:
    done = run("export", str(folder), "-o", str(output), "--json", *options)
    assert done.code == 0, done.err
    return dict(json.loads(done.out))


@pytest.mark.parametrize("more", [(), ("--weights", "int8", "--inference", "int8")], ids=["float", "int8"])
def test_an_update_is_one_file(more: tuple[str, ...], tmp_path: Path) -> None:
    first, later = a_run(tmp_path / "first"), a_run(tmp_path / "later", seed=1)
    facts = exported(first, tmp_path / "firmware", "--to", "c", "--weights-in", "blob", *more)
    old = tmp_path / "firmware" / "first.blob"
    assert facts["blob"] == old.stat().st_size
    assert facts["flash"]["total"] == facts["blob"]  # type: ignore[index]
    assert "scn_bases[" not in (tmp_path / "firmware" / "first.c").read_text()
    found = exported(later, tmp_path / "update", "--to", "blob", "--for", str(old), *more)
    (new,) = (tmp_path / "update").iterdir()
    assert found["files"] == [str(new)]
    before, after = blob.read(old), blob.read(new)
    assert before.structure == after.structure == facts["structure"]
    assert before.model_hash == facts["model_hash"] != after.model_hash == found["model_hash"]
    source, library = tmp_path / "firmware" / "first.c", tmp_path / "first.so"
    program = Loaded(shared([source], library, tool("gcc"), "-std=c99", "-O1"), "first", 10, source)
    for content in (old.read_bytes(), new.read_bytes()):
        assert program.load(content) == OK
        assert program.selftest(1024) == OK
    assert program.identity()[1].model_hash.decode() == after.model_hash


@pytest.mark.parametrize(
    "other",
    [{"width": 5}, {"dims": 3}],
    ids=["width", "D"],
)
def test_another_structure_is_refused_before_it_is_flashed(other: dict[str, int], tmp_path: Path) -> None:
    exported(a_run(tmp_path / "first"), tmp_path / "out", "--to", "blob")
    old = tmp_path / "out" / "first.blob"
    done = run(
        "export",
        str(a_run(tmp_path / "second", **other)),
        "--to",
        "blob",
        "--for",
        str(old),
        "-o",
        str(tmp_path / "new"),
    )
    assert done.code == 2
    assert "firmware for one cannot load the other" in " ".join(done.err.split())
    assert not (tmp_path / "new").exists()


def test_options_of_other_targets_are_refused(tmp_path: Path) -> None:
    net = subject(SCN(MLP((1, 5, 5), 3, 6), alpha_dim=2, dims=2, seed=0).eval(), (1, 5, 5))
    for name, options, message in [
        ("onnx", Options(weights_in="blob"), "onnx has its weights in the code"),
        ("esp-idf", Options(weights_in="storage"), "esp-idf has its weights in the code"),
        ("c", Options(follows="old.blob"), "a blob that is to be replaced is for the target blob"),
        ("blob", Options(sensor="accelerometer"), "a blob holds weights alone"),
        ("blob", Options(follows="nowhere.blob"), "nowhere.blob"),
    ]:
        with pytest.raises(ScnError, match=message):
            targets.get(name)(net, options, tmp_path / name)
        assert not (tmp_path / name).exists()


def a_blob(tmp_path: Path, options: Options) -> bytes:
    net = SCN(MLP((1, 5, 5), 3, 6), alpha_dim=2, dims=3, seed=0).eval()
    return in_blob(subject(net, (1, 5, 5)), options, tmp_path)[1]


@pytest.mark.parametrize("weights", ["float32", "float16", "int8"])
def test_python_reads_the_weights_that_were_written(weights: str, tmp_path: Path) -> None:
    content = a_blob(tmp_path, Options(weights=weights, weights_in="blob"))  # type: ignore[arg-type]
    found = parse(content)
    assert found.bases.dtype == {"float32": np.float32, "float16": np.uint16, "int8": np.int8}[weights]
    assert len(found.bases) >= 3 * (25 * 6 + 6 * 3)
    assert found.made_by.startswith("scn ")
    assert found.content == content
    assert parse(content + b"rest of a partition").content == content


def test_every_change_of_a_blob_is_refused_by_python(tmp_path: Path) -> None:
    content = a_blob(tmp_path, Options(weights_in="blob"))
    rng = np.random.default_rng(0)
    for _ in range(3000):
        made, at = bytearray(content), int(rng.integers(len(content)))
        if rng.random() < 0.1:
            del made[at:]
        else:
            made[at] ^= 1 << int(rng.integers(8))
        with pytest.raises(ScnError):
            parse(bytes(made))


@pytest.mark.parametrize("content", [b"", b"SCN BLOB", b"hello" * 100])
def test_what_is_no_blob_says_how_one_is_made(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.blob").write_bytes(content)
    with pytest.raises(ScnError, match="scn export RUN --to blob"):
        blob.read(tmp_path / "x.blob")


@pytest.mark.parametrize(
    "how",
    [("--weights-in", "blob", "--double-buffer"), ("--weights-in", "storage", "--state", "explicit")],
    ids=["blob", "storage"],
)
def test_a_board_answers_as_torch_does(how: tuple[str, ...], tmp_path: Path) -> None:
    emulated("cortex-m4f")
    folder = a_run(tmp_path / "run")
    size = exported(folder, tmp_path / "out", "--to", "c", *how)["blob"]
    done = run("device", str(folder), "--samples", "2", "--settings", "2", "--json", *how)
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)["rows"]
    assert row["max_difference"] < 1e-4
    assert row["agreement"] == 1
    assert row["flash"] > row["weights"] > size
    assert row["options"]["weights_in"] == how[1]


def test_weights_in_the_code_are_said_nowhere(tmp_path: Path) -> None:
    """A row of device.json takes the place of one that was measured before there were blobs."""
    tool("gcc")
    done = run(
        "device",
        str(a_run(tmp_path / "run")),
        "--target",
        "host",
        "--samples",
        "1",
        "--settings",
        "1",
        "--json",
    )
    assert "weights_in" not in json.loads(done.out)["rows"][0]["options"]
