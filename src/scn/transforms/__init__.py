"""Transforms: measurable changes of the input, by name.

To add one, write a subclass of `Transform` decorated by `@registry.register("name")` and import it
here.
"""

from scn.transforms.base import Parameter, Transform, registry
from scn.transforms.geometric import Rotation, Scaling, Translation


def get(name: str, preset: str = "default") -> Transform:
    """The transform of this name, with the settings of a preset ("default" or "paper")."""
    return registry.get(name).from_preset(preset)


__all__ = ["Parameter", "Rotation", "Scaling", "Transform", "Translation", "get", "registry"]
