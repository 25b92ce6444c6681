"""Maps on emulated processors: outputs are those of torch, and few base models cost little."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mapped import MAPPED, Mapped
from needs import emulated
from scn.backbones import MLP
from scn.core.space import draw
from scn.device import targets
from scn.device.build import build
from scn.device.emulate import Group, emulate
from scn.device.measure import export
from scn.export import Options

CORTEX = "cortex-m4f"
SHAPE = (1, 12, 12)
PLAIN = Options()
LEARNED = 3072  # instructions of the learned map at D=3
ON_CORTEX = [
    *("nodes on a circle", "many nodes on a circle", "given nodes on a line", "nodes on a plane"),
    *("nodes among turns", "experts on a circle", "fourier on a circle", "categories"),
]


def measured(
    case: Mapped, folder: Path, options: Options = PLAIN, target: str = CORTEX, **more: Any
) -> tuple[dict[str, int], float, float]:
    """Instructions by phase, and the largest differences of coefficients and of outputs from torch's."""
    torch.manual_seed(0)
    net, processor = case.network(MLP(SHAPE, 10, 32), **more), emulated(target)
    code = export(case.subject(net, SHAPE), options, folder / "c")
    program, _ = build(code, processor, folder / "build")
    alphas = draw(net.map.space, 6, torch.Generator().manual_seed(3))
    x = torch.randn(2, *SHAPE)
    found = emulate(program, code, processor, [Group(alpha.numpy(), x.numpy()) for alpha in alphas])
    with torch.no_grad():
        beta, outputs = net.beta(alphas), torch.cat([net.configure(alpha)(x) for alpha in alphas])
    counted = {phase: int(count.max()) for phase, count in (found.instructions or {}).items()}
    differences = (np.abs(found.beta - beta.numpy()).max(), np.abs(found.outputs - outputs.numpy()).max())
    return counted, float(differences[0]), float(differences[1])


@pytest.mark.parametrize("kind", ON_CORTEX)
def test_a_map_on_the_cortex_is_that_of_torch_and_cheaper_than_a_learned_one(
    kind: str, tmp_path: Path
) -> None:
    counted, beta, outputs = measured(MAPPED[kind], tmp_path)
    assert beta < 1e-4
    assert outputs < 1e-4
    assert counted["hypernet"] < LEARNED


@pytest.mark.parametrize("target", [name for name in targets.TARGETS if name != CORTEX])
@pytest.mark.parametrize(
    "kind", ["nodes on a circle", pytest.param("nodes among turns", marks=pytest.mark.slow)]
)
def test_a_map_is_that_of_torch_on_every_target(kind: str, target: str, tmp_path: Path) -> None:
    _, beta, outputs = measured(MAPPED[kind], tmp_path, target=target)
    assert beta < 1e-4
    assert outputs < 1e-4


@pytest.mark.parametrize("subspace", ["factored:16", "low-rank:4", "shared:layers.1.weight"])
def test_a_compact_network_on_the_cortex_is_that_of_torch(subspace: str, tmp_path: Path) -> None:
    _, beta, outputs = measured(MAPPED["nodes on a circle"], tmp_path, subspace=subspace)
    assert beta < 1e-4
    assert outputs < 1e-4


WAYS = {
    "float32": PLAIN,
    "float16": Options(weights="float16"),
    "int8 weights": Options(weights="int8"),
    "int8": Options(weights="int8", inference="int8"),
}


@pytest.mark.parametrize(
    "way",
    [pytest.param(way, marks=[] if way in ("float32", "int8") else pytest.mark.slow) for way in WAYS],
)
def test_mixing_two_of_64_base_models_costs_what_mixing_two_does(way: str, tmp_path: Path) -> None:
    few, many = (
        measured(Mapped("nodes", "rotation", dims), tmp_path / str(dims), WAYS[way])[0]["configure"]
        for dims in (2, 64)
    )
    assert many <= 1.1 * few
