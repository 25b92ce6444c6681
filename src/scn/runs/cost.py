"""What a network costs: what is kept of it, what a configuration writes, and the work of one prediction."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.utils.flop_counter import FlopCounterMode

from scn import data
from scn.core.network import SCN
from scn.runs.collection import LoadedRun
from scn.runs.labels import arguments

FLOAT = 4  # bytes of a weight


@dataclass(frozen=True)
class Cost:
    """Counted in weights and multiply-accumulates, as float32 in bytes."""

    stored: int  # weights, of all base models and of what configures them
    configured: int  # weights of theta, which a configuration writes; none of a network that stays as it is
    read: int  # base models that a configuration reads
    operations: int | None  # multiply-accumulates of a prediction; None where no input is known

    @property
    def stored_bytes(self) -> int:
        return FLOAT * self.stored

    @property
    def theta_bytes(self) -> int:
        return FLOAT * self.configured


def cost_of(one: LoadedRun) -> Cost:
    """The cost of a run's network."""
    net = one.network
    stored = sum(p.numel() for p in net.parameters())
    if not isinstance(net, SCN):
        return Cost(stored, 0, 0, operations(one))
    read = net.dims if net.map.entries is None else min(net.map.entries, net.dims)
    return Cost(stored, net.theta.shape[1], read, operations(one))


@torch.no_grad()
def operations(one: LoadedRun) -> int | None:
    """Multiply-accumulates of the configured network for one input, as torch counts them."""
    shape = _input_shape(one)
    if shape is None:
        return None
    low = torch.tensor([p.low for p in one.transform.parameters])
    fixed = one.run.method().fixed
    plain = one.run.method().configured(one.network, low if fixed is None else fixed).eval()
    with FlopCounterMode(display=False) as counter:
        plain(torch.zeros(1, *shape))
    return int(counter.get_total_flops()) // 2


def _input_shape(one: LoadedRun) -> tuple[int, ...] | None:
    """Of one input of the backbone: what it was built for, or what the data say, where they are at hand."""
    known = arguments(one.run).get("shape")
    if known is not None:
        return tuple(known)
    try:
        samples, _ = data.load(one.run.config.data).split("test")
    except (FileNotFoundError, ValueError):
        return None
    method, low = one.run.method(), torch.tensor([p.low for p in one.transform.parameters])
    return method.shape_of(method.inputs(data.to_float(samples[:1]), low, one.run.normalisation()))
