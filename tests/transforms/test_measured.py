"""Conditions that a sensor measures: the exported C encodes them, and refuses them, as Python does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from generated import BAD_PARAMS, OK, built, subject
from scn import SCN
from scn.backbones import MLP
from scn.export import Options
from scn.transforms import Light, Measured


class Condition(Measured):
    """Any condition."""

    name = "condition"


@pytest.mark.parametrize(
    ("transform", "beyond"),
    [
        (Condition(980, 1040, "hPa"), 1050.0),
        (Condition(-20, 40, "°C"), -30.0),
        (Condition(0, 24, "h", periodic=True), 1000.0),
        (Light(1000, 5000, "lux"), 6000.0),
    ],
)
def test_c_encodes_a_condition_as_python_does(transform: Measured, beyond: float, tmp_path: Path) -> None:
    net = SCN(MLP((3,), 2, 2), alpha_dim=transform.alpha_dim, dims=2, seed=0)
    given = subject(net, (3,), "light")
    program = built(replace(given, method=replace(given.method, transform=transform)), Options(), tmp_path)
    for params in transform.grid(9):
        status, alpha = program.encode(params, transform.alpha_dim)
        assert status == OK
        torch.testing.assert_close(alpha, transform.encode(params), rtol=1e-5, atol=1e-6)
        assert program.configure(alpha) == OK
    assert program.encode(torch.tensor([beyond]), transform.alpha_dim)[0] == BAD_PARAMS
