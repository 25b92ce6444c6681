"""The first layer that an SCN configures, as a person wants to see it: the weights that meet its input.

    full        W(alpha)
    factored    W(alpha) = A(alpha) B
    low-rank    W(alpha) = W + A(alpha) C(alpha)
    gains       W(alpha) = g(alpha) W

The narrow matrices of a compact subspace say nothing to the eye; their product is an image.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from scn.core.compact import Factored, Gained, LowRank
from scn.core.network import SCN


@dataclass(frozen=True)
class FirstLayer:
    """`inner` are weights of units, or, where there is an `outer`, of what that makes the units from."""

    name: str
    formula: str  # how the weights come from those that are mixed
    inner: Tensor  # (D, U or R, ...), or (1, R, ...) where all base models share it
    outer: Tensor | None = None  # (D, U, R)
    shared: Tensor | None = None  # (U, ...), added to the product

    @property
    def units(self) -> int:
        return self.inner.shape[1] if self.outer is None else self.outer.shape[1]

    def at(self, beta: Tensor) -> Tensor:
        """beta: (N, D) -> the weights of each unit, (N, U, ...)."""
        inner = self.inner if len(self.inner) == 1 else torch.einsum("nd,d...->n...", beta, self.inner)
        if self.outer is None:
            return inner.expand(len(beta), *inner.shape[1:])
        outer = torch.einsum("nd,dur->nur", beta, self.outer)
        product = torch.einsum("nur,nr...->nu...", outer, inner.expand(len(beta), *inner.shape[1:]))
        return product if self.shared is None else product + self.shared


@torch.no_grad()
def first_layer(net: SCN) -> FirstLayer | None:
    """The first configured layer with units; None where no layer has any."""
    sets = {name: bases.detach() for name, bases in net.subspace.base_sets().items()}
    slot = next((slot for slot in net.subspace.slots if len(slot.shape) > 1), None)
    if slot is None:
        return _with_gains(net, sets)
    name = slot.names[0]
    owner = name.rpartition(".")[0].rpartition(".")[0]
    layer = net.backbone.get_submodule(owner)
    if net.compact is None or owner not in net.compact.layers:
        return FirstLayer(name, "θ = Σ βᵢθᵢ", sets[name])
    if isinstance(layer, Factored):
        wide = layer.wide.weight.detach().unsqueeze(0)
        narrow = sets[f"{owner}.narrow.weight"].flatten(2)
        return FirstLayer(f"{owner} = A B", "A = Σ βᵢAᵢ, B shared", wide, narrow)
    assert isinstance(layer, LowRank)
    outer, inner = sets[f"{owner}.outer.weight"].flatten(2), sets[f"{owner}.inner.weight"]
    formula = "A = Σ βᵢAᵢ, C = Σ βᵢCᵢ, W shared"
    return FirstLayer(f"{owner} = W + A C", formula, inner, outer, layer.wide.weight.detach())


def _with_gains(net: SCN, sets: dict[str, Tensor]) -> FirstLayer | None:
    """Where nothing but gains is configured: the shared weights by the factors of their units."""
    for owner in net.compact.layers if net.compact else ():
        layer = net.backbone.get_submodule(owner)
        if isinstance(layer, Gained):
            wide = layer.wide.weight.detach().unsqueeze(0)
            factors = sets[f"{owner}.gains.weight"].diag_embed()
            return FirstLayer(f"{owner} = g W", "g = Σ βᵢgᵢ, W shared", wide, factors)
    return None
