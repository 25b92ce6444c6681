"""Put weights into a backbone for the length of a call, and take them out again without a trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn


@contextmanager
def weights_in_place(module: nn.Module, weights: Mapping[str, Tensor]) -> Iterator[None]:
    """`module` with these parameters, by name; tied parameters come under every name they have.

    Unlike torch.func.functional_call this also clears what recurrent layers remember of their weights,
    and treats a layer that is registered under two names as the one place it is.
    """
    places: dict[tuple[int, str], tuple[nn.Module, str, Any]] = {}
    try:
        for full, tensor in weights.items():
            owner_name, _, name = full.rpartition(".")
            owner = module.get_submodule(owner_name)
            places.setdefault((id(owner), name), (owner, name, owner._parameters[name]))
            owner._parameters[name] = tensor  # type: ignore[assignment]
        _refresh(places.values())
        yield
    finally:
        for owner, name, before in places.values():
            owner._parameters[name] = before
        _refresh(places.values())


def _refresh(places: Iterable[tuple[nn.Module, str, Any]]) -> None:
    """Recurrent layers keep a list of their parameters beside the parameters themselves."""
    for owner in {id(owner): owner for owner, _, _ in places}.values():
        if isinstance(owner, nn.RNNBase):
            owner._flat_weights = [owner._parameters.get(name) for name in owner._flat_weights_names]


def call_with(
    module: nn.Module, weights: Mapping[str, Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """module(*args, **kwargs) with these weights."""
    with weights_in_place(module, weights):
        return module(*args, **kwargs)
