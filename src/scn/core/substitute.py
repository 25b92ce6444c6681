"""Put weights into a backbone for the length of a call, and take them out again without a trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn


@contextmanager
def weights_in_place(module: nn.Module, weights: Mapping[str, Tensor]) -> Iterator[None]:
    """`module` with these parameters and buffers, by name; tied parameters come under every name they have.

    Unlike torch.func.functional_call this also clears what recurrent layers remember of their weights,
    and treats a layer that is registered under two names as the one place it is.
    """
    places: dict[tuple[int, str], tuple[nn.Module, dict[str, Any], str, Any]] = {}
    try:
        for full, tensor in weights.items():
            owner_name, _, name = full.rpartition(".")
            owner = module.get_submodule(owner_name)
            table = owner._parameters if name in owner._parameters else owner._buffers
            places.setdefault((id(owner), name), (owner, table, name, table[name]))
            table[name] = tensor  # type: ignore[assignment]
        _refresh(owner for owner, *_ in places.values())
        yield
    finally:
        for _, table, name, before in places.values():
            table[name] = before
        _refresh(owner for owner, *_ in places.values())


def _refresh(owners: Iterable[nn.Module]) -> None:
    """Recurrent layers keep a list of their parameters beside the parameters themselves."""
    for owner in set(owners):
        if isinstance(owner, nn.RNNBase):
            owner._flat_weights = [owner._parameters.get(name) for name in owner._flat_weights_names]


def call_with(
    module: nn.Module, weights: Mapping[str, Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """module(*args, **kwargs) with these weights."""
    with weights_in_place(module, weights):
        return module(*args, **kwargs)
