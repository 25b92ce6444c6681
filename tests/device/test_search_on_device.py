"""A search finds on the emulated processor what it finds in Python, in the instructions of the core."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from generated import subject
from needs import emulated
from scn import SCN, search, transforms
from scn.backbones import MLP
from scn.device.build import build
from scn.device.emulate import Group, emulate
from scn.device.measure import export
from scn.experiment.device_search import candidates_plan
from scn.export import Options
from searched import ALIKE, doubts

SHAPE = (1, 12, 12)
CALL = "(net_search_begin() || net_search_add(x) || net_search_end(outputs, outputs + 1))"


@pytest.mark.parametrize(
    ("target", "weights"),
    [("cortex-m4f", "float32"), ("cortex-m4f", "float16"), ("cortex-m4f", "int8"), ("rv32", "int8")],
)
def test_the_emulated_core_finds_the_best_candidate(target: str, weights: str, tmp_path: Path) -> None:
    where, rotation = emulated(target), transforms.get("rotation")
    net = SCN(MLP(SHAPE, 5, 14, depth=2), alpha_dim=2, dims=3, seed=0).eval()
    with torch.no_grad():  # inputs differ in the setting that explains them
        net.theta.mul_(2)
        net.map.get_parameter("output.weight").mul_(4)
    what = replace(subject(net, SHAPE), search=candidates_plan("grid", search.Grid(net, rotation, 12)))
    options = Options(weights=weights)  # type: ignore[arg-type]
    code = export(what, options, tmp_path / "c")
    code = replace(
        code, header=f"{code.header}#undef SUBJECT_INFER\n#define SUBJECT_INFER(x, outputs) {CALL}\n"
    )
    program, _ = build(code, where, tmp_path / "build")
    x = torch.randn(8, *SHAPE)
    group = Group(rotation.encode(torch.tensor([0.0])).numpy(), x.numpy().astype(np.float32))
    found = emulate(program, code, where, [group]).outputs
    expected = doubts(what, options, x)
    for answer, own in zip(found, expected.unbind(dim=1), strict=True):
        place = round(float(answer[0]) / 30)
        assert answer[0] == 30 * place
        np.testing.assert_allclose(answer[1:3], rotation.encode(torch.tensor([30.0 * place])), atol=1e-6)
        assert own[place] - own.min() <= ALIKE * max(1.0, float(own.abs().max()))
    assert len({float(answer[0]) for answer in found}) > 1
