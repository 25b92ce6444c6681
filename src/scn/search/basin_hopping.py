"""The search of the paper: basin hopping with BFGS, from the middle of the range."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.core.network import SCN
from scn.search.base import Found, Search, registry
from scn.transforms import Transform


@registry.register("basin-hopping")
class BasinHopping(Search):
    """scipy's basin hopping over the sum of a batch's doubts, with T = 0.1 and BFGS as published.

    As published the slopes are differences of float32 numbers; with `exact`, derivatives.
    """

    def __init__(
        self,
        net: SCN,
        transform: Transform,
        hops: int = 100,
        exact: bool = False,
        seed: int = 0,
        doubt: str = "entropy",
    ) -> None:
        super().__init__(net, transform, doubt)
        if hops < 0:
            raise ScnError(f"hops is a number of jumps, but is {hops}")
        self.hops, self.exact, self.seed = hops, exact, seed

    def find(self, x: Tensor, groups: int) -> Found:
        parts = [self._one(part) for part in x.chunk(groups)]
        params = torch.stack([self._params(torch.from_numpy(best)).float() for best, _ in parts])
        with torch.no_grad():
            logits = self.net(x, self.transform.encode(params))
        evaluations = max(count for _, count in parts)
        return Found(
            params, logits, evaluations, self.doubts(logits, groups).unsqueeze(0), params.unsqueeze(0)
        )

    def _one(self, x: Tensor) -> tuple[np.ndarray, int]:
        from scipy.optimize import basinhopping

        def doubt(place: np.ndarray) -> float | tuple[float, np.ndarray]:
            share = torch.from_numpy(np.atleast_1d(place)).requires_grad_(self.exact)
            with torch.set_grad_enabled(self.exact):
                logits = self.net(x, self.transform.encode(self._params(share)))
                total = self.doubt.of(logits).sum()
            if not self.exact:
                return float(total)
            (slope,) = torch.autograd.grad(total, share)
            return float(total.detach()), slope.numpy()

        found = basinhopping(
            doubt,
            np.zeros(len(self.transform.parameters)),
            minimizer_kwargs={"method": "BFGS", "jac": self.exact or None},
            niter=self.hops,
            T=0.1,
            rng=self.seed,
        )
        return np.atleast_1d(found.x), int(found.nfev)

    def _params(self, share: Tensor) -> Tensor:
        """-1 to 1 is the whole range; beyond it, around the circle or the end of the range."""
        return self.bounded(self.low + (share + 1) / 2 * self.span)
