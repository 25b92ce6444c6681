"""What the paper says about the structure of trained networks, on networks that really were trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from needs import real_file
from scn import SCN, runs
from scn.experiment.plan import plan_run
from scn.experiment.train import train
from scn.runs import Run, backbone_of
from scn.runs.evaluation import evaluate_run
from scn.training.recipe import Recipe

PARTS = [(axis, split) for axis in "xy" for split in ("train", "test")]
ANGLE = torch.tensor([[0.0], [180.0]])


def trained(
    folder: Path, data: str, transform: str, backbone: str, recipe: Recipe, **more: Any
) -> tuple[Run, SCN]:
    run = runs.create(folder, plan_run(data, transform, backbone, "scn", recipe, **more))
    net = train(run, backbone_of(run), device="cpu", prefetch=False)
    assert isinstance(net, SCN)
    return run, net


def betas(run: Run, net: SCN, steps: int) -> Tensor:
    """(steps ** P, D): the mixture at every setting of a grid."""
    transform = run.method().transform
    with torch.no_grad():
        return net.beta(transform.encode(transform.grid(steps)))


def spread(beta: Tensor) -> float:
    """How much the share of any base changes over the grid."""
    return (beta.amax(dim=0) - beta.amin(dim=0)).max().item()


@pytest.mark.parametrize(
    ("block", "recipe"),
    [
        ("layer1", Recipe(epochs=6, batch_size=32)),
        ("layer4", Recipe(epochs=4, batch_size=64, learning_rate=0.04)),
    ],
)
@pytest.mark.slow
def test_one_configurable_block_of_a_resnet_is_enough_to_adapt(
    tmp_path: Path, block: str, recipe: Recipe
) -> None:
    run, net = trained(
        tmp_path / "run", "digits", "rotation", "resnet18", recipe=recipe, dims=3,
        sizes={"width": 4}, configurable=(f"{block}.*",),
    )  # fmt: skip
    plain = net.configure(run.method().transform.encode(ANGLE[0]))
    mixed = sum(p.numel() for name, p in plain.named_parameters() if name.startswith(f"{block}."))
    total = sum(p.numel() for p in plain.parameters())
    config_net = sum(p.numel() for p in net.map.parameters())
    assert sum(p.numel() for p in net.parameters()) == total + 2 * mixed + config_net
    right = evaluate_run(run, net, ANGLE)
    wrong = evaluate_run(run, net, ANGLE[1:], fixed=ANGLE[0])
    assert right.values.min() > 0.6
    assert wrong.values.item() < right.values[1] - 0.1, "the block alone must tell 0 from 180 degrees"


@pytest.fixture(scope="module")
def some_clothes(tmp_path_factory: pytest.TempPathFactory) -> str:
    """4,286 images for training, so that no time goes into preparing others."""
    path = tmp_path_factory.mktemp("clothes") / "clothes.npz"
    with np.load(real_file("SCN_DATA_DIR", "fashion-mnist.npz")) as whole:
        np.savez(path, **{f"{axis}_{split}": whole[f"{axis}_{split}"][::14] for axis, split in PARTS})
    return str(path)


@pytest.mark.parametrize(
    ("dims", "part", "epochs", "batch_size"),
    [
        (2, False, 6, 64),
        (3, False, 6, 64),
        (5, True, 4, 32),
    ],
)
@pytest.mark.slow
def test_one_base_is_all_that_a_backbone_without_need_for_others_learns(
    dims: int, part: bool, epochs: int, batch_size: int, some_clothes: str, tmp_path: Path
) -> None:
    recipe = Recipe(epochs=epochs, batch_size=batch_size, train_samples=4000, separation_weight=0.0)
    run, net = trained(
        tmp_path / "run", some_clothes if part else "fashion-mnist", "translation", "shift-invariant-cnn",
        recipe=recipe, dims=dims, preset="padded",
    )  # fmt: skip
    beta = betas(run, net, 9)
    assert beta.mean(dim=0).max() > 0.9
    assert spread(beta) < 0.1


def test_a_backbone_that_needs_several_bases_uses_them(some_clothes: str, tmp_path: Path) -> None:
    """The same data, changes and recipe as above: it is the backbone that makes the difference."""
    recipe = Recipe(epochs=4, batch_size=32, train_samples=4000, separation_weight=0.0)
    run, net = trained(
        tmp_path / "run", some_clothes, "translation", "mlp", recipe=recipe, dims=3, preset="padded"
    )
    assert spread(betas(run, net, 9)) > 0.5


def test_the_mixture_is_continuous_in_alpha(tmp_path: Path) -> None:
    run, net = trained(
        tmp_path / "run", "digits", "rotation", "mlp", recipe=Recipe(epochs=10, batch_size=64), dims=5
    )
    assert spread(betas(run, net, 90)) > 0.5, "a constant would be continuous, too"
    steps = {}
    for count in (720, 1440, 2880):
        beta = betas(run, net, count)
        steps[count] = (beta - beta.roll(1, dims=0)).abs().max().item()
    assert steps[1440] / steps[720] == pytest.approx(0.5, abs=0.05)
    assert steps[2880] / steps[1440] == pytest.approx(0.5, abs=0.05)
