"""Where a method takes hold of a backbone that it knows nothing about."""

from __future__ import annotations

from torch import nn

from scn.core.errors import ScnError

DROPOUTS = (nn.Dropout, nn.AlphaDropout, nn.FeatureAlphaDropout)


def kept_shape(backbone: nn.Module, method: str) -> tuple[int, ...]:
    """The shape of one input, as a backbone keeps it, for a method that cannot do without."""
    shape = getattr(backbone, "shape", None)
    if shape is None:
        raise ScnError(
            f"the method {method} must know the shape of an input before it sees one, but "
            f"{type(backbone).__name__} does not keep it: give it an attribute `shape`"
        )
    return tuple(shape)


def last_linear(backbone: nn.Module) -> str:
    """The name of the linear layer that makes the outputs: the last one."""
    found = [name for name, module in backbone.named_modules() if isinstance(module, nn.Linear)]
    if not found:
        raise ScnError(f"{type(backbone).__name__} has no linear layer that makes its outputs")
    return found[-1]


def before_outputs(backbone: nn.Module) -> str:
    """The name of the layer that is given the last features: the last linear one, or a dropout before it."""
    leaves = [(name, module) for name, module in backbone.named_modules() if not any(module.children())]
    place = [name for name, _ in leaves].index(last_linear(backbone))
    if place and isinstance(leaves[place - 1][1], DROPOUTS):
        return leaves[place - 1][0]
    return leaves[place][0]
