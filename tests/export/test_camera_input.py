"""A camera's bytes come in as they are: C makes of them what Python does, to the last bit."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from generated import NOT_CONFIGURED, OK, STRICT, built, compiled, subject
from needs import emulated, real_data, tool
from scn import SCN, data
from scn.backbones import MLP, LeNet5, ShallowCNN
from scn.core.errors import ScnError
from scn.data.sensing import FORMATS, Camera, sensor_of
from scn.device.build import Code, build
from scn.device.emulate import Group, emulate
from scn.device.measure import export
from scn.export import Options, Subject, c, inputs
from sensed import COLOURS, called, frames, hearing, seeing, x_of

INT8: dict[str, Any] = {"weights": "int8", "inference": "int8"}
GREY, COLOUR = (1, 32, 32), (3, 32, 32)
SMALL = "camera:40x30:rgb565"


def small(shape: tuple[int, ...]) -> Subject:
    torch.manual_seed(0)
    return seeing(MLP(shape, 3, 4), shape, COLOURS if shape[0] == 3 else None)


def agrees(said: str, shape: tuple[int, ...], folder: Path) -> None:
    """C and Python make the same of some frames, one after the other."""
    what, camera = small(shape), sensor_of(said)
    assert isinstance(camera, Camera)
    program = built(what, Options(input=said), folder, "-O3")
    for frame in frames(camera, 4):
        status, x = called(program, "prepare", frame, int(np.prod(shape)))
        assert status == OK
        assert torch.equal(x, x_of(what, said, frame).flatten()), said


@pytest.mark.parametrize(
    ("said", "shape"),
    [
        ("camera:160x120:rgb565", GREY),
        ("camera:160x120:rgb565le", COLOUR),
        ("camera:640x480:grey,stride=700", (1, 28, 28)),
        ("camera:97x61:rgb888,crop=all,stride=300", (3, 28, 20)),
        ("camera:64x48:bgr888,crop=40x30+11+7,invert", GREY),
        ("camera:20x12:yuyv", (1, 45, 33)),
        ("camera:32x32:uyvy", GREY),
        ("camera:1x1:rgb888", (3, 5, 7)),
        ("camera:9x5:rgb565,crop=1x5+8+0", (3, 1, 1)),
    ],
)
def test_a_frame_becomes_x_as_in_python(said: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    agrees(said, shape, tmp_path)


@st.composite
def cameras(draw: st.DrawFn) -> tuple[str, tuple[int, int, int]]:
    width, height = draw(st.integers(1, 90)), draw(st.integers(1, 90))
    form = draw(st.sampled_from(sorted(FORMATS)))
    wide, high = draw(st.integers(1, width)), draw(st.integers(1, height))
    box = f"{wide}x{high}+{draw(st.integers(0, width - wide))}+{draw(st.integers(0, height - high))}"
    stride = width * FORMATS[form].bytes + draw(st.integers(0, 9))
    said = (
        f"camera:{width}x{height}:{form},stride={stride},crop={draw(st.sampled_from([box, 'square', 'all']))}"
    )
    channels = draw(st.sampled_from([1, 3])) if FORMATS[form].colours else 1
    more = ",invert" if draw(st.booleans()) else ""
    return said + more, (channels, draw(st.integers(1, 40)), draw(st.integers(1, 40)))


@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(cameras())
def test_any_camera_and_any_size_agree(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[str, tuple[int, int, int]]
) -> None:
    agrees(*case, tmp_path_factory.mktemp("camera"))


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(cameras())
def test_very_many_cameras_agree(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[str, tuple[int, int, int]]
) -> None:
    agrees(*case, tmp_path_factory.mktemp("camera"))


@pytest.mark.parametrize("name", ["digits", "fashion-mnist", "gtsrb"])
def test_a_picture_of_the_data_is_the_sample_that_the_network_was_trained_on(
    name: str, tmp_path: Path
) -> None:
    """A camera that sends the images of the data set, in the form of its file."""
    dataset = data.load(real_data(name))
    images, ready = dataset.arrays["x_test"][:20], dataset.split("test")[0][:20]
    said = f"camera:{images.shape[2]}x{images.shape[1]}:{'grey' if images.ndim == 3 else 'rgb888'}"
    shape = tuple(ready.shape[1:])
    what = small(shape)
    program = built(what, Options(input=said), tmp_path)
    for image, sample in zip(images, ready, strict=True):
        status, x = called(program, "prepare", np.ascontiguousarray(image), int(np.prod(shape)))
        assert status == OK
        assert torch.equal(x, what.normalisation(data.to_float(sample[None]))[0].flatten())


NETWORKS = {
    "MLP": lambda: SCN(MLP(GREY, 5, 8), alpha_dim=2, dims=3, seed=0),
    "LeNet-5": lambda: SCN(LeNet5(), alpha_dim=2, dims=2, seed=0),
    "nodes": lambda: SCN(MLP(GREY, 5, 8), alpha_dim=2, dims=5, seed=0, map="nodes"),
    "one4all": lambda: ShallowCNN(GREY, 10, width=3),
}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("MLP", {}),
    ("MLP", {"double_buffer": True}),
    ("MLP", {"weights": "float16", "theta": "row"}),
    ("MLP", {**INT8, "theta": "row", "state": "explicit"}),
    ("LeNet-5", {"state": "explicit"}),
    ("LeNet-5", INT8),
    ("LeNet-5", {**INT8, "double_buffer": True, "state": "explicit"}),
    ("nodes", {"theta": "row"}),
    ("nodes", INT8),
    ("one4all", {}),
    ("one4all", {**INT8, "state": "explicit"}),
]


@pytest.mark.parametrize(("kind", "options"), CASES, ids=str)
def test_the_answer_to_a_frame_is_that_to_its_x(kind: str, options: dict[str, Any], tmp_path: Path) -> None:
    """To the bit, again after another frame, and whether x or the frame was asked for first."""
    torch.manual_seed(0)
    what = seeing(NETWORKS[kind](), GREY)
    program, camera = built(what, Options(input=SMALL, **options), tmp_path), sensor_of(SMALL)
    assert isinstance(camera, Camera)
    seen = frames(camera, 3)
    if what.is_scn:
        assert called(program, "infer_frame", seen[0], what.outputs)[0] == NOT_CONFIGURED
        assert program.configure(what.transform.encode(torch.tensor([30.0]))) == OK
    first = called(program, "infer_frame", seen[0], what.outputs)
    for frame in (*seen, seen[0]):
        _, right = program.infer(x_of(what, SMALL, frame))
        status, outputs = called(program, "infer_frame", frame, what.outputs)
        assert status == OK
        assert torch.equal(outputs, right)
    assert torch.equal(outputs, first[1])


def test_an_input_of_8_bits_is_that_of_its_floats(tmp_path: Path) -> None:
    """A network whose first layer reads 8 bits: a padding keeps the input as it is."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 4))
    what = seeing(net, GREY)
    program = built(what, Options(input=SMALL, **INT8), tmp_path)
    assert "scn_values_int8_t[256]" in program.source.read_text()
    for frame in frames(sensor_of(SMALL), 3):  # type: ignore[arg-type]
        _, right = program.infer(x_of(what, SMALL, frame))
        assert torch.equal(called(program, "infer_frame", frame, 4)[1], right)


def test_no_float_is_between_a_frame_and_the_layers_in_whole_numbers(tmp_path: Path) -> None:
    c.write(seeing(NETWORKS["LeNet-5"](), GREY), Options(input=SMALL, **INT8), tmp_path)
    functions = re.split(r"\n(?=\S.*\)\n\{)", (tmp_path / "net.c").read_text())
    called_by = {"scn_frame_int16_t", "scn_frame_window", "scn_pixels", "scn_weighted"}
    bodies = [text for text in functions if text.split("(")[0].split()[-1].lstrip("*") in called_by]
    assert len(bodies) == len(called_by)
    assert [text for text in bodies if "float" in text or re.search(r"\d\.\d", text)] == []


@pytest.mark.parametrize("options", [Options(input=SMALL), Options(input=SMALL, double_buffer=True)], ids=str)
def test_a_frame_waits_for_nobody(options: Options, tmp_path: Path) -> None:
    """While another call uses the memory, SCN_BUSY; arrays that are not aligned are refused."""
    flag = "running" if options.double_buffer else "busy"
    net = SCN(MLP(GREY, 3, 4), alpha_dim=2, dims=2, seed=0)
    c.write(seeing(net, GREY), Options(**{**vars(options), "state": "explicit"}), tmp_path)
    (tmp_path / "main.c").write_text(f"""
#include "net.h"
static net_state own;
static uint8_t frame[NET_FRAME_BYTES];
static float x[NET_INPUT_SIZE + 1], y[NET_CLASSES + 1];
int main(void)
{{
    const float alpha[2] = {{1.0f, 0.0f}};
    float *const odd = (float *)(void *)((char *)x + 1), *const odd_y = (float *)(void *)((char *)y + 2);
    if (net_configure(&own, alpha) != SCN_OK) {{ return 1; }}
    own.{flag} = 1;
    y[0] = 7.0f;
    if (net_infer_frame(&own, frame, y) != SCN_BUSY) {{ return 2; }}
    if (net_prepare(&own, frame, x) != SCN_BUSY) {{ return 2; }}
    if (y[0] != 7.0f || own.{flag} != 1) {{ return 3; }}
    own.{flag} = 0;
    if (net_infer_frame(&own, frame, odd_y) != SCN_BAD_INPUT) {{ return 4; }}
    if (net_prepare(&own, frame, odd) != SCN_BAD_INPUT) {{ return 5; }}
    if (net_prepare(&own, frame, x) != SCN_OK || net_infer_frame(&own, frame, y) != SCN_OK) {{ return 6; }}
    return own.{flag} != 0;
}}
""")
    sources = (tmp_path / "main.c", tmp_path / "net.c")
    compiled(tool("gcc"), "-std=c99", *sources, "-o", tmp_path / "main")
    assert subprocess.run([str(tmp_path / "main")], check=False, timeout=60).returncode == 0


@pytest.mark.parametrize("options", [{}, INT8], ids=["float", "int8"])
@pytest.mark.parametrize("said", ["camera:21x13:rgb565,stride=43,crop=all", "camera:7x3:grey,crop=2x3+5+0"])
def test_no_byte_beside_the_frame_is_read(said: str, options: dict[str, Any], tmp_path: Path) -> None:
    """Sanitizers watch a frame that ends with its last pixel, and x, which ends with its last value."""
    c.write(seeing(ShallowCNN(GREY, 10, width=3), GREY), Options(input=said, **options), tmp_path)
    (tmp_path / "main.c").write_text("""
#include <stdlib.h>
#include "net.h"
int main(void)
{
    uint8_t *const frame = malloc(NET_FRAME_BYTES);
    float *const x = malloc(NET_INPUT_SIZE * sizeof *x), y[NET_CLASSES];
    int i, status;
    for (i = 0; i < NET_FRAME_BYTES; i++) { frame[i] = (uint8_t)(255 - i % 7); }
    status = net_prepare(frame, x) != SCN_OK || net_infer_frame(frame, y) != SCN_OK;
    free(frame);
    free(x);
    return status;
}
""")
    watched = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    sources = (tmp_path / "main.c", tmp_path / "net.c")
    compiled(tool("gcc"), "-std=c99", *watched, *sources, "-o", tmp_path / "main")
    done = subprocess.run([str(tmp_path / "main")], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("said", "options"),
    [(SMALL, {}), ("camera:32x32:grey", {**INT8, "state": "explicit"}), ("camera:40x30:yuyv", INT8)],
    ids=str,
)
def test_every_compiler_takes_it_without_a_warning(
    said: str, options: dict[str, Any], tmp_path: Path
) -> None:
    c.write(seeing(NETWORKS["nodes"](), GREY), Options(input=said, **options), tmp_path)
    source, result = tmp_path / "net.c", tmp_path / "net.o"
    compiled(tool("clang"), "-std=c99", "-O2", *STRICT, "-c", source, "-o", result)
    compiled(tool("g++"), "-O3", "-xc++", *STRICT, "-c", source, "-o", result)
    arm = ("-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
    for level in ("-O0", "-O3"):
        compiled(tool("arm-none-eabi-gcc"), "-std=c99", *arm, level, *STRICT, "-c", source, "-o", result)
    missing = compiled("arm-none-eabi-nm", "--undefined-only", result).split()
    assert [name for name in missing if name.startswith("mem")] == []


@pytest.mark.parametrize("options", [{}, INT8], ids=["float", "int8"])
def test_a_cortex_m4f_gives_the_same(options: dict[str, Any], tmp_path: Path) -> None:
    """x to the bit; outputs as this machine has them, to the bit in whole numbers."""
    target, said = emulated("cortex-m4f"), "camera:160x120:rgb565"
    torch.manual_seed(0)
    what, camera = seeing(MLP(GREY, 5, 8), GREY), sensor_of(said)
    assert isinstance(camera, Camera)
    chosen = Options(input=said, **options)
    seen, code = frames(camera, 2), export(what, chosen, tmp_path / "export")
    for function, size in (("prepare", 1024), ("infer_frame", 5)):
        group = Group(np.zeros(0, np.float32), seen)
        frame = on_frames(code, function, size, camera.size)
        program, _ = build(frame, target, tmp_path / function)
        found = torch.from_numpy(emulate(program, frame, target, [group]).outputs.copy())
        here = built(what, chosen, tmp_path / "here")
        right = torch.stack([called(here, function, one, size)[1] for one in seen])
        if function == "prepare" or options:
            assert torch.equal(found, right)
        else:
            assert torch.allclose(found, right, atol=1e-5)


def on_frames(code: Code, function: str, outputs: int, size: int) -> Code:
    """The harness gives frames of so many bytes to this function."""
    header = code.header.replace("SUBJECT_INPUT net_input", "SUBJECT_INPUT uint8_t")
    header = re.sub(r"SUBJECT_INPUTS .*", f"SUBJECT_INPUTS {size}", header)
    header = re.sub(r"SUBJECT_OUTPUTS .*", f"SUBJECT_OUTPUTS {outputs}", header)
    header = header.replace("net_infer(", f"net_{function}(")
    return Code(**{**vars(code), "header": header, "inputs": size, "outputs": outputs, "input_type": "|u1"})


WRONG = {
    "there is no input": "photo:3x3:grey",
    "is no camera: say camera:WIDTHxHEIGHT:FORMAT": "camera",
    'there is no format of pixels "rgb656". Did you mean "rgb565"': "camera:160x120:rgb656",
    "the width of an input is a whole number from 1 to 32767, not '0'": "camera:0x120:grey",
    "the height of an input is a whole number": "camera:160x99999999999999999999:grey",
    'has no option "crup". Did you mean "crop"': "camera:160x120:grey,crup=all",
    "is not within a frame of 160x120": "camera:160x120:grey,crop=121x121+0+0",
    "crop=middle is no part of a frame": "camera:160x120:grey,crop=middle",
    "a line of 160 pixels has 320 bytes: stride=319 is too little": "camera:160x120:rgb565,stride=319",
    "the option stride of an input is said twice": "camera:160x120:grey,stride=160,stride=161",
    "invert of a camera has no value": "camera:160x120:grey,invert=no",
    "takes tables too large for a device": "camera:32767x32001:grey,crop=all",
}


@pytest.mark.parametrize(("reason", "said"), WRONG.items())
def test_a_wrong_camera_is_answered_in_a_sentence(reason: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ScnError, match=reason):
        c.write(small(GREY), Options(input=said), tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_a_camera_is_refused_where_a_network_does_not_look_at_its_pictures(tmp_path: Path) -> None:
    grey, colour = "camera:40x30:grey", "camera:40x30:rgb565"
    wave = hearing(nn.Sequential(nn.Flatten(), nn.Linear(32, 3)), 32)
    readings = subject(MLP((3,), 3, 4), (3,), data="digits")
    inverse = {
        **vars(small(GREY)),
        "method": type("Undo", (), {"shows_the_sample": False})(),
        "method_name": "inverse",
    }
    for what, said, reason in (
        (small(COLOUR), grey, "it looks at colours, and frames of grey have none"),
        (small((2, 8, 8)), colour, "its images have 2 channels"),
        (wave, colour, "net is not given images"),
        (readings, colour, "net is not given images"),
        (subject(MLP(GREY, 3, 4), GREY), colour, "the data no such file.npz, which are not here"),
    ):
        with pytest.raises(ScnError, match=reason):
            c.check(what, Options(input=said))
    with pytest.raises(ScnError, match="the method inverse gives its network something else"):
        inputs.check(type(small(GREY))(**inverse), Options(input=colour))
