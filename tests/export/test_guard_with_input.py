"""A refusal of the guard holds for every way into the network."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import torch

from generated import NOT_CONFIGURED, OK, built
from scn import SCN
from scn.backbones import MLP
from scn.data.sensing import Camera, sensor_of
from scn.export import Options
from sensed import COLOURS, called, frames, seeing

SHAPE, SAID = (3, 8, 8), "camera:16x12:rgb565"
OPTIONS = Options(input=SAID, guard="range=refuse,recover=2")


def test_frames_are_refused_like_inputs_after_a_broken_reading(tmp_path: Path) -> None:
    net = SCN(MLP(SHAPE, 3, 4), alpha_dim=2, dims=3, seed=0).eval()
    program, camera = built(seeing(net, SHAPE, COLOURS), OPTIONS, tmp_path), sensor_of(SAID)
    assert isinstance(camera, Camera)
    (frame,) = frames(camera, 1)
    read = getattr(program.library, f"{program.name}_guard")

    def told(angle: float) -> list[int]:
        read(np.array([angle], np.float32).ctypes.data_as(ctypes.c_void_p), ctypes.c_uint32(1000))
        program.call("poll")
        x = torch.zeros(SHAPE)
        return [called(program, "infer_frame", frame, program.classes)[0], program.infer(x)[0]]

    assert told(30.0) == [OK, OK]
    assert told(float("nan")) == [NOT_CONFIGURED, NOT_CONFIGURED]
    assert told(31.0) == [NOT_CONFIGURED, NOT_CONFIGURED]
    assert told(31.0) == [OK, OK]
