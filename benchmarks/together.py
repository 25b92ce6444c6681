"""Several networks of one task in one process by batched kernels, against the same networks one by one.

Both turn their images, go forward and back, and take a step of Adam; together, all of it is one call for
all networks (torch.func.vmap over their stacked weights). Nothing of a training's own is in it (order of the
samples, validation, checkpoints), so this is the most that training several seeds at once could save.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.func import functional_call, stack_module_state, vmap

import scn
from timing import medians, report

ROUNDS = 15
BATCHES = ((256, 8), (64, 1))  # samples and angles: our recipe, the published one
ROTATION = scn.transforms.get("rotation")

Make = Callable[[], torch.nn.Module]


def apart(make: Make, count: int, batch: int, angles: int, shape: tuple[int, ...]) -> Callable[[], None]:
    nets = [make() for _ in range(count)]
    optimisers = [torch.optim.Adam(net.parameters(), foreach=True) for net in nets]
    x, y = torch.rand(batch, *shape), torch.randint(0, 10, (batch,))

    def run() -> None:
        for net, optimiser in zip(nets, optimisers, strict=True):
            optimiser.zero_grad()
            F.cross_entropy(net(ROTATION.apply(x, ROTATION.sample(angles))), y).backward()
            optimiser.step()

    return run


def together(make: Make, count: int, batch: int, angles: int, shape: tuple[int, ...]) -> Callable[[], None]:
    nets = [make() for _ in range(count)]
    weights, state = stack_module_state(nets)
    optimiser = torch.optim.Adam(weights.values(), foreach=True)
    x, y = torch.rand(count * batch, *shape), torch.randint(0, 10, (count, batch))

    def loss(weights: dict[str, Tensor], state: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(functional_call(nets[0], (weights, state), (x,)), y)

    def run() -> None:
        optimiser.zero_grad()
        turned = ROTATION.apply(x, ROTATION.sample(count * angles)).view(count, batch, *shape)
        vmap(loss)(weights, state, turned, y).sum().backward()
        optimiser.step()

    return run


def main() -> None:
    torch.set_num_threads(1)
    for name, make, shape in (
        ("MLP 1024-32-10", scn.backbones.MLP, (1, 32, 32)),
        ("ShallowCNN", scn.backbones.ShallowCNN, (3, 32, 32)),
    ):
        for (batch, angles), count in itertools.product(BATCHES, (3, 8)):
            contestants = {
                "one by one": apart(make, count, batch, angles, shape),
                "together": together(make, count, batch, angles, shape),
            }
            title = f"A step of {count} networks, {name}, batch {batch}"
            report(title, medians(contestants, ROUNDS), "one by one", {})


if __name__ == "__main__":
    main()
