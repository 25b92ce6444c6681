"""A package knows which network it holds, and whether it works on the board."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from test_export_build import OPTIONS, SHAPES, written

from generated import OK, built, shared, subject
from interrupting import Noise
from needs import tool
from scn import SCN
from scn.backbones import MLP
from scn.export import Options, Subject, c

FAILED = 6


def network(seed: int = 0) -> Subject:
    torch.manual_seed(seed)
    net = SCN(MLP((1, 5, 5), 3, 6), alpha_dim=2, dims=3, seed=seed).eval()
    return Noise(**vars(subject(net, (1, 5, 5))))


def checked(library: ctypes.CDLL, inputs: int, state: bool = False) -> int:
    x, outputs = np.zeros(inputs, np.float32), np.zeros(3, np.float32)
    own = [ctypes.create_string_buffer(200_000)] if state else []
    return int(library.net_selftest(*own, *(a.ctypes.data_as(ctypes.c_void_p) for a in (x, outputs))))


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("option", OPTIONS)
def test_the_self_test_passes_on_this_machine(option: str, kind: str, tmp_path: Path) -> None:
    options = OPTIONS[option]
    library = shared([written(kind, options, tmp_path)], tmp_path / "net.so", tool("gcc"), "-std=c99", "-O1")
    assert checked(library, int(np.prod(SHAPES[kind])), options.state == "explicit") == OK


@pytest.mark.parametrize(
    "options", [Options(), Options(weights="int8", inference="int8")], ids=["float", "int8"]
)
def test_the_self_test_finds_weights_that_are_not_those_of_the_export(
    options: Options, tmp_path: Path
) -> None:
    program = built(network(), options, tmp_path)
    text = program.source.read_text()
    table = re.search(r"scn_bases(?:\[\d+\])? = \{(.*?)\};|bytes\[\d+\];.*?= \{(.*?)\};", text, re.DOTALL)
    assert table is not None
    spoilt = text[: table.start()] + re.sub(r"(?<=[ {\n])-?(\d)", r"\1", table[0]) + text[table.end() :]
    program.source.write_text(spoilt)
    library = shared([program.source], tmp_path / "bad.so", tool("gcc"), "-std=c99", "-O1")
    assert checked(library, 25) == FAILED


class Identity(ctypes.Structure):
    _fields_ = [
        ("api_version", ctypes.c_uint),
        ("format_version", ctypes.c_uint),
        ("model_hash", ctypes.c_char_p),
        ("made_by", ctypes.c_char_p),
    ]


def test_the_identity_is_readable_at_run_time_and_in_the_header(tmp_path: Path) -> None:
    program = built(network(), Options(), tmp_path)
    found = Identity.in_dll(program.library, "net_identity")
    header = (tmp_path / "net.h").read_text()
    assert f'#define NET_MODEL_HASH "{found.model_hash.decode()}"' in header
    assert f"#define NET_API_VERSION {found.api_version}\n" in header
    assert f"#define NET_FORMAT_VERSION {found.format_version}\n" in header
    assert found.made_by.startswith(b"scn ")


def test_the_hash_is_that_of_the_weights() -> None:
    first, again, other = (c.generate(network(seed), Options()).facts["model_hash"] for seed in (0, 0, 1))
    assert first == again
    assert first != other
    changed = network()
    assert isinstance(changed.network, SCN)
    with torch.no_grad():
        changed.network.theta[1, 7] += 1e-3
    assert c.generate(changed, Options()).facts["model_hash"] != first
