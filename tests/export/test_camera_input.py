"""A camera's bytes come in as they are: C makes of them what Python does, to the last bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from generated import BUSY, NOT_CONFIGURED, OK, built
from scn import SCN
from scn.backbones import MLP, LeNet5, ShallowCNN
from scn.data.sensing import sensor_of
from scn.export import Options
from sensed import COLOURS, called, frames, seeing, x_of

INT8 = {"weights": "int8", "inference": "int8"}
GREY, COLOUR = (1, 32, 32), (3, 32, 32)


def small(shape: tuple[int, ...]) -> nn.Module:
    return MLP(shape, 3, 4)


@pytest.mark.parametrize(
    ("said", "shape"),
    [
        ("camera:160x120:rgb565", GREY),
        ("camera:160x120:rgb565le", COLOUR),
        ("camera:320x240:grey,stride=350", (1, 28, 28)),
        ("camera:97x61:rgb888,crop=all,stride=300", (3, 28, 20)),
        ("camera:64x48:bgr888,crop=40x30+11+7,invert", GREY),
        ("camera:20x12:yuyv", (1, 45, 33)),
        ("camera:32x32:uyvy", GREY),
        ("camera:1x1:rgb888", (3, 5, 7)),
        ("camera:9x5:rgb565,crop=1x5+8+0", (3, 1, 1)),
    ],
)
def test_a_frame_becomes_x_as_in_python(said: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    camera = sensor_of(said)
    what = seeing(small(shape), shape, COLOURS if shape[0] == 3 else None)
    program = built(what, Options(input=said), tmp_path)
    for frame in frames(camera, 4):  # type: ignore[arg-type]
        status, x = called(program, "prepare", frame, int(np.prod(shape)))
        assert status == OK
        assert torch.equal(x, x_of(what, said, frame).flatten())


NETWORKS = {
    "MLP": lambda: SCN(MLP(GREY, 5, 8), alpha_dim=2, dims=3, seed=0),
    "LeNet-5": lambda: SCN(LeNet5(), alpha_dim=2, dims=2, seed=0),
    "nodes": lambda: SCN(MLP(GREY, 5, 8), alpha_dim=2, dims=5, seed=0, map="nodes"),
    "one4all": lambda: ShallowCNN(GREY, 10, width=3),
}
OPTIONS = {
    "float": {},
    "explicit": {"state": "explicit"},
    "double buffer": {"double_buffer": True},
    "row": {"theta": "row"},
    "float16": {"weights": "float16"},
    "int8": INT8,
    "int8, row, explicit": {**INT8, "theta": "row", "state": "explicit"},
    "int8, double buffer": {**INT8, "double_buffer": True},
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", NETWORKS)
def test_the_answer_to_a_frame_is_that_to_its_x(kind: str, options: str, tmp_path: Path) -> None:
    said = "camera:40x30:rgb565"
    what = seeing(NETWORKS[kind](), GREY)
    program = built(what, Options(input=said, **OPTIONS[options]), tmp_path)  # type: ignore[arg-type]
    count = what.outputs
    for place, frame in enumerate(frames(sensor_of(said), 3)):  # type: ignore[arg-type]
        if what.is_scn:
            if place == 0:
                assert called(program, "infer_frame", frame, count)[0] == NOT_CONFIGURED
            assert program.configure(what.transform.encode(torch.tensor([30.0 * place]))) == OK
        _, right = program.infer(x_of(what, said, frame))
        for _ in range(2):
            status, outputs = called(program, "infer_frame", frame, count)
            assert status == OK
            assert torch.equal(outputs, right)
