"""A mixture of outputs: D networks all answer, and their outputs are mixed, not their weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor, nn

from scn.core.network import SCN
from scn.core.substitute import call_with
from scn.methods.base import Method, registry
from scn.methods.scn_method import SubspaceConfigurable


class Outputs(nn.Module):
    """Around an SCN, of which each base model answers for itself."""

    def __init__(self, net: SCN) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor, beta: Tensor) -> Tensor:
        """x: (B, ...), beta: (K, D) for K groups of it -> (B, outputs)."""
        sets = self.net.subspace.base_sets()
        shares = beta.repeat_interleave(len(x) // len(beta), dim=0)
        every = [
            call_with(self.net.backbone, {name: bases[i] for name, bases in sets.items()}, (x,), {})
            for i in range(self.net.dims)
        ]
        return torch.stack(every, dim=-1).mul(shares.unsqueeze(1)).sum(dim=-1)


class AtAlpha(nn.Module):
    """The same for one alpha."""

    def __init__(self, mixture: Outputs, beta: Tensor) -> None:
        super().__init__()
        self.mixture = mixture
        self.register_buffer("beta", beta)

    def forward(self, x: Tensor) -> Tensor:
        return self.mixture(x, self.get_buffer("beta").unsqueeze(0))


@registry.register("output-mixture")
@dataclass(frozen=True)
class OutputMixture(SubspaceConfigurable):
    """Told alpha as an SCN is, with D times its work for an answer."""

    title: ClassVar[str] = "Output mixture D={dims}"
    takes: ClassVar[tuple[str, ...]] = ("map",)
    one_pass: ClassVar[bool] = False
    statistics = Method.statistics

    def build(self, backbone: Callable[[], nn.Module]) -> nn.Module:
        net = super().build(backbone)
        assert isinstance(net, SCN)
        return Outputs(net)

    def outputs(self, net: nn.Module, x: Tensor, params: Tensor) -> Tensor:
        assert isinstance(net, Outputs)
        beta = net.net.beta(self.transform.encode(params))
        return net(x, beta.reshape(-1, beta.shape[-1]))

    def alphas(self, params: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
        return {"alpha": self.transform.encode(params)}

    def loss(self, net: nn.Module, x: Tensor, labels: Tensor, alphas: dict[str, Tensor]) -> dict[str, Tensor]:
        assert isinstance(net, Outputs)
        outputs = net(x, net.net.beta(alphas["alpha"]))
        return {self.objective.part: self.objective.loss(outputs, labels)}

    def configured(self, net: nn.Module, params: Tensor, into: nn.Module | None = None) -> nn.Module:
        assert isinstance(net, Outputs)
        with torch.no_grad():
            return AtAlpha(net, net.net.beta(self.transform.encode(params).view(-1))).train(net.training)

    def save(self, net: nn.Module, path: Path) -> None:
        assert isinstance(net, Outputs)
        net.net.save(path)

    def load(self, path: Path, backbone: Callable[[], nn.Module]) -> nn.Module:
        return Outputs(SCN.load(path, backbone()))
