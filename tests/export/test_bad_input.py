"""What is no input is refused, whatever the compiler assumes about numbers."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path

import pytest
import torch

from generated import BAD_ALPHA, BAD_INPUT, BAD_PARAMS, NOT_CONFIGURED, OK, Program, built, subject
from interrupting import Noise
from scn import SCN
from scn.backbones import MLP
from scn.export import Options, Subject

OPTIONS = {
    "float": Options(),
    "row": Options(theta="row"),
    "int8": Options(weights="int8", inference="int8"),
    "int8, row": Options(weights="int8", inference="int8", theta="row"),
}
BAD = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
UPRIGHT = torch.tensor([1.0, 0.0])


def network() -> Subject:
    net = SCN(MLP((1, 5, 5), 3, 6, depth=2), alpha_dim=2, dims=3, seed=0).eval()
    return Noise(**vars(subject(net, (1, 5, 5))))


@pytest.fixture(scope="module", params=["-O1", "-Ofast"])
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Program]:
    folder = tmp_path_factory.mktemp("programs")
    return {
        name: built(network(), options, folder / name, request.param) for name, options in OPTIONS.items()
    }


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("value", BAD)
def test_an_input_that_is_no_number_is_refused_wherever_it_stands(
    programs: dict[str, Program], option: str, value: str
) -> None:
    program = programs[option]
    assert program.configure(UPRIGHT) == OK
    for place in range(25):
        x = torch.zeros(25)
        x[place] = BAD[value]
        assert program.infer(x)[0] == BAD_INPUT
    assert program.infer(torch.zeros(25))[0] == OK


@pytest.mark.parametrize("option", ["float", "row"])
def test_an_input_too_large_for_the_sums_is_refused(option: str, tmp_path: Path) -> None:
    what = network()
    assert isinstance(what.network, SCN)
    with torch.no_grad():
        what.network.theta.mul_(100)
    program = built(what, OPTIONS[option], tmp_path)
    assert program.configure(UPRIGHT) == OK
    assert program.infer(torch.full((25,), 3e38))[0] == BAD_INPUT
    assert program.infer(torch.full((25,), 3.0))[0] == OK


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("value", BAD)
def test_params_alpha_and_beta_that_are_no_numbers_are_refused(
    programs: dict[str, Program], option: str, value: str
) -> None:
    program, bad = programs[option], BAD[value]
    assert program.encode(torch.tensor([bad]), 2)[0] == BAD_PARAMS
    assert program.configure(torch.tensor([bad, 0.0])) == BAD_ALPHA
    assert program.configure(torch.tensor([1.0, bad])) == BAD_ALPHA
    assert program.call("mix", torch.tensor([0.5, bad, 0.5]).numpy()) == BAD_ALPHA


def test_arrays_that_are_not_aligned_are_refused(tmp_path: Path) -> None:
    program = built(network(), Options(), tmp_path)
    buffer = ctypes.create_string_buffer(200)
    start = (-ctypes.addressof(buffer)) % 4
    whole, off = (ctypes.c_void_p(ctypes.addressof(buffer) + start + by) for by in (0, 1))
    library = program.library
    assert library.net_infer(whole, whole) == NOT_CONFIGURED
    assert library.net_infer(off, whole) == BAD_INPUT
    assert library.net_infer(whole, off) == BAD_INPUT
    assert library.net_configure(off) == BAD_ALPHA
    assert library.net_encode(off, whole) == BAD_PARAMS
