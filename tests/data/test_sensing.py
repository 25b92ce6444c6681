"""What a sensor sends is the sample that Python makes of it: the definition that code on a device follows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from scn.core.errors import ScnError
from scn.data.forms import ready
from scn.data.resize import PRECISION, filter_of, resized
from scn.data.sensing import Camera, Pcm, sensor_of

RNG = np.random.default_rng(0)


def camera(said: str) -> Camera:
    found = sensor_of(said)
    assert isinstance(found, Camera)
    return found


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 400), st.integers(1, 120))
def test_the_filter_is_that_of_pillow(length: int, places: int) -> None:
    rows = RNG.integers(0, 256, (1, 3, length), np.uint8)
    taps = filter_of(length, places)
    sums = [rows[0, :, t.first : t.first + len(t.weights)].astype(int) @ np.array(t.weights) for t in taps]
    ours = np.stack(sums, axis=1) + 2 ** (PRECISION - 1) >> PRECISION
    assert np.array_equal(ours, resized(rows, 3, places)[0])
    assert all(b.first <= a.first + len(a.weights) for a, b in pairwise(taps))


def test_grey_and_resize_are_those_of_the_data() -> None:
    """A frame in colours, as Pillow and the preparation of data sets have it."""
    pixels = RNG.integers(0, 256, (61, 83, 3), np.uint8)
    square = Image.fromarray(pixels[:, 11:72]).convert("L")
    picture = camera("camera:83x61:rgb888").picture(pixels, (1, 32, 32))
    assert np.array_equal(picture, ready(np.asarray(square)[None])[0])
    colours = camera("camera:83x61:bgr888").picture(pixels[..., ::-1], (3, 32, 32))
    assert np.array_equal(colours, ready(pixels[None, :, 11:72])[0])


@pytest.mark.parametrize(("form", "order"), [("rgb565", ">u2"), ("rgb565le", "<u2")])
def test_colours_of_5_and_6_bits_reach_from_black_to_white(form: str, order: str) -> None:
    words = np.array([0, 0xFFFF, 0xF800, 0x07E0, 0x001F, 0x8410], order)
    found = camera(f"camera:6x1:{form},crop=all").picture(words.tobytes(), (3, 1, 6))[:, 0]
    right = [[0, 255, 255, 0, 0, 132], [0, 255, 0, 255, 0, 130], [0, 255, 0, 0, 255, 132]]
    assert found.tolist() == right


@pytest.mark.parametrize(("form", "place"), [("yuyv", 0), ("uyvy", 1)])
def test_luma_is_grey(form: str, place: int) -> None:
    frame = RNG.integers(0, 256, (4, 6, 2), np.uint8)
    found = camera(f"camera:6x4:{form},crop=4x4+1+0").picture(frame.tobytes(), (1, 4, 4))
    assert np.array_equal(found[0], frame[:, 1:5, place])


def test_a_part_of_longer_lines_is_cut_out_and_inverted() -> None:
    lines = RNG.integers(0, 256, (9, 20), np.uint8)
    cut = camera("camera:13x9:grey,stride=20,crop=5x4+6+3,invert")
    assert np.array_equal(cut.picture(lines, (1, 4, 5))[0], 255 - lines[3:7, 6:11])
    assert cut.size == 8 * 20 + 13
    cut.picture(lines.reshape(-1)[: cut.size], (1, 4, 5))
    with pytest.raises(ScnError, match="a frame has 173 bytes, but 172 were given"):
        cut.picture(lines.reshape(-1)[:172], (1, 4, 5))


def test_samples_of_one_channel_of_a_ring() -> None:
    both = np.arange(20, dtype=np.int16)
    ring = Pcm(None, stride=2, ring=10)
    assert ring.wave(both[1:], 4, first=8).tolist() == [[17, 19, 1, 3]]
    assert ring.wave(both, 4).dtype == torch.int16
    for count, first in ((11, 0), (4, 10), (4, -1)):
        with pytest.raises(ScnError, match="a ring of 10 samples has no"):
            ring.wave(both, count, first)
    with pytest.raises(ScnError, match="11 samples were to be read, but 10 were given"):
        Pcm(None, stride=2).wave(both, 11)


@pytest.mark.parametrize(
    "said", ["camera:4x4:grey", "camera:4x4:grey,crop=square,stride=4", "camera:4x4:grey,crop=4x4+0+0"]
)
def test_what_is_usual_may_be_said(said: str) -> None:
    assert camera(said) == camera("camera:4x4:grey")
