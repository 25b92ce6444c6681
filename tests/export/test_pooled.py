"""A convolution and the pooling behind it are one step, and compute what torch and the reference compute."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from test_export_int8 import Calibrated, expected
from torch import nn

from generated import OK, built, subject
from needs import emulated, wide_registers
from scn import SCN
from scn.backbones import M5
from scn.device.build import build
from scn.device.emulate import Group, emulate
from scn.device.measure import export
from scn.export import Options, c, calibrate

NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "a block of four": (lambda: _images(nn.Conv2d(2, 7, 3), nn.ReLU(), nn.MaxPool2d(2)), (2, 9, 11)),
    "ReLU behind": (lambda: _images(nn.Conv2d(2, 6, 3), nn.MaxPool2d(2), nn.ReLU()), (2, 9, 11)),
    "no ReLU": (lambda: _images(nn.Conv2d(2, 5, (2, 3)), nn.MaxPool2d((1, 4))), (2, 5, 14)),
    "margins and steps": (
        lambda: _images(nn.Conv2d(2, 6, 3, stride=(1, 2), padding=2), nn.ReLU(), nn.MaxPool2d((4, 2))),
        (2, 9, 11),
    ),
    "groups and gaps": (
        lambda: _images(nn.Conv2d(2, 6, 3, padding=1, dilation=2, groups=2), nn.MaxPool2d(4)),
        (2, 11, 12),
    ),
    "factors below 0": (
        lambda: _images(nn.Conv2d(2, 9, 3), _turned(9), nn.ReLU(), nn.MaxPool2d(2)),
        (2, 8, 8),
    ),
    "windows of five": (lambda: _images(nn.Conv2d(3, 9, 5), nn.MaxPool2d(2)), (3, 12, 11)),
    "sounds": (lambda: _sounds(7), (1, 400)),
}


def _turned(channels: int) -> nn.Module:
    """A norm layer with factors of both signs."""
    norm = nn.BatchNorm2d(channels)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    return norm


def _images(*layers: nn.Module) -> nn.Module:
    return nn.Sequential(*layers, nn.Flatten(), nn.LazyLinear(4))


def _sounds(width: int) -> nn.Module:
    """Two rounds behind each other, and a third that is not pooled at once."""
    return nn.Sequential(
        *(nn.Conv1d(1, width, 9, 2), nn.ReLU(), nn.MaxPool1d(4)),
        *(nn.Conv1d(width, 2 * width, 3), nn.BatchNorm1d(2 * width), nn.ReLU(), nn.MaxPool1d(4)),
        *(nn.Conv1d(2 * width, 5, 3), nn.ReLU(), nn.MaxPool1d(2), nn.Flatten(), nn.LazyLinear(4)),
    )


def _network(name: str) -> tuple[SCN, tuple[int, ...]]:
    make, shape = NETWORKS[name]
    torch.manual_seed(0)
    backbone = make()
    backbone(torch.zeros(2, *shape))
    return SCN(backbone, alpha_dim=2, dims=3, seed=1).eval(), shape


ANGLES = (torch.tensor([1.0, 0.0]), torch.tensor([-0.6, 0.8]))


@pytest.mark.parametrize("theta", ["ram", "row"])
@pytest.mark.parametrize("name", NETWORKS)
def test_pooled_at_once_in_floating_point(name: str, theta: str, tmp_path: Path) -> None:
    net, shape = _network(name)
    program = built(subject(net, shape), Options(theta=theta), tmp_path)  # type: ignore[arg-type]
    assert "scn_convolution_pooled" in program.source.read_text()
    x = torch.randn(20, *shape)
    for alpha in ANGLES:
        assert program.configure(alpha) == OK
        with torch.no_grad():
            torch.testing.assert_close(program.answers(x), net.configure(alpha)(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("name", NETWORKS)
def test_the_wide_registers_of_a_pc_pool_alike(name: str, fused: bool, tmp_path: Path) -> None:
    net, shape = _network(name)
    flags = wide_registers() if fused else wide_registers()[:1]
    program = built(subject(net, shape), Options(), tmp_path, *flags)
    x, alpha = torch.randn(20, *shape), ANGLES[1]
    assert program.configure(alpha) == OK
    with torch.no_grad():
        torch.testing.assert_close(program.answers(x), net.configure(alpha)(x), rtol=1e-5, atol=1e-5)


WHOLE = {"weights": "int8", "inference": "int8"}


@pytest.mark.parametrize(("theta", "enough"), [("ram", 0.0), ("row", 2.0)])
@pytest.mark.parametrize("name", NETWORKS)
def test_pooled_at_once_in_whole_numbers(
    name: str, theta: str, enough: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """To the last bit: with values of 8 bits, and of 16."""
    monkeypatch.setattr(calibrate, "ENOUGH", enough)
    net, shape = _network(name)
    what = Calibrated(**vars(subject(net, shape)))
    program = built(what, Options(theta=theta, **WHOLE), tmp_path)  # type: ignore[arg-type]
    assert "scn_convolution_pooled" in program.source.read_text()
    x = torch.randn(20, *shape)
    for alpha in ANGLES:
        assert program.configure(alpha) == OK
        beta = program.beta(alpha, 3)
        assert torch.equal(program.answers(x), expected(what, net, beta, x, theta))


@pytest.mark.parametrize(("name", "theta"), [("factors below 0", "row"), ("sounds", "ram")])
@pytest.mark.parametrize(
    "target",
    ["cortex-m4f", *(pytest.param(t, marks=pytest.mark.slow) for t in ("cortex-m3", "rv32", "rv32f"))],
)
def test_every_processor_pools_alike(target: str, name: str, theta: str, tmp_path: Path) -> None:
    processor = emulated(target)
    net, shape = _network(name)
    x, alpha = torch.randn(4, *shape), ANGLES[1]
    for weights, options in (("float32", Options(theta=theta)), ("int8", Options(theta=theta, **WHOLE))):  # type: ignore[arg-type]
        what = Calibrated(**vars(subject(net, shape)))
        code = export(what, options, tmp_path / weights / "c")
        program, _ = build(code, processor, tmp_path / weights / "build")
        found = emulate(program, code, processor, [Group(alpha.numpy(), x.numpy())])
        beta, outputs = torch.from_numpy(found.beta[0].copy()), torch.from_numpy(found.outputs.copy())
        if weights == "int8":
            assert torch.equal(outputs, expected(what, net, beta, x, theta))
        else:
            with torch.no_grad():
                torch.testing.assert_close(outputs, net.configure(alpha)(x), rtol=1e-5, atol=1e-5)


def test_the_longest_value_of_m5_is_never_kept() -> None:
    """With a second of sound: the first convolution has 996 positions of 32 channels, 249 when pooled."""
    net = SCN(M5((1, 16_000), 35).eval(), alpha_dim=2, dims=2, seed=0)
    ram = c.facts_of(subject(net, (1, 16_000)), Options())["ram"]
    assert ram["activations"] + ram["scratch"] < 17_000
    assert ram["total"] <= 122_500
