"""The backbones: the paper's parameter counts, any channels and classes, and life inside an SCN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import scn
from scn.backbones import M5, LeNet5, ResNet18, ShallowCNN, ShiftInvariantCNN
from scn.backbones.resnet18 import Block

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    name: str
    build: Callable[[Shape, int], nn.Module]
    shape: Shape

    def trained(self, shape: Shape | None = None, classes: int = 5) -> nn.Module:
        """In eval mode, with norm layers as after some training."""
        net = self.build(shape or self.shape, classes)
        with torch.no_grad():
            for p in net.parameters():
                p.add_(torch.randn_like(p) / 10)
            for _ in range(2):
                net(torch.randn(4, *(shape or self.shape)) * 2 + 1)
        return net.eval()


RESNET = Case("resnet18", lambda s, c: ResNet18(s, c, width=3), (3, 16, 16))
CASES = [
    Case("shallow-cnn", lambda s, c: ShallowCNN(s, c, width=4), (3, 32, 32)),
    Case("shallow-cnn", lambda s, c: ShallowCNN(s, c, width=4, depth=1), (3, 16, 16)),
    Case("shallow-cnn", lambda s, c: ShallowCNN(s, c, width=4, depth=4), (1, 28, 28)),
    Case("lenet5", LeNet5, (1, 28, 28)),
    RESNET,
    Case("m5", lambda s, c: M5(s, c, width=3), (1, 1000)),
    Case("shift-invariant-cnn", lambda s, c: ShiftInvariantCNN(s, c, width=4), (1, 16, 20)),
]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def parameters(net: nn.Module) -> int:
    return sum(p.numel() for p in net.parameters())


@pytest.mark.parametrize(
    ("build", "count"),
    [
        (ShallowCNN, 181_226),
        (lambda: ShallowCNN(width=64), (81 * 3 + 1) * 64 + (169 * 64 + 1) * 64 + 10 * 65),
        (lambda: ShallowCNN(depth=1), (81 * 3 + 1) * 32 + 10 * 33),
        (lambda: ShallowCNN(depth=3), 181_226 + (9 * 32 + 1) * 32),
        (lambda: LeNet5((1, 32, 32), 10), 138_562),
        (lambda: ResNet18((3, 32, 32), 10), 11_173_962),
        (lambda: M5((1, 16_000), 35), 26_915),
        (lambda: M5((1, 8_000), 35), 26_915),
        (ShiftInvariantCNN, 17 * 16 + 257 * 16 + 10 * 17),
    ],
)
def test_the_parameter_count(build: Callable[[], nn.Module], count: int) -> None:
    assert parameters(build()) == count


@pytest.mark.parametrize(("depth", "norms"), [(1, 0), (3, 0), (4, 4), (5, 5)])
def test_deep_shallow_cnns_have_norm_layers(depth: int, norms: int) -> None:
    net = ShallowCNN(width=2, depth=depth)
    assert sum(isinstance(m, nn.BatchNorm2d) for m in net.modules()) == norms
    assert net.norm == (norms > 0)


@every_case
def test_it_is_found_by_its_name(case: Case) -> None:
    assert scn.backbones.get(case.name) is type(case.build(case.shape, 5))


@every_case
@pytest.mark.parametrize(("channels", "classes"), [(1, 1), (2, 43)])
def test_any_channels_and_classes(case: Case, channels: int, classes: int) -> None:
    shape = (channels, *case.shape[1:])
    net = case.trained(shape, classes)
    assert net(torch.randn(2, *shape)).shape == (2, classes)


@every_case
def test_it_learns_with_all_of_its_parameters(case: Case) -> None:
    net = case.build(case.shape, 5)
    net(torch.randn(8, *case.shape)).square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in net.parameters())


@every_case
def test_several_alpha_in_one_call_equal_the_configured_networks(case: Case) -> None:
    net = scn.SCN(case.trained(), 2, 3, init="pretrained", noise=0.5).eval()
    x, alpha = torch.randn(6, *case.shape), torch.randn(3, 2) * 3
    with torch.no_grad():
        expected = torch.cat([net.configure(a)(part) for a, part in zip(alpha, x.chunk(3), strict=True)])
        torch.testing.assert_close(net(x, alpha), expected, atol=1e-4, rtol=1e-4)


@every_case
def test_a_saved_network_is_built_again_by_name(case: Case, tmp_path: Path) -> None:
    net = scn.SCN(case.trained(), 2, 3).eval()
    net.save(tmp_path / "net.safetensors")
    again = scn.SCN.load(tmp_path / "net.safetensors").eval()
    assert type(again.backbone) is scn.backbones.get(case.name)
    x, alpha = torch.randn(4, *case.shape), torch.randn(2, 2)
    assert torch.equal(again(x, alpha), net(x, alpha))


@every_case
def test_bases_are_drawn_like_the_backbone(case: Case) -> None:
    net = scn.SCN(case.build(case.shape, 5), 2, 2)
    spread = net.theta.std(dim=1)
    assert 0.8 < spread[0] / spread[1] < 1.25


# shallow CNN


@pytest.mark.parametrize(("size", "positions"), [(25, 1), (28, 1), (31, 1), (32, 1), (33, 4), (64, 17 * 17)])
def test_the_last_convolution_sees_the_whole_of_an_image_up_to_32_pixels(size: int, positions: int) -> None:
    net = ShallowCNN((1, size, size), width=2)
    before_average = net.layers[:-3](torch.randn(1, 1, size, size))
    assert before_average[0, 0].numel() == positions


# ResNet18


@pytest.mark.parametrize(("width", "stride"), [(3, 1), (6, 1), (3, 2), (6, 2)])
def test_a_block_adds_its_input_to_what_it_computes(width: int, stride: int) -> None:
    block = Block(3, width, stride).eval()
    x = torch.randn(2, 3, 8, 8)
    with torch.no_grad():
        assert torch.equal(block(x), (block.residual(x) + block.shortcut(x)).relu())
        assert block(x).shape == (2, width, 8 // stride, 8 // stride)
    assert isinstance(block.shortcut, nn.Identity) == ((width, stride) == (3, 1))


@pytest.mark.parametrize("layer", ["layer1", "layer4"])
def test_one_layer_of_a_resnet_is_configurable(layer: str) -> None:
    backbone = RESNET.trained()
    net = scn.SCN(backbone, 2, 3, configurable=f"{layer}.*", init="pretrained", noise=0.5).eval()
    mixed = parameters(backbone.get_submodule(layer))
    assert net.theta.shape == (3, mixed)
    assert parameters(net.backbone) == parameters(backbone) - mixed
    first, second = net.configure(torch.zeros(2)), net.configure(torch.full((2,), 5.0))
    theirs = dict(second.named_parameters())
    differing = {name for name, p in first.named_parameters() if not torch.equal(p, theirs[name])}
    assert differing == {name for name, _ in backbone.named_parameters() if name.startswith(f"{layer}.")}
    x, alpha = torch.randn(4, *RESNET.shape), torch.tensor([[0.0, 0.0], [5.0, 5.0]])
    with torch.no_grad():
        expected = torch.cat([first(x[:2]), second(x[2:])])
        torch.testing.assert_close(net(x, alpha), expected, atol=1e-4, rtol=1e-4)


# M5


@pytest.mark.parametrize(
    ("samples", "stride", "steps"),
    [(16_000, 16, 3), (8_000, 8, 3), (4_000, 4, 3), (48_000, 16, 11), (1_000, 1, 2), (503, 1, 1)],
)
def test_the_stride_follows_the_length_of_the_clip(samples: int, stride: int, steps: int) -> None:
    net = M5((1, samples), width=1)
    assert net.stride == stride
    assert net.eval().layers[:-3](torch.randn(1, 1, samples)).shape[-1] == steps


@pytest.mark.parametrize(("stride", "steps"), [(16, 1), (8, 3), (4, 7)])
def test_another_stride_can_be_chosen(stride: int, steps: int) -> None:
    net = M5((1, 8000), width=1, stride=stride).eval()
    assert net.layers[:-3](torch.randn(1, 1, 8000)).shape[-1] == steps


# shift-invariant CNN


def placed(thing: Tensor, down: int, right: int, background: float, size: int = 32) -> Tensor:
    """thing: (C, h, w) -> (1, C, size, size), everything else background."""
    frame = torch.full((1, len(thing), size, size), background)
    frame[0, :, down : down + thing.shape[1], right : right + thing.shape[2]] = thing
    return frame


@pytest.mark.parametrize("background", [0.0, -0.81])
@pytest.mark.parametrize(("channels", "size", "remainder"), [(1, 32, 0), (3, 30, 3), (2, 33, 1)])
def test_shifts_by_multiples_of_the_pooling_change_no_answer(
    background: float, channels: int, size: int, remainder: int
) -> None:
    net = ShiftInvariantCNN((channels, size, size)).eval()
    thing = torch.rand(channels, 10, 7) + background
    at_most = size - 10
    places = [(d, r) for d in range(remainder, at_most + 1, 4) for r in range(remainder, size - 6, 4)]
    frames = torch.cat([placed(thing, d, r, background, size) for d, r in places])
    with torch.no_grad():
        answers = net(frames)
        other = net(placed(thing.flip(1), 0, 0, background, size))
    torch.testing.assert_close(answers, answers[:1].expand_as(answers), atol=1e-6, rtol=1e-5)
    assert (other - answers[0]).abs().max() > 1e-4


def test_other_shifts_change_the_answer_only_with_the_period_of_the_pooling() -> None:
    net = ShiftInvariantCNN().eval()
    thing = torch.rand(1, 12, 12)
    with torch.no_grad():
        answers = net(torch.cat([placed(thing, 5, right, 0.0) for right in range(20)]))
    torch.testing.assert_close(answers[:-4], answers[4:], atol=1e-6, rtol=1e-5)
    assert (answers[1:4] - answers[0]).abs().max() > 1e-4


def test_a_constant_added_to_any_channel_changes_no_answer() -> None:
    net, x = ShiftInvariantCNN((3, 32, 32)).eval(), torch.rand(4, 3, 32, 32)
    added = torch.tensor([0.0, 0.3, -0.4]).view(3, 1, 1)
    with torch.no_grad():
        torch.testing.assert_close(net(x + added), net(x), atol=1e-5, rtol=1e-5)


def test_a_configured_shift_invariant_network_is_invariant_too() -> None:
    net = scn.SCN(ShiftInvariantCNN(), 2, 3).eval()
    thing = torch.rand(1, 16, 16)
    frames = torch.cat([placed(thing, 8 + d, 8 + d, 0.0) for d in (-8, -4, 0, 4, 8)])
    with torch.no_grad():
        answers = net(frames, torch.ones(2))
    torch.testing.assert_close(answers, answers[:1].expand_as(answers), atol=1e-6, rtol=1e-5)


# errors


@pytest.mark.parametrize("kind", [ShallowCNN, ResNet18, M5, ShiftInvariantCNN])
@pytest.mark.parametrize("name", ["width", "classes"])
def test_counts_below_1(kind: type[nn.Module], name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least 1, but is 0"):
        kind(**{name: 0})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ShallowCNN(depth=0), "depth must be at least 1, but is 0"),
        (lambda: LeNet5(classes=0), "classes must be at least 1, but is 0"),
        (lambda: M5(stride=0), "stride must be at least 1, but is 0"),
        (lambda: ShallowCNN((1, 24, 32)), "24x32 is too small .* at least 25x25 .* or use depth=1"),
        (lambda: LeNet5((1, 32, 15)), "32x15 is too small .* resize it to at least 16x16"),
        (lambda: M5((1, 502)), r"502 samples is too short for stride 1: 503 are the least; pad it$"),
        (lambda: M5((1, 6847), stride=16), "stride 16: 6848 are the least; pad it or use a smaller stride"),
        (lambda: M5((16_000,)), r"shape must be \(channels, samples\), .* but is \(16000,\)"),
        (lambda: ResNet18((32, 32)), r"shape must be \(channels, height, width\), .* but is \(32, 32\)"),
        (lambda: ShiftInvariantCNN((0, 32, 32)), r"each at least 1, but is \(0, 32, 32\)"),
    ],
)
def test_impossible_sizes_say_what_to_do(build: Callable[[], nn.Module], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(
    ("build", "shape"),
    [
        (lambda s: ShallowCNN(s, width=2), (1, 25, 25)),
        (lambda s: ShallowCNN(s, width=2, depth=1), (1, 1, 1)),
        (LeNet5, (1, 16, 16)),
        (lambda s: ResNet18(s, width=2), (1, 1, 1)),
        (lambda s: M5(s, width=2), (1, 503)),
        (lambda s: M5(s, width=2, stride=16), (1, 6848)),
        (lambda s: ShiftInvariantCNN(s, width=2), (1, 1, 1)),
    ],
)
def test_the_smallest_inputs(build: Callable[[Shape], nn.Module], shape: Shape) -> None:
    assert build(shape).eval()(torch.randn(2, *shape)).shape[0] == 2
