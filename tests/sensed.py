"""Networks that are given what a sensor sends, without a data set behind them."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from generated import Program, subject
from interrupting import Noise
from scn.data import Normalisation, to_float
from scn.data.sensing import Camera, Pcm, sensor_of
from scn.export import Subject

BYTES = ctypes.POINTER(ctypes.c_uint8)
COLOURS = Normalisation((0.48, 0.45, 0.4), (0.23, 0.22, 0.225))


@dataclass(frozen=True)
class Sensed(Noise):
    """Trained on samples like this one; calibrated by noise."""

    like: Tensor | None = None
    rate: int | None = None

    @property
    def has_no_data(self) -> bool:
        return False

    @property
    def sample(self) -> Tensor | None:
        return self.like

    @property
    def sample_rate(self) -> int | None:
        return self.rate


def seeing(net: nn.Module, shape: tuple[int, ...], normalisation: Normalisation | None = None) -> Subject:
    """A network that is shown images."""
    like = torch.zeros(shape, dtype=torch.uint8)
    given = {**vars(subject(net.eval(), shape)), "normalisation": normalisation or Normalisation()}
    return Sensed(**given, like=like)


def hearing(
    net: nn.Module, length: int, rate: int = 8000, normalisation: Normalisation | None = None
) -> Subject:
    """A network that is given sounds."""
    like = torch.zeros(1, length, dtype=torch.int16)
    given = {
        **vars(subject(net.eval(), (1, length), "pitch")),
        "normalisation": normalisation or Normalisation(),
    }
    return Sensed(**given, like=like, rate=rate)


def frames(camera: Camera, count: int = 1, seed: int = 0) -> np.ndarray:
    """Bytes of noise, and of what is smooth: both ends of the scale are there."""
    rng = np.random.default_rng(seed)
    noise = rng.integers(0, 256, (count, camera.size), np.uint8)
    smooth = (np.arange(camera.size) * 255 // max(camera.size - 1, 1)).astype(np.uint8)
    noise[::3] = smooth
    return noise


def x_of(what: Subject, said: str, samples: np.ndarray, first: int = 0) -> Tensor:
    """What Python makes of a frame or of PCM."""
    sensor = sensor_of(said)
    if isinstance(sensor, Pcm):
        found = sensor.wave(samples, what.shape[1], first)
    else:
        found = sensor.picture(samples, what.shape)  # type: ignore[arg-type]
    return what.normalisation(to_float(found[None]))[0]


def called(
    program: Program, function: str, given: np.ndarray, size: int, *numbers: int
) -> tuple[int, Tensor]:
    """The status of `prepare`, `infer_frame` or `infer_pcm`, and what it wrote."""
    out = np.full(size, np.nan, np.float32)
    stateless = function == "prepare" and given.dtype == np.int16
    own = [program.state] if program.state is not None and not stateless else []
    more = [ctypes.c_uint32(number) for number in numbers]
    places = [ctypes.c_void_p(array.ctypes.data) for array in (given, out)]
    status = getattr(program.library, f"{program.name}_{function}")(*own, places[0], *more, places[1])
    return int(status), torch.from_numpy(out)
