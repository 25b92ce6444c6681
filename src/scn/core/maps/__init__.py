"""Maps from alpha to beta, by name.

| map | beta | coefficients that are not zero |
|---|---|---|
| learned | a small network with a softmax, as published | all |
| learned-from-nodes | the same, started from what `nodes` does | all |
| nodes | interpolation between D nodes of the space | 2 on a line or circle, 4 on a plane or among turns |
| experts | the nearest of D places, nothing is mixed | 1 |
| fourier | trigonometric interpolation between D nodes | all |
| categories | one base model for each category, or a learned table | 1, or all |
| linear | a linear function of alpha, in D = S + 1 coefficients | all |
| generated | the published network without its softmax | all |

To add one, write a subclass of `Map` decorated by `@registry.register("name")` and import it here.
"""

import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

from scn.core import space as spaces
from scn.core.errors import ScnError, WrongType
from scn.core.maps.base import Map, registry
from scn.core.maps.categories import CategoryTable
from scn.core.maps.experts import Experts
from scn.core.maps.fourier import Fourier
from scn.core.maps.generated import GeneratedMap, LinearMap
from scn.core.maps.learned import Learned, LearnedFromNodes
from scn.core.maps.nodes import Nodes
from scn.core.space import Space

get = registry.get

LEARNED = "learned"  # of the paper, and of files that name none


def chosen(asked: str | Map | Callable[[], Map], alpha_dim: int, dims: int, space: Space | None) -> Map:
    """The map of this name, or one that was made otherwise and must fit."""
    if space is not None and not isinstance(space, tuple):
        raise WrongType(f"the space must be a tuple of its axes, such as ({space!r},), but is {space!r}")
    if callable(asked) and not isinstance(asked, nn.Module):
        asked = asked()
    if isinstance(asked, str):
        space = spaces.usual(alpha_dim) if space is None else space
        _require_size(space, alpha_dim)
        return get(asked)(space, dims)
    if not isinstance(asked, Map):
        raise WrongType(f"the map must be a name or a Map, but is {asked!r}")
    if space is not None and space != asked.space:
        raise ScnError("a map that is made already has its own space: leave out space=")
    _require_size(asked.space, alpha_dim)
    if asked.dims != dims:
        raise ScnError(f"the map was made for {asked.dims} base models, but dims is {dims}")
    return asked


def _require_size(space: Space, alpha_dim: int) -> None:
    if spaces.size_of(space) != alpha_dim:
        raise ScnError(
            f"the space has {spaces.size_of(space)} values ({' x '.join(map(str, space))}), but alpha_dim is "
            f"{alpha_dim}"
        )


def is_learned(name: str) -> bool:
    """Whether the map of this name is learned with a softmax, and needs base models that start apart."""
    return issubclass(get(name), Learned)


def described(mapped: Map) -> dict[str, Any]:
    """What a file says of a map, so that `built` can make it again; nothing of the published one."""
    name = registry.name_of(mapped.saved_as)
    if name == LEARNED:
        return {}
    kind = mapped.saved_as
    named = name or f"{kind.__module__}:{kind.__qualname__}"
    return {"format": 2, "map": {"name": named, "space": spaces.to_json(mapped.space), **mapped.arguments()}}


def built(config: dict[str, Any], file: str) -> Map | str:
    """The map of a network that was saved."""
    if "map" not in config:
        return LEARNED
    arguments = dict(config["map"])
    name, axes = arguments.pop("name"), arguments.pop("space")
    if ":" not in name and name not in registry:
        raise ScnError(
            f'{file} has the map "{name}", which this scn does not know ({", ".join(registry)}): it was '
            "written by a newer one, which you need to read it"
        )
    kind = get(name)
    unknown = arguments.keys() - inspect.signature(kind).parameters
    if unknown:
        raise ScnError(
            f'{file} has the map "{name}" with {", ".join(sorted(unknown))}, which this scn does not know: '
            "it was written by a newer one, which you need to read it"
        )
    return kind(spaces.from_json(axes), config["dims"], **arguments)


__all__ = [
    "LEARNED",
    "CategoryTable",
    "Experts",
    "Fourier",
    "GeneratedMap",
    "Learned",
    "LearnedFromNodes",
    "LinearMap",
    "Map",
    "Nodes",
    "built",
    "chosen",
    "described",
    "get",
    "is_learned",
    "registry",
]
