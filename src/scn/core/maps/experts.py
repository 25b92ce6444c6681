"""The nearest expert: each base model serves a part of the space alone, and nothing is mixed.

A configuration is a copy of one base model, or, where weights are read from flash, nothing at all.
"""

from __future__ import annotations

from torch import Tensor

from scn.core.maps.base import registry
from scn.core.maps.nodes import Nodes
from scn.core.space import Axis


@registry.register("experts")
class Experts(Nodes):
    """beta is 1 for the base model whose place is nearest, and 0 for all others."""

    centred = True

    def _entries(self) -> int:
        return 1

    def _on(self, axis: Axis, nodes: Tensor, place: Tensor) -> tuple[Tensor, Tensor]:
        """The nearer of the two places around; of equally near ones the first."""
        around, share = super()._on(axis, nodes, place)
        nearer = share.argmax(dim=-1, keepdim=True)
        return around.gather(-1, nearer), (0 * place + 1).unsqueeze(-1)

    def _around(self, axis: Axis, nodes: list[float], place: float) -> list[tuple[int, float]]:
        nearest, _ = max(super()._around(axis, nodes, place), key=lambda pair: pair[1])
        return [(nearest, 1.0)]

    def _among_turns(self, alpha: Tensor) -> tuple[Tensor, Tensor]:
        (nodes,) = self.places()
        nearest = (alpha @ nodes.mT).argmax(dim=-1, keepdim=True)
        return nearest, 0 * alpha[..., :1] + 1
