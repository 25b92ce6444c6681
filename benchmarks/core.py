"""What the core costs: a training step by the number of alpha in a batch, and a configuration.

Beside each figure stands the naive way: D modules in a Python list, their parameters stacked and
summed, and vmap over the samples where each has an alpha of its own.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

import scn
from scn.core.maps import Learned
from scn.core.space import usual
from scn.training.muon import Muon
from timing import medians, report

BATCH = 256


class Naive(nn.Module):
    """The textbook form of an SCN."""

    def __init__(self, build: Callable[[], nn.Module], alpha_dim: int, dims: int) -> None:
        super().__init__()
        self.bases = nn.ModuleList(build() for _ in range(dims))
        self.confignet = Learned(usual(alpha_dim), dims)
        self.template = build().requires_grad_(False)

    def mixed(self, beta: Tensor) -> dict[str, Tensor]:
        names = [name for name, _ in self.bases[0].named_parameters()]
        return {
            name: torch.stack(
                [b * base.get_parameter(name) for b, base in zip(beta, self.bases, strict=True)]
            ).sum(dim=0)
            for name in names
        }

    def forward(self, x: Tensor, alpha: Tensor) -> Tensor:
        if len(alpha) < len(x):
            parts = zip(
                alpha.view(-1, alpha.shape[-1]), x.chunk(alpha.numel() // alpha.shape[-1]), strict=True
            )
            return torch.cat(
                [functional_call(self.template, self.mixed(self.confignet(a)), part) for a, part in parts]
            )
        stacked, _ = stack_module_state(list(self.bases))

        def one(sample: Tensor, beta: Tensor) -> Tensor:
            weights = {name: torch.tensordot(beta, w, dims=1) for name, w in stacked.items()}
            return functional_call(self.template, weights, sample.unsqueeze(0)).squeeze(0)

        return vmap(one)(x, self.confignet(alpha))

    @torch.no_grad()
    def configure(self, alpha: Tensor, into: nn.Module) -> None:
        for name, value in self.mixed(self.confignet(alpha)).items():
            into.get_parameter(name).copy_(value)


def training_step(
    net: nn.Module, *alphas: Tensor, optimiser: torch.optim.Optimizer | None = None
) -> Callable[[], None]:
    """A step with each of `alphas` in turn, by default of Adam."""
    optimiser = optimiser or torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)
    x, y = torch.randn(BATCH, 1, 32, 32), torch.randint(10, (BATCH,))
    turn = itertools.cycle(alphas)

    def step() -> None:
        optimiser.zero_grad()
        F.cross_entropy(net(x, next(turn)), y).backward()
        optimiser.step()

    return step


def bench_training() -> None:
    dims = 8
    net = scn.SCN(scn.backbones.MLP(), alpha_dim=2, dims=dims)
    naive = Naive(scn.backbones.MLP, 2, dims)
    contestants = {
        "one shared alpha": training_step(net, torch.randn(2)),
        "K=8": training_step(net, torch.randn(8, 2)),
        "K=64": training_step(net, torch.randn(64, 2)),
        "alpha per sample": training_step(net, torch.randn(BATCH, 2)),
        "naive list, one shared alpha": training_step(naive, torch.randn(2)),
        "naive list, K=8": training_step(naive, torch.randn(8, 2)),
        "naive vmap over samples": training_step(naive, torch.randn(BATCH, 2)),
    }
    report(
        f"Training step, MLP 1024-32-10, D={dims}, batch {BATCH}",
        medians(contestants, rounds=60),
        "one shared alpha",
        {"K=8": 1.6, "alpha per sample": 6.0},
    )


def lenet5() -> nn.Module:
    """The size of the paper's LeNet-5."""
    return nn.Sequential(
        nn.Conv2d(1, 6, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 272),
        nn.ReLU(),
        nn.Linear(272, 94),
        nn.ReLU(),
        nn.Linear(94, 10),
    )


def wide_mlp() -> nn.Module:
    return scn.backbones.MLP(width=512, depth=3)


def bench_configure(name: str, build: Callable[[], nn.Module], dims: int) -> float:
    net = scn.SCN(build(), alpha_dim=2, dims=dims)
    naive = Naive(build, 2, dims)
    alpha = torch.randn(2)
    plain = net.configure(alpha)
    theta, beta = net.theta.detach(), net.beta(alpha).detach()
    contestants = {
        "torch.mv over the same tensor": lambda: torch.mv(theta.t(), beta),
        "configure(alpha, into=plain)": lambda: net.configure(alpha, into=plain),
        "naive list, stacked and summed": lambda: naive.configure(alpha, plain),
    }
    seconds = medians(contestants, rounds=200)
    title = f"Configure {name}, D={dims}, L={theta.shape[1]:,}"
    limit = {"configure(alpha, into=plain)": 1.7}
    report(title, seconds, "torch.mv over the same tensor", limit)
    return seconds["configure(alpha, into=plain)"]


def on_circle(count: int) -> Tensor:
    angle = 2 * torch.pi * torch.rand(count)
    return torch.stack([angle.cos(), angle.sin()], dim=1)


def bench_nodes() -> None:
    """What nodes are for: D base models at the cost of the two that are mixed."""
    for build in (lenet5, wide_mlp):
        contestants = {}
        for dims in (2, 8, 64):
            net = scn.SCN(build(), alpha_dim=2, dims=dims, map="nodes")
            alpha = on_circle(1)[0]
            contestants[f"D={dims}"] = partial(net.configure, alpha, into=net.configure(alpha))
        title = f"Configure {build.__name__} with nodes, L={net.theta.shape[1]:,}"
        report(title, medians(contestants, rounds=300), "D=2", {"D=64": 1.4})


def bench_nodes_training() -> None:
    """With other alpha in each step, so that all base models are used in the end."""
    drawn = [on_circle(8) for _ in range(50)]
    contestants = {}
    for dims in (8, 16, 64):
        net = scn.SCN(scn.backbones.MLP(), alpha_dim=2, dims=dims, map="nodes")
        contestants[f"D={dims}"] = training_step(net, *drawn, optimiser=Muon(net, 1e-3))
    title = f"Training step with nodes and Muon, MLP 1024-32-10, K=8, batch {BATCH}"
    report(title, medians(contestants, rounds=200), "D=8", {"D=64": 1.5})


def bench_import() -> None:
    def importing(module: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", f"import {module}"], check=True)

    seconds = medians({"torch": importing("torch"), "scn": importing("scn")}, rounds=7)
    added = seconds["scn"] - seconds["torch"]
    print(f"\nimport scn adds {added:.2f} s to import torch ({seconds['torch']:.2f} s here)   limit 0.30")


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    bench_training()
    for build in (lenet5, wide_mlp):
        seconds = {dims: bench_configure(build.__name__, build, dims) for dims in (3, 8, 16)}
        growth = seconds[16] / seconds[8]
        print(f"  from D=8 to D=16 configure takes {growth:.2f} times as long (2 would be linear in D)")
    bench_nodes()
    bench_nodes_training()
    bench_import()


if __name__ == "__main__":
    main()
