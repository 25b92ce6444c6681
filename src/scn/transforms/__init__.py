"""Transforms: measurable changes of the input, by name.

To add one, write a subclass of `Transform` decorated by `@registry.register("name")` and import it
here.
"""

from scn.core.errors import ScnError
from scn.core.registry import nearest
from scn.transforms.audio import Pitch, Speed
from scn.transforms.base import Parameter, Transform, registry
from scn.transforms.colour import Brightness, Contrast, Saturation, Sharpness
from scn.transforms.compose import Composed
from scn.transforms.geometric import Rotation, Scaling, Translation
from scn.transforms.sensor import Light, Measured
from scn.transforms.solid import Rotation3D


def get(name: str, preset: str = "default") -> Transform:
    """The transform of this name, with the settings of a preset ("default" or "paper").

    Several names joined by "+" are applied one after the other; a part without the preset takes "default".
    """
    if "+" not in name:
        return registry.get(name).from_preset(preset)
    kinds = {part: registry.get(part) for part in name.split("+")}
    known = sorted({preset for kind in kinds.values() for preset in kind.presets})
    if preset not in known:
        raise ScnError(f"{name} has no preset {nearest(preset, known)}")
    chosen = [(part, preset if preset in kinds[part].presets else "default") for part in name.split("+")]
    return Composed([(part, kinds[part].from_preset(own)) for part, own in chosen])


def former_preset(name: str, preset: str) -> str:
    """What a preset of a run of version 0.1 is called now."""
    kind = registry.get(name) if name in registry else Transform
    return kind.former_presets.get(preset, preset)


__all__ = [
    "Brightness",
    "Composed",
    "Contrast",
    "Light",
    "Measured",
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
    "former_preset",
    "get",
    "registry",
]
