"""A small network that reads alpha off the input directly: one look instead of many.

It knows the data and the transform, but not the network that is configured, whatever that predicts. Of a long
input, such as sound, it reads a summary: how loud each part is in time and in frequency. Values as they are
say next to nothing about pitch or speed to a network of this size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from scn.backbones.estimator import Estimator, estimator_for, is_long, summarised
from scn.core.network import SCN
from scn.search.base import Found, Search, registry
from scn.transforms import Transform

FINE = {1: 720, 2: 65, 3: 24}  # values of each parameter among which an alpha is looked up
BATCH, SETTINGS = 256, 32  # inputs in a training batch, and how many settings they share
KEPT = 4096  # long inputs that are changed once and used again and again: changing sound is slow


def train_estimator(
    samples: Tensor,
    transform: Transform,
    shown: Callable[[Tensor, Tensor], Tensor],
    steps: int = 3000,
    seed: int = 0,
    *,
    progress: Callable[[range], Iterable[int]] = iter,
) -> Estimator:
    """An estimator for samples (N, ...); shown(samples, params) is what the network would see of them.

    `progress` is given the numbers of the steps and gives them back one by one.
    """
    generator = torch.Generator().manual_seed(seed)
    first = shown(samples[:1], transform.sample(1, generator))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = estimator_for(first.numel(), transform.alpha_dim)
    batches = (_kept if is_long(first.numel()) else _fresh)(samples, transform, shown, generator)
    optimiser = torch.optim.Adam(net.parameters(), 2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in progress(range(steps)):
        x, alpha = next(batches)
        optimiser.zero_grad()
        F.smooth_l1_loss(net(x), alpha, beta=0.3).backward()
        optimiser.step()
        schedule.step()
    return net.eval()


def _fresh(
    samples: Tensor,
    transform: Transform,
    shown: Callable[[Tensor, Tensor], Tensor],
    generator: torch.Generator,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches of inputs and their alphas, changed anew each time."""
    size = min(BATCH, len(samples)) // SETTINGS * SETTINGS or 1
    while True:
        params = transform.sample(SETTINGS if size > 1 else 1, generator)
        chosen = torch.randint(len(samples), (size,), generator=generator)
        target = transform.encode(params).repeat_interleave(size // len(params), dim=0)
        yield shown(samples[chosen], params), target


def _kept(
    samples: Tensor,
    transform: Transform,
    shown: Callable[[Tensor, Tensor], Tensor],
    generator: torch.Generator,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches of summaries and their alphas; the first time round each input is changed as it is needed."""
    kept: list[tuple[Tensor, Tensor]] = []
    for _ in range(KEPT // BATCH):
        chosen = torch.randint(len(samples), (BATCH,), generator=generator)
        params = transform.sample(BATCH, generator)
        kept.append((summarised(shown(samples[chosen], params)), transform.encode(params)))
        yield kept[-1]
    x, alpha = (torch.cat(several) for several in zip(*kept, strict=True))
    while True:
        chosen = torch.randint(len(x), (BATCH,), generator=generator)
        yield x[chosen], alpha[chosen]


@registry.register("estimator")
class Estimated(Search):
    """The setting whose alpha is nearest to the mean of what the estimator says of each input."""

    by_doubt: ClassVar[bool] = False

    def __init__(self, net: SCN, transform: Transform, estimator: nn.Module, doubt: str = "evidence") -> None:
        super().__init__(net, transform, doubt)
        self.estimator = estimator
        self.steps = FINE.get(len(transform.parameters), 8)
        self.settings = transform.grid(self.steps)
        self.alphas = transform.encode(self.settings)

    @torch.no_grad()
    def find(self, x: Tensor, groups: int) -> Found:
        alpha = self.estimator(x).unflatten(0, (groups, -1)).mean(dim=1)
        params = self.settings[torch.cdist(alpha, self.alphas).argmin(dim=1)]
        logits = self.net(x, self.transform.encode(params))
        doubts = self.doubts(logits, groups)
        return Found(params, logits, 1, doubts.unsqueeze(0), params.unsqueeze(0))
