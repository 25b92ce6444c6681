"""Many configured networks side by side, which are all asked about the same inputs."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from scn.core import grouped
from scn.core.errors import ScnError
from scn.core.subspace import Bases
from scn.core.substitute import call_with

AT_ONCE = 2**22  # input values that are handed to the networks in one go


class Bank:
    """K networks, whose weights are mixed once. It does not follow later changes of the base models."""

    @torch.no_grad()
    def __init__(self, backbone: nn.Module, bases: Bases, beta: Tensor, findings: grouped.Findings) -> None:
        self.backbone, self.beta, self._findings = backbone, beta, findings
        self.bases = Bases(bases.slots, bases.theta.detach().clone())
        self.sets, self.unmixed = self.bases.weight_sets(beta), self.bases.base_sets()

    def __len__(self) -> int:
        return len(self.beta)

    @torch.no_grad()
    def __call__(self, x: Tensor) -> Tensor:
        """x: (B, ...) -> (K, B, ...), what each of the K networks answers."""
        if len(x) == 0:
            raise ScnError("a bank needs at least one input")
        rows = max(1, AT_ONCE // (len(self) * max(1, x[:1].numel())))
        return torch.cat([self._answer(part) for part in x.split(rows)], dim=1)

    def _answer(self, x: Tensor) -> Tensor:
        if len(self) == 1:
            weights = {name: sets.squeeze(0) for name, sets in self.sets.items()}
            answer: Tensor = call_with(self.backbone, weights, (x,), {})
            return answer.unsqueeze(0)
        repeated = x.expand(len(self), *x.shape).flatten(0, 1)
        kept = (self.sets, self.unmixed)
        answer = grouped.run(self.backbone, self.bases, self.beta, self._findings, (repeated,), {}, kept)
        return answer.unflatten(0, (len(self), len(x)))
