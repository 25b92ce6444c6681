"""Compact subspaces: a wide layer is shared by all configurations, and a narrow one is configured.

    full            W(alpha) is mixed as it is
    factored:R      W(alpha) = A(alpha) B      B, R rows, is shared; a convolution's A is 1x1
    low-rank:R      W(alpha) = W + A(alpha) C(alpha)      W is shared; A and C have rank R
    gains           W(alpha) = g(alpha) W      W is shared; g has a factor for each output
    shared:PATTERN  parameters whose names match are shared, all others are mixed

A rotation acts linearly on an image: what B must keep of it is the same for every angle. Layers are replaced
once, in a copy of the backbone, by ordinary modules, so that everything else sees an ordinary network.
"""

from __future__ import annotations

import copy
import fnmatch
import itertools
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm

from scn.core.errors import ScnError
from scn.core.gains import Gains
from scn.core.layout import Slot

WIDE = 4  # a layer is worth it from so many times R inputs on
FULL, GAINS = "full", "gains"
KINDS = (FULL, "factored:R", "low-rank:R", GAINS, "shared:PATTERN")
LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
NORMS = (_BatchNorm, _InstanceNorm, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm)


class _Replacement(nn.Module):
    """What stands in the place of a layer, for which an owner may also ask its weight and bias."""

    shared_names: ClassVar[tuple[str, ...]] = ("wide.weight",)
    bias_name: ClassVar[str]
    wide: Any

    @property
    def bias(self) -> Tensor | None:
        last: Any = [*self.children()][-1]
        return last.bias

    def reset_parameters(self) -> None:
        """As an owner may ask of the layer that stood here."""
        for layer in self.children():
            layer.reset_parameters()  # type: ignore[operator]


class Factored(_Replacement, nn.Sequential):
    """`wide`, shared, then `narrow`, configured."""

    bias_name = "narrow.bias"

    def __init__(self, layer: nn.Module, rank: int) -> None:
        wide, narrow = _without_bias(layer, rank), _after(layer, rank, bias=layer.bias is not None)
        super().__init__()
        self.wide, self.narrow = wide, narrow

    @property
    def weight(self) -> Tensor:
        return _product(self.narrow.weight, self.wide.weight)

    @torch.no_grad()
    def start_from(self, layer: Any) -> None:
        """As near to the layer as the rank allows, and its very function if that is enough."""
        rank, weight = self.narrow.weight.shape[1], layer.weight.flatten(1)
        left, values, right = torch.linalg.svd(weight, full_matrices=rank > min(weight.shape))
        kept = min(rank, len(values))
        scaled = weight.new_zeros(len(left), rank)
        scaled[:, :kept] = left[:, :kept] * values[:kept]
        self.wide.weight.copy_(right[:rank].reshape(self.wide.weight.shape))
        self.narrow.weight.copy_(scaled.view_as(self.narrow.weight))
        _take_bias(self.narrow, layer)


class LowRank(_Replacement):
    """`wide`, shared, beside `inner` and `outer`, configured."""

    bias_name = "outer.bias"

    def __init__(self, layer: Any, rank: int) -> None:
        super().__init__()
        self.wide = _without_bias(layer, layer.weight.shape[0])
        self.inner = _without_bias(layer, rank)
        self.outer = _after(layer, rank, bias=layer.bias is not None)

    @property
    def weight(self) -> Tensor:
        return self.wide.weight + _product(self.outer.weight, self.inner.weight)

    def forward(self, x: Tensor) -> Tensor:
        return self.wide(x) + self.outer(self.inner(x))

    @torch.no_grad()
    def start_from(self, layer: Any) -> None:
        self.wide.weight.copy_(layer.weight)
        self.outer.weight.zero_()
        _take_bias(self.outer, layer)


class Gained(_Replacement, nn.Sequential):
    """`wide`, shared, then a factor and a shift of each of its outputs, configured."""

    bias_name = "gains.bias"

    def __init__(self, layer: Any, rank: int) -> None:
        super().__init__()
        self.wide = copy.deepcopy(layer)
        self.wide.bias = None
        self.gains = Gains(len(layer.weight), -1 if isinstance(layer, nn.Linear) else 1).to(layer.weight)

    @property
    def weight(self) -> Tensor:
        return self.gains.weight.view(-1, *(1,) * (self.wide.weight.dim() - 1)) * self.wide.weight

    @torch.no_grad()
    def start_from(self, layer: Any) -> None:
        self.wide.weight.copy_(layer.weight)
        _take_bias(self.gains, layer)

    @torch.no_grad()
    def folded(self) -> nn.Module:
        """One layer that computes the same."""
        layer = copy.deepcopy(self.wide)
        layer.weight.copy_(self.weight)
        layer.bias = nn.Parameter(self.gains.bias.detach().clone())
        return layer


def with_gains_folded(configured: nn.Module) -> nn.Module:
    """A copy of a configured network without gains of its own: as large as the backbone, and as fast."""
    found = copy.deepcopy(configured)
    for name, module in list(found.named_modules()):
        if isinstance(module, Gained):
            owner, _, own = name.rpartition(".")
            setattr(found.get_submodule(owner), own, module.folded())
    return found


def _product(after: Tensor, before: Tensor) -> Tensor:
    """The weight of one layer for two, of which the second is linear or 1x1."""
    return (after.flatten(1) @ before.flatten(1)).view(-1, *before.shape[1:])


def _take_bias(made: Any, layer: Any) -> None:
    if layer.bias is not None:
        made.bias.copy_(layer.bias)
        made.bias.requires_grad_(layer.bias.requires_grad)


def _without_bias(layer: Any, outputs: int) -> Any:
    """The same kind of layer with other outputs and no bias."""
    if isinstance(layer, nn.Linear):
        made: nn.Module = nn.Linear(layer.in_features, outputs, bias=False)
    else:
        sizes = (layer.kernel_size, layer.stride, layer.padding, layer.dilation)
        made = type(layer)(layer.in_channels, outputs, *sizes, bias=False)
    return made.to(layer.weight)


def _after(layer: Any, inputs: int, bias: bool) -> Any:
    """The layer that makes the outputs of this one from so many inputs."""
    if isinstance(layer, nn.Linear):
        made: nn.Module = nn.Linear(inputs, layer.out_features, bias=bias)
    else:
        made = type(layer)(inputs, layer.out_channels, 1, bias=bias)
    return made.to(layer.weight)


REPLACEMENTS: dict[str, type[Factored | LowRank | Gained]] = {
    "factored": Factored,
    "low-rank": LowRank,
    GAINS: Gained,
}


@dataclass(frozen=True)
class Compact:
    """How a backbone is made compact: which layers are replaced by what, and which parameters are mixed."""

    name: str  # as a person says it, such as factored:32
    kind: str
    rank: int
    layers: tuple[str, ...]
    mixed: tuple[str, ...]  # names of parameters in the compact backbone

    def applied(self, backbone: nn.Module, *, alike: bool = True) -> nn.Module:
        """A compact copy of a backbone, which, `alike`, computes what it did as far as the rank allows."""
        changed = copy.deepcopy(backbone)
        for full in self.layers:
            owner, _, name = full.rpartition(".")
            layer = dict(changed.named_modules()).get(full)
            if layer is None or type(layer) not in LAYERS:
                raise ScnError(
                    f"subspace={self.name} replaced the layer {full!r}, but the given "
                    f"{type(backbone).__name__} has none: pass a backbone of the saved shape"
                )
            made = REPLACEMENTS[self.kind](layer, self.rank)
            if alike:
                made.start_from(layer)
            setattr(changed.get_submodule(owner), name, made.train(layer.training))
        return changed

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind,
            "rank": self.rank,
            "layers": list(self.layers),
        }


def compact(name: str, backbone: nn.Module, slots: Sequence[Slot]) -> Compact:
    """What `name` makes of a backbone of which the parameters of these slots are configurable."""
    mixed = [known for slot in slots for known in slot.names]
    kind, _, value = name.partition(":")
    if kind == "shared" and value:
        left = [parameter for parameter in mixed if not fnmatch.fnmatch(parameter, value)]
        if len(left) == len(mixed) or not left:
            what = "no parameter" if left else "every parameter"
            raise ScnError(f"subspace={name} shares {what}. The backbone has: {', '.join(mixed)}")
        return Compact(name, kind, 0, (), tuple(left))
    alone = {slot.names[0] for slot in slots if len(slot.names) == 1}  # tied ones must stay tied
    if name == GAINS:
        return _gained(backbone, alone, mixed)
    if kind not in REPLACEMENTS or kind == GAINS or not value.isdecimal() or int(value) < 1:
        raise ScnError(f"there is no subspace {name!r}: say one of {', '.join(KINDS)}, such as factored:32")
    rank = int(value)
    layers = tuple(full for full, layer in backbone.named_modules() if _is_wide(full, layer, rank, alone))
    if not layers:
        raise ScnError(
            f"subspace={name} finds no wide layer: a linear layer or convolution is replaced where it has at "
            f"least {WIDE} x {rank} inputs for each output. Choose a smaller rank, or the subspace full"
        )
    return Compact(name, kind, rank, layers, tuple(_renamed(kind, rank, backbone, layers, mixed)))


def _gained(backbone: nn.Module, alone: Set[str], mixed: Sequence[str]) -> Compact:
    """Gains for every layer, but where a norm layer comes next, whose own are mixed instead."""
    leaves = [(full, module) for full, module in backbone.named_modules() if not any(module.children())]
    followed = {full for (full, _), (_, after) in itertools.pairwise(leaves) if isinstance(after, NORMS)}
    layers = tuple(
        full
        for full, layer in leaves
        if full and type(layer) in LAYERS and f"{full}.weight" in alone and full not in followed
    )
    norms = [
        f"{full}.{name}"
        for full, module in leaves
        if isinstance(module, NORMS)
        for name, _ in module.named_parameters()
    ]
    own = [name for name in _renamed(GAINS, 0, backbone, layers, mixed) if name not in mixed]
    found = (*(name for name in norms if name in mixed), *own)
    if not found:
        raise ScnError(
            f"subspace={GAINS} finds no linear layer, convolution or norm layer among what is configurable"
        )
    return Compact(GAINS, GAINS, 0, layers, found)


def rebuilt(content: dict[str, Any]) -> Compact:
    """What a file says of it."""
    known = content.get("kind")
    if known not in (*REPLACEMENTS, "shared"):
        raise ScnError(f"the subspace {content.get('name')!r} is not known: it may need a newer scn")
    return Compact(content["name"], known, content["rank"], tuple(content["layers"]), ())


def _is_wide(full: str, layer: nn.Module, rank: int, mixed: Set[str]) -> bool:
    if type(layer) not in LAYERS or f"{full}.weight" not in mixed:
        return False
    ordinary = getattr(layer, "groups", 1) == 1 and getattr(layer, "padding_mode", "zeros") == "zeros"
    weight: Any = layer.weight
    return ordinary and bool(full) and weight.flatten(1).shape[1] >= WIDE * rank


def _renamed(
    kind: str, rank: int, backbone: nn.Module, layers: Sequence[str], mixed: Sequence[str]
) -> list[str]:
    """The parameters that are mixed, as they are called in the compact backbone."""
    found = [name for name in mixed if name.rpartition(".")[0] not in layers]
    for full in layers:
        made = REPLACEMENTS[kind](backbone.get_submodule(full), rank)
        keeps = backbone.get_submodule(full).bias is not None and f"{full}.bias" not in mixed
        shared = (*made.shared_names, made.bias_name) if keeps else made.shared_names
        found += [f"{full}.{name}" for name, _ in made.named_parameters() if name not in shared]
    return found
