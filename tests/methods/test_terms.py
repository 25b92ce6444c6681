"""The terms for search: sure of the input under the right setting, unsure under a wrong one."""

from __future__ import annotations

import pytest
import torch

import scn
from scn import methods
from scn.core import losses
from scn.objectives import Classification
from scn.training.recipe import Recipe


def test_each_term_has_its_sign_and_its_weight() -> None:
    recipe = Recipe(entropy_weight=0.3, wrong_entropy_weight=0.2, evidence_weight=0.5)
    kind = methods.get("scn")
    method = kind(scn.transforms.get("rotation"), recipe, 3, objective=Classification(10))
    net = method.build(lambda: scn.backbones.MLP(width=4))
    generator = torch.Generator().manual_seed(0)
    x, labels = torch.randn(8, 1, 32, 32, generator=generator), torch.arange(8)
    alphas = method.alphas(method.draw(4, generator), generator)
    parts = {name: part.item() for name, part in method.loss(net, x, labels, alphas).items()}
    right, wrong = net(x, alphas["alpha"]), net(x, alphas["wrong"])
    assert parts["entropy"] == pytest.approx(0.3 * losses.entropy(right).mean().item(), rel=1e-5)
    assert parts["wrong_entropy"] == pytest.approx(-0.2 * losses.entropy(wrong).mean().item(), rel=1e-5)
    contrast = losses.evidence_contrast(right, wrong).item()
    assert parts["evidence"] == pytest.approx(0.5 * contrast, rel=1e-5)
