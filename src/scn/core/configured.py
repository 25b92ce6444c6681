"""A configured backbone, and how to give it another configuration in place.

The parameters of a configured backbone lie one behind the other in one block of memory, so that a new
configuration is a single matrix product into that block, with nothing to copy afterwards.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from scn.core.errors import ScnError
from scn.core.layout import places
from scn.core.subspace import Subspace

Mix = Callable[[Tensor], object]  # writes theta into a block (1, L)
Place = tuple[dict[str, Any], str]  # the table of a module's parameters or buffers, and a name in it


@dataclass(frozen=True)
class Configured:
    """Where the weights of one configured backbone are, so that they need not be searched again."""

    block: Tensor  # (1, L)
    parameters: list[Place]
    addresses: list[int]  # of the parameters, in the same order
    shared: list[tuple[Place, Place]]  # what does not depend on alpha: to, from
    children: list[tuple[dict[str, Any], dict[str, Any]]]  # tables of modules, and what they held

    def rewrite(self, mix: Mix) -> None:
        mix(self.block)
        for (target, name), (source, _) in self.shared:
            target[name].copy_(source[name])

    def is_current(self, theta: Tensor) -> bool:
        """Whether everything still is where it was: the user may have moved or replaced a part since."""
        try:
            addresses = [table[name].data_ptr() for table, name in self.parameters]
        except (KeyError, AttributeError):
            return False
        return (
            addresses == self.addresses
            and all(table == before for table, before in self.children)
            and self.block.dtype == theta.dtype
            and self.block.device == theta.device
            and all(table.get(name) is not None for (table, name), _ in self.shared)
        )


def configured_copy(template: nn.Module, subspace: Subspace, mix: Mix) -> tuple[nn.Module, Configured]:
    """A copy of the template with theta in it."""
    plain = copy.deepcopy(template)
    block = _mixed(subspace, mix)
    parameters: list[Place] = []
    addresses: list[int] = []
    for slot, part in zip(subspace.slots, block[0].split(subspace.sizes), strict=True):
        parameter = nn.Parameter(part.view(slot.shape))
        for owner, name in places(plain, [slot]):
            setattr(owner, name, parameter)
            parameters.append((owner._parameters, name))
            addresses.append(parameter.data_ptr())
    return plain, Configured(block, parameters, addresses, _shared(template, plain), _children(plain))


def _mixed(subspace: Subspace, mix: Mix) -> Tensor:
    block = subspace.theta.new_empty(1, subspace.theta.shape[1])
    mix(block)
    return block


def _shared(template: nn.Module, plain: nn.Module) -> list[tuple[Place, Place]]:
    pairs: list[tuple[Place, Place]] = []
    for source, target in zip(template.modules(), plain.modules(), strict=True):
        for here, there in (
            (source._parameters, target._parameters),
            (source._buffers, target._buffers),
        ):
            pairs += [((there, n), (here, n)) for n, value in here.items() if value is not None]
    return pairs


def _children(plain: nn.Module) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(module._modules, dict(module._modules)) for module in plain.modules() if module._modules]


def fill(plain: nn.Module, template: nn.Module, subspace: Subspace, mix: Mix) -> None:
    """Write theta into any module of the template's shape, wherever its parameters lie."""
    parts = zip(subspace.slots, _mixed(subspace, mix)[0].split(subspace.sizes), strict=True)
    sources = {name: part.view(slot.shape) for slot, part in parts for name in slot.names}
    sources |= dict(template.named_parameters(remove_duplicate=False)) | dict(template.named_buffers())
    targets = dict(plain.named_buffers()) | dict(plain.named_parameters(remove_duplicate=False))
    wrong = sources.keys() ^ targets.keys()
    wrong |= {n for n in sources.keys() & targets.keys() if sources[n].shape != targets[n].shape}
    if wrong:
        raise ScnError(
            f"into= must be a backbone that this network's configure returned, but a {type(plain).__name__} "
            f"was given that differs in {', '.join(sorted(wrong))}"
        )
    for name, source in sources.items():
        targets[name].copy_(source)


def mixing(theta: Tensor, mapped: Any, alpha: Tensor) -> Mix:
    """What writes the theta of this alpha into a block (1, L), reading no base model without need."""
    if mapped.entries is None:
        beta: Tensor = mapped.forward(alpha)
        return lambda block: torch.mm(beta.unsqueeze(0), theta, out=block)
    (first, most), *others = zip(*mapped.pick(alpha), strict=True)

    def mix(block: Tensor) -> None:
        torch.mul(theta[first], most, out=block[0])
        for index, coefficient in others:
            block[0].add_(theta[index], alpha=coefficient)

    return mix
