"""What a network costs: what is kept of it, what a configuration writes, and the work of one prediction."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from scn import data
from scn.core.maps import Map
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
    change: int = 0  # multiply-accumulates of a configuration, the map's among them

    @property
    def stored_bytes(self) -> int:
        return FLOAT * self.stored

    @property
    def theta_bytes(self) -> int:
        return FLOAT * self.configured


def cost_of(one: LoadedRun) -> Cost:
    """The cost of a run's network."""
    net = one.network
    stored = sum(p.numel() for p in one.run.method().kept(net).parameters())
    if not isinstance(net, SCN):
        return Cost(stored, 0, 0, operations(one), _weights_of_map(net))
    read = net.dims if net.map.entries is None else min(net.map.entries, net.dims)
    theta = net.theta.shape[1]
    return Cost(stored, theta, read, operations(one), read * theta + _weights_of_map(net))


def _weights_of_map(net: nn.Module) -> int:
    """Each of which is multiplied once for a new alpha."""
    return sum(p.numel() for module in net.modules() if isinstance(module, Map) for p in module.parameters())


@torch.no_grad()
def operations(one: LoadedRun) -> int | None:
    """Multiply-accumulates of the configured network for one input, as torch counts them."""
    x = one_input(one)
    if x is None:
        return None
    plain = plain_of(one)
    with FlopCounterMode(display=False) as counter:
        plain(x)
    return int(counter.get_total_flops()) // 2


def plain_of(one: LoadedRun) -> nn.Module:
    """The network that answers under some setting."""
    low = torch.tensor([p.low for p in one.transform.parameters])
    fixed = one.run.method().fixed
    return one.run.method().configured(one.network, low if fixed is None else fixed).eval()


def one_input(one: LoadedRun) -> Tensor | None:
    """What such a network is given for one answer, as far as its shape is known."""
    shape = _input_shape(one)
    return None if shape is None else one.run.method().blank(shape)


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
