"""Put weights into a backbone for the length of a call, and take them out again without a trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import nn

Change = tuple[dict[str, Any], str, Any]  # a table of a module, a name in it, and what shall stand there

_NOTHING = object()


@contextmanager
def in_place(changes: Iterable[Change]) -> Iterator[None]:
    """Modules whose tables hold something else for as long as the block lasts."""
    changes = list(changes)
    before = [(table, name, table.get(name, _NOTHING)) for table, name, _ in changes]
    try:
        for table, name, value in changes:
            table[name] = value
        yield
    finally:
        try:
            _restore(before)
        except KeyboardInterrupt:  # it must not leave a half of the weights behind
            _restore(before)
            raise


def _restore(before: list[Change]) -> None:
    for table, name, value in before:
        if value is _NOTHING:
            table.pop(name, None)
        else:
            table[name] = value


def placing(module: nn.Module, weights: Mapping[str, Any]) -> Iterator[Change]:
    """What puts these parameters and buffers in place, by name; tied ones come under every name they have."""
    recurrent: dict[nn.RNNBase, dict[str, Any]] = {}
    for full, value in weights.items():
        owner_name, _, name = full.rpartition(".")
        owner = module.get_submodule(owner_name)
        yield (owner._parameters if name in owner._parameters else owner._buffers), name, value
        if isinstance(owner, nn.RNNBase):
            recurrent.setdefault(owner, dict(owner._parameters))[name] = value
    for owner, values in recurrent.items():  # they keep a list of their parameters beside the parameters
        yield vars(owner), "_flat_weights", [values.get(name) for name in owner._flat_weights_names]


def weights_in_place(module: nn.Module, weights: Mapping[str, Any]) -> Any:
    """`module` with these parameters and buffers.

    Unlike torch.func.functional_call this also clears what recurrent layers remember of their weights,
    and treats a layer that is registered under two names as the one place it is.
    """
    return in_place(placing(module, weights))


def call_with(
    module: nn.Module, weights: Mapping[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """module(*args, **kwargs) with these weights."""
    with weights_in_place(module, weights):
        return module(*args, **kwargs)
