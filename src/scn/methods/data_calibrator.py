"""Data calibrator (Ye, 2020): a classifier of the source stays as it is, and a small generator changes inputs
until two discriminators no longer tell the target from the source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call

from scn.core.errors import ScnError
from scn.methods.base import registry
from scn.methods.domains import Domains
from scn.methods.layers import kept_shape

SOURCE = 0  # of four kinds: source, target, calibrated target, calibrated source
BOUND = 1.0  # of a change, in deviations of the data
WIDTH = 16


class Calibrator(nn.Module):
    """x: (B, C, H, W) -> x with a change of at most BOUND in each value."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, WIDTH, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(WIDTH, WIDTH, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(WIDTH, channels, 3, padding=1),
            nn.Tanh(),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + BOUND * self.layers(x)


class Calibrated(nn.Module):
    """The classifier behind the generator, and the discriminators that only training needs."""

    def __init__(self, classifier: nn.Module, channels: int, outputs: int) -> None:
        super().__init__()
        self.classifier, self.generator = classifier, Calibrator(channels)
        self.of_pixels = nn.Sequential(
            nn.Conv2d(channels, WIDTH, 4, 2, 1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(WIDTH, 2 * WIDTH, 4, 2, 1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(2 * WIDTH, 4, 3, padding=1),
        )
        self.of_outputs = nn.Sequential(nn.Linear(outputs, 64), nn.LeakyReLU(0.2), nn.Linear(64, 4))

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.generator(x))

    def judged(self, x: Tensor, outputs: Tensor, wanted: Tensor, frozen: bool) -> Tensor:
        """How far both discriminators are from taking inputs, and their outputs, for `wanted`."""
        patches = _answer(self.of_pixels, x, frozen)
        everywhere = wanted.view(-1, 1, 1).expand(len(x), *patches.shape[2:])
        of_outputs = F.cross_entropy(_answer(self.of_outputs, outputs, frozen), wanted)
        return F.cross_entropy(patches, everywhere) + of_outputs


def _answer(module: nn.Module, x: Tensor, frozen: bool) -> Tensor:
    """What a module says, with weights that learn nothing from it if `frozen`."""
    if not frozen:
        return module(x)
    held = {name: tensor.detach() for name, tensor in module.named_parameters()}
    held |= {name: tensor.clone() for name, tensor in module.named_buffers()}
    return functional_call(module, held, (x,))


@registry.register("data-calibrator")
@dataclass(frozen=True)
class DataCalibrator(Domains):
    """The classifier learns from the source alone, beside the others: nothing of theirs reaches it."""

    title: ClassVar[str] = "Data calibrator"
    one_pass: ClassVar[bool] = False

    def build(self, backbone: Callable[[], nn.Module]) -> nn.Module:
        made = backbone()
        shape = kept_shape(made, "data-calibrator")
        if len(shape) != 3:
            raise ScnError(f"the method data-calibrator changes images, but an input has the shape {shape}")
        with torch.no_grad():
            outputs = made.eval()(torch.zeros(1, *shape)).shape[1]
        return Calibrated(made.train(), shape[0], outputs)

    def loss(self, net: nn.Module, x: Tensor, labels: Tensor, alphas: dict[str, Tensor]) -> dict[str, Tensor]:
        assert isinstance(net, Calibrated)
        source, target = x.unbind(dim=1)
        outputs = net.classifier(source)
        calibrated = net.generator(torch.cat([target, source]))
        made = _answer(net.classifier, calibrated, frozen=True)
        seen = torch.cat([source, target, calibrated.detach()])
        with torch.no_grad():
            of_target = _answer(net.classifier, target, frozen=True)
        known = torch.cat([outputs, of_target, made]).detach()
        kinds = torch.arange(4, device=x.device).repeat_interleave(len(x))
        as_source = torch.full((len(calibrated),), SOURCE, device=x.device)
        return {
            self.objective.part: self.objective.loss(outputs, labels),
            "discrimination": net.judged(seen, known, kinds, frozen=False),
            "calibration": net.judged(calibrated, made, as_source, frozen=True),
        }

    def kept(self, net: nn.Module) -> nn.Module:
        assert isinstance(net, Calibrated)
        return nn.ModuleList([net.classifier, net.generator])
