"""Evaluation: the right network for each setting, on exactly the data given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import scn
from scn import runs
from scn.data import Normalisation, to_float
from scn.experiment.plan import plan_run
from scn.methods import SubspaceConfigurable
from scn.runs import backbone_of
from scn.runs.evaluate import evaluate
from scn.runs.evaluation import evaluate_run
from scn.training.recipe import Recipe

rotation = scn.transforms.get("rotation")
method = SubspaceConfigurable(rotation)
normalise = Normalisation()
IMAGES = torch.randint(
    0, 256, (1200, 1, 32, 32), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
)
LABELS = torch.randint(0, 10, (1200,), generator=torch.Generator().manual_seed(1))


def network() -> scn.SCN:
    return scn.SCN(scn.backbones.MLP(width=8, depth=2, norm=True), 2, 3)


def test_each_setting_is_judged_by_its_own_configuration() -> None:
    net = network()
    before = {k: v.clone() for k, v in net.state_dict().items()}
    result = evaluate(method, net, IMAGES, LABELS, rotation.grid(4))
    assert net.training
    assert all(torch.equal(v, before[k]) for k, v in net.state_dict().items())
    net.eval()
    for angle, accuracy in zip(rotation.grid(4), result.values, strict=True):
        x = normalise(rotation.apply(to_float(IMAGES), angle))
        answers = net(x, rotation.encode(angle)).argmax(1)
        assert accuracy == pytest.approx((answers == LABELS).double().mean().item())


def test_a_fixed_configuration_sees_all_settings() -> None:
    net = network()
    fixed = torch.tensor([90.0])
    result = evaluate(method, net, IMAGES, LABELS, rotation.grid(4), fixed=fixed)
    plain = net.configure(rotation.encode(fixed)).eval()
    for angle, accuracy in zip(rotation.grid(4), result.values, strict=True):
        answers = plain(normalise(rotation.apply(to_float(IMAGES), angle))).argmax(1)
        assert accuracy == pytest.approx((answers == LABELS).double().mean().item())
    torch.testing.assert_close(result.alpha, rotation.encode(fixed).expand(4, 2))


def test_accuracy_counts_exactly() -> None:
    class Always(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scores = nn.Parameter(torch.eye(10)[3])

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.scores.expand(len(x), 10)

    with pytest.warns(UserWarning, match="no reset_parameters"):
        net = scn.SCN(Always(), 2, 2)
    result = evaluate(method, net, IMAGES, LABELS, rotation.grid(1))
    assert result.summary()["mean"] == (LABELS == 3).double().mean().item()


def test_some_of_the_test_samples_are_spread_over_all_of_them(tmp_path: Path) -> None:
    images, labels = IMAGES[:40, 0].numpy(), np.arange(40) // 20  # sorted by class
    np.savez(tmp_path / "sorted.npz", x_train=images, y_train=labels, x_test=images, y_test=labels)
    recipe = Recipe(epochs=1, batch_size=32)
    config = plan_run(str(tmp_path / "sorted.npz"), "rotation", "mlp", "scn", recipe, dims=2)
    run = runs.create(tmp_path / "run", config)
    net = run.method().build(backbone_of(run))
    found = evaluate_run(run, net, rotation.grid(2), samples=10)
    assert found.facts["samples"] == 10
    assert found.facts["chance"] == 0.5, "as many of each class"


def test_no_images_is_an_error() -> None:
    with pytest.raises(ValueError, match="no samples to evaluate on"):
        evaluate(method, network(), IMAGES[:0], LABELS[:0], rotation.grid(4))
