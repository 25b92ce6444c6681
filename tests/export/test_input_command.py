"""`scn export --input`: from a run to C that takes what a sensor sends."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

import numpy as np
import pytest
import torch

import scn
from commands import run
from generated import STRICT, compiled, shared
from needs import tool
from scn.data import to_float
from scn.data.sensing import Camera, sensor_of

CAMERA = "camera:24x20:rgb565"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on some of the digits."""
    folder = tmp_path_factory.mktemp("run")
    arrays = scn.data.load("digits").arrays
    np.savez(
        folder / "d.npz",
        allow_pickle=False,
        **{k: arrays[k][:300] for k in ("x_train", "y_train", "x_test", "y_test")},
    )
    sizes = ("--width", "6", "--epochs", "1", "--batch-size", "32", "--dims", "2", "--quiet")
    result = run("train", "--data", str(folder / "d.npz"), *sizes, "-o", str(folder / "eye"))
    assert result.code == 0, result.err
    return folder / "eye"


def test_a_run_takes_frames(trained: Path, tmp_path: Path) -> None:
    result = run("export", str(trained), "--to", "c", "-o", str(tmp_path), "--input", CAMERA, "--json")
    assert result.code == 0, result.err
    facts = json.loads(result.out)
    assert facts["input"] == CAMERA
    assert facts["ram"]["lines"] == 2 * 32 + 20  # a row of x is made of 2 lines
    library = shared([tmp_path / "eye.c"], tmp_path / "eye.so", tool("gcc"), "-std=c99", *STRICT)
    camera, opened = sensor_of(CAMERA), scn.runs.read(trained)
    assert isinstance(camera, Camera)
    frame = np.random.default_rng(0).integers(0, 256, camera.size, np.uint8)
    x = np.zeros(1024, np.float32)
    assert library.eye_prepare(frame.ctypes.data_as(ctypes.c_void_p), x.ctypes.data_as(ctypes.c_void_p)) == 0
    python = opened.normalisation()(to_float(camera.picture(frame, (1, 32, 32))[None]))
    assert torch.equal(torch.from_numpy(x), python.flatten())
    header = (tmp_path / "eye.h").read_text()
    assert "#define EYE_FRAME_BYTES 960" in header
    assert "eye_configure, eye_infer, eye_infer_frame, eye_prepare." in " ".join(header.split())


@pytest.mark.parametrize("target", ["arduino", "esp-idf"])
def test_projects_of_boards_have_it_as_well(target: str, trained: Path, tmp_path: Path) -> None:
    result = run("export", str(trained), "--to", target, "-o", str(tmp_path), "--input", CAMERA)
    assert result.code == 0, result.err
    (source,) = tmp_path.rglob("eye.c")
    (header,) = tmp_path.rglob("eye.h")
    compiled(tool("gcc"), "-std=c99", *STRICT, f"-I{header.parent}", "-c", source, "-o", tmp_path / "eye.o")
    assert "eye_infer_frame(const uint8_t *frame, float *logits);" in header.read_text()


@pytest.mark.parametrize(
    ("target", "said", "reason"),
    [
        ("c", "camera:24x20", "is no camera: say camera:WIDTHxHEIGHT:FORMAT"),
        ("c", "pcm16:16000", "eye is not given sounds"),
        ("onnx", CAMERA, "input=camera:24x20:rgb565 is for C code"),
        ("web", CAMERA, "leave out --input"),
    ],
)
def test_what_cannot_be_is_answered_in_a_sentence(
    target: str, said: str, reason: str, trained: Path, tmp_path: Path
) -> None:
    result = run("export", str(trained), "--to", target, "-o", str(tmp_path / "out"), "--input", said)
    assert result.code == 2
    assert reason in " ".join(result.err.split())
    assert not (tmp_path / "out").exists()
