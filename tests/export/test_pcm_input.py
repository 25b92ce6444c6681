"""PCM comes in as it is: C makes of it what Python does, of all 65,536 values, to the last bit."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from generated import BAD_INPUT, OK, STRICT, built, compiled, subject
from needs import tool
from scn import SCN
from scn.backbones import M5, MLP
from scn.core.errors import ScnError
from scn.data import Normalisation
from scn.export import Options, c
from scn.export.entrance import First
from scn.export.inputs.pcm import line
from scn.export.quantisation import Quantisation
from sensed import called, hearing, seeing, x_of

INT8: dict[str, Any] = {"weights": "int8", "inference": "int8"}
EVERY = np.arange(-(2**15), 2**15).astype(np.int16)
NORMALISATIONS = [Normalisation(), Normalisation((0.0123,), (0.0987,)), Normalisation((-0.31,), (1.7,))]


class Wide(nn.Module):
    """As many values as PCM has, so that one call tries all of them."""

    def __init__(self, length: int = 2**16) -> None:
        super().__init__()
        self.last = nn.Linear(length // 256, 2)
        self.pool = nn.AvgPool1d(256)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.pool(x).flatten(1))


def small(length: int = 1000) -> nn.Module:
    torch.manual_seed(0)
    return M5((1, length), 4, width=4, stride=2)


@pytest.mark.parametrize("normalisation", NORMALISATIONS, ids=str)
def test_every_sample_becomes_x_as_in_python(normalisation: Normalisation, tmp_path: Path) -> None:
    what = hearing(Wide(), 2**16, normalisation=normalisation)
    program = built(what, Options(input="pcm16"), tmp_path, "-O3")
    status, x = called(program, "prepare", EVERY, 2**16)
    assert status == OK
    assert torch.equal(x, x_of(what, "pcm16", EVERY).flatten())


@pytest.mark.parametrize("normalisation", NORMALISATIONS, ids=str)
@pytest.mark.parametrize("bits", [8, 11, 16])
def test_every_sample_has_the_steps_of_its_float(normalisation: Normalisation, bits: int) -> None:
    """Quiet sounds and loud ones, which are cut off; the list beside the line is short, and is needed."""
    what = hearing(nn.Flatten(), 2**16, normalisation=normalisation)
    x = x_of(what, "pcm16", EVERY).flatten()
    listed = 0
    for most in (0.9, 3.0, 40.0):
        if bits == 8:
            held = Quantisation(most / 127, -127, 127)
        else:
            limit = 2 ** (bits - 1) - 1
            held = Quantisation(2.0 ** np.ceil(np.log2(most * 1.25 / limit)), -limit - 1, limit)
        first = First(f"int{held.bits}_t", "to", held.scale, held.of_floats)
        found = line(first, what)
        wide = torch.from_numpy(EVERY.astype(np.int64)) * found.number + found.offset
        steps = wide >> found.shift
        asked = (wide & (2**found.shift - 1)) >= found.near
        steps += asked & torch.isin(torch.from_numpy(EVERY).long(), found.more)
        assert torch.equal(steps.clamp(found.low, found.high), held.of_floats(x).long())
        assert asked.double().mean() < 0.01
        assert len(found.more) < 600
        listed += len(found.more)
    assert listed > 0 or bits < 16


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "M5": lambda: SCN(small(), alpha_dim=1, dims=2, seed=0),
    "one4all": small,
    "pooled": lambda: Wide(2**16),
}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("M5", {}),
    ("M5", {**INT8, "state": "explicit"}),
    ("M5", {**INT8, "double_buffer": True}),
    ("one4all", {"state": "explicit"}),
    ("one4all", INT8),
    ("pooled", INT8),
]


@pytest.mark.parametrize(("kind", "options"), CASES, ids=str)
def test_the_answer_to_a_sound_is_that_to_its_x(kind: str, options: dict[str, Any], tmp_path: Path) -> None:
    length = 2**16 if kind == "pooled" else 1000
    net = NETWORKS[kind]()
    what = hearing(net, length, normalisation=NORMALISATIONS[1])
    program = built(what, Options(input="pcm16:8000", **options), tmp_path)
    if isinstance(net, SCN):
        assert program.configure(torch.tensor([0.3])) == OK
    rng = np.random.default_rng(0)
    for loud in (32767, 900, 30):
        samples = EVERY if kind == "pooled" else rng.integers(-loud - 1, loud + 1, length).astype(np.int16)
        _, right = program.infer(x_of(what, "pcm16", samples))
        for _ in range(2):
            status, outputs = called(program, "infer_pcm", samples, what.outputs)
            assert status == OK
            assert torch.equal(outputs, right)


@pytest.mark.parametrize("options", [{}, {**INT8, "state": "explicit"}], ids=["float", "int8"])
def test_one_channel_of_a_ring_is_read_from_any_place(options: dict[str, Any], tmp_path: Path) -> None:
    """Stereo in a ring: the right channel begins one sample later."""
    said, ring = "pcm16:8000,stride=2,ring=1010", 1010
    what = hearing(small(), 1000)
    program = built(what, Options(input=said, **options), tmp_path)
    both = np.random.default_rng(0).integers(-3000, 3000, 2 * ring).astype(np.int16)
    for first in (0, 1, 9, 10, 11, ring - 1):
        for channel in (both, both[1:]):
            right = x_of(what, said, channel, first)
            alone = np.concatenate([channel[::2], channel[::2]])[first : first + 1000]
            assert torch.equal(right, x_of(what, "pcm16", alone))
            status, x = called(program, "prepare", channel, 1000, first)
            assert status == OK
            assert torch.equal(x, right.flatten())
            assert torch.equal(called(program, "infer_pcm", channel, 4, first)[1], program.infer(right)[1])
    for function, size in (("prepare", 1000), ("infer_pcm", 4)):
        for wrong in (ring, 2**32 - 1):
            assert called(program, function, both, size, wrong)[0] == BAD_INPUT


@pytest.mark.parametrize(
    ("said", "options"),
    [("pcm16", {}), ("pcm16:8000,stride=3,ring=1100", {**INT8, "state": "explicit"})],
    ids=str,
)
def test_it_compiles_everywhere_and_reads_nothing_beside(
    said: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """Sanitizers watch samples that end with the last one that is heard."""
    c.write(hearing(small(), 1000), Options(input=said, **options), tmp_path)
    source, result = tmp_path / "net.c", tmp_path / "net.o"
    compiled(tool("clang"), "-std=c99", "-O2", *STRICT, "-c", source, "-o", result)
    compiled(tool("g++"), "-O3", "-xc++", *STRICT, "-c", source, "-o", result)
    ring = "ring" in said
    (tmp_path / "main.c").write_text(f"""
#include <stdlib.h>
#include "net.h"
{"static net_state own;" if options else ""}
int main(void)
{{
    const int places = {"(NET_PCM_RING - 1) * NET_PCM_STRIDE + 1" if ring else "NET_PCM_SAMPLES"};
    int16_t *const samples = malloc((size_t)places * sizeof *samples);
    float *const x = malloc(NET_INPUT_SIZE * sizeof *x), y[NET_CLASSES];
    int i, status;
    for (i = 0; i < places; i++) {{ samples[i] = (int16_t)(i * 321); }}
    status = net_prepare(samples, {"1099u, " if ring else ""}x) != SCN_OK;
    status |= net_infer_pcm({"&own, " if options else ""}samples, {"1099u, " if ring else ""}y) != SCN_OK;
    free(samples);
    free(x);
    return status || NET_PCM_RATE != 8000;
}}
""")
    watched = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    compiled(tool("gcc"), "-std=c99", *watched, tmp_path / "main.c", source, "-o", tmp_path / "main")
    done = subprocess.run([str(tmp_path / "main")], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


WRONG = {
    "net was trained on 8000 samples a second, not 16000: .* say pcm16:8000": "pcm16:16000",
    "the sample rate of an input is a whole number": "pcm16:8k",
    "the stride of an input is a whole number from 1 to 32767, not '0'": "pcm16,stride=0",
    "a ring of 999 samples is too short: net hears 1000": "pcm16:8000,ring=999",
    'has no option "crop"': "pcm16:8000,crop=all",
}


@pytest.mark.parametrize(("reason", "said"), WRONG.items())
def test_wrong_pcm_is_answered_in_a_sentence(reason: str, said: str) -> None:
    with pytest.raises(ScnError, match=reason):
        c.check(hearing(small(), 1000), Options(input=said))


def test_pcm_is_refused_where_a_network_does_not_hear() -> None:
    readings = subject(MLP((3,), 3, 4), (3,), data="digits")
    for what in (seeing(MLP((1, 8, 8), 3, 4), (1, 8, 8)), readings):
        with pytest.raises(ScnError, match="net is not given sounds, so no PCM can be its input"):
            c.check(what, Options(input="pcm16"))
