"""Transforms: measurable changes of the input, by name.

To add one, write a subclass of `Transform` decorated by `@registry.register("name")` and import it
here.
"""

from scn.transforms.audio import Pitch, Speed
from scn.transforms.base import Parameter, Transform, registry
from scn.transforms.colour import Brightness, Contrast, Saturation, Sharpness
from scn.transforms.compose import Composed
from scn.transforms.geometric import Rotation, Scaling, Translation
from scn.transforms.sensor import Light
from scn.transforms.solid import Rotation3D


def get(name: str, preset: str = "default") -> Transform:
    """The transform of this name, with the settings of a preset ("default" or "paper").

    Several names joined by "+" are applied one after the other; a part without the preset takes "default".
    """
    if "+" not in name:
        return registry.get(name).from_preset(preset)
    parts = []
    for part in name.split("+"):
        kind = registry.get(part)
        parts.append((part, kind.from_preset(preset if preset in kind.presets else "default")))
    return Composed(parts)


__all__ = [
    "Brightness",
    "Composed",
    "Contrast",
    "Light",
    "Parameter",
    "Pitch",
    "Rotation",
    "Rotation3D",
    "Saturation",
    "Scaling",
    "Sharpness",
    "Speed",
    "Transform",
    "Translation",
    "get",
    "registry",
]
