"""Generated C answers as torch does, for every kind of backbone and every way to hold theta."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from generated import BAD_ALPHA, OK, built, subject
from scn import SCN
from scn.backbones import M5, MLP, LeNet5, ResNet18, ShallowCNN, ShiftInvariantCNN
from scn.export import Options

BACKBONES: dict[str, tuple[nn.Module, tuple[int, ...]]] = {
    "MLP": (MLP((1, 32, 32), 10, 32), (1, 32, 32)),
    "MLP with norm": (MLP((1, 8, 8), 7, 9, depth=3, norm=True), (1, 8, 8)),
    "LeNet-5": (LeNet5(), (1, 32, 32)),
    "ShallowCNN": (ShallowCNN((3, 32, 32), 10, width=6), (3, 32, 32)),
    "deep ShallowCNN": (ShallowCNN((3, 32, 32), 10, width=6, depth=4), (3, 32, 32)),
    "M5": (M5((1, 4000), 35, width=8), (1, 4000)),
    "ResNet18": (ResNet18((3, 16, 16), 10, width=4), (3, 16, 16)),
    "shift-invariant": (ShiftInvariantCNN((1, 12, 12), 10, width=5), (1, 12, 12)),
}
SAMPLES, SETTINGS = 200, 8


def trained_like(backbone: nn.Module, shape: tuple[int, ...]) -> nn.Module:
    """With statistics of norm layers as after some training."""
    torch.manual_seed(0)
    with torch.no_grad():
        for module in backbone.modules():
            if isinstance(module, nn.modules.batchnorm._BatchNorm):
                module.weight.uniform_(0.5, 1.5)
                module.bias.normal_(0, 0.2)
        backbone.train()
        for _ in range(3):
            backbone(torch.randn(8, *shape) * 2 + 0.5)
    return backbone.eval()


def network(kind: str, dims: int = 3) -> tuple[SCN, tuple[int, ...]]:
    backbone, shape = BACKBONES[kind]
    net = SCN(trained_like(backbone, shape), alpha_dim=2, dims=dims, seed=1).eval()
    with torch.no_grad():  # base models that differ in their norm layers too
        net.theta.mul_(1 + 0.3 * torch.randn_like(net.theta))
    return net, shape


def settings(count: int = SETTINGS) -> torch.Tensor:
    angle = torch.rand(count, 1) * 2 * torch.pi
    return torch.cat([angle.cos(), angle.sin()], dim=1)


@pytest.mark.parametrize("theta", ["ram", "row"])
@pytest.mark.parametrize("kind", BACKBONES)
def test_the_answers_are_those_of_torch(kind: str, theta: str, tmp_path: Path) -> None:
    net, shape = network(kind)
    program = built(subject(net, shape), Options(theta=theta), tmp_path)  # type: ignore[arg-type]
    counts = SAMPLES if theta == "ram" and kind not in ("ResNet18", "deep ShallowCNN") else 8
    x = torch.randn(counts, *shape)
    for alpha in settings():
        assert program.configure(alpha) == OK
        with torch.no_grad():
            expected = net.configure(alpha)(x)
        ours = program.answers(x)
        torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-4)
        assert torch.equal(ours.argmax(dim=1), expected.argmax(dim=1))


def test_an_impossible_alpha_keeps_the_last_configuration(tmp_path: Path) -> None:
    net, shape = network("MLP with norm")
    program = built(subject(net, shape), Options(), tmp_path)
    x = torch.randn(shape)
    assert program.configure(torch.tensor([0.6, 0.8])) == OK
    _, before = program.infer(x)
    for wrong in ([0.0, 0.0], [float("nan"), 0.0], [1.0, float("inf")], [1.0, 1.0], [-3.0, 0.0]):
        assert program.configure(torch.tensor(wrong)) == BAD_ALPHA
        assert torch.equal(program.infer(x)[1], before)
