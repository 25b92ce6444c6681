"""What a sensor sends, and the sample that it is: the bytes of a camera, or the PCM of a microphone.

Here is the definition that the code on a device follows to the last bit. A sensor is said in words,
`camera:160x120:rgb565` or `pcm16:16000`: its kind, its numbers, and after commas what is not as usual.
"""

from __future__ import annotations

from scn.core.errors import ScnError
from scn.core.registry import nearest
from scn.data.sensing.camera import FORMATS, GREY, Camera
from scn.data.sensing.pcm import Pcm

__all__ = ["FORMATS", "GREY", "KINDS", "Camera", "Pcm", "sensor_of"]

KINDS: dict[str, type[Camera] | type[Pcm]] = {"camera": Camera, "pcm16": Pcm}


def sensor_of(text: str) -> Camera | Pcm:
    """The sensor that these words say."""
    kind, _, rest = text.partition(":")
    kind, _, options = kind.partition(",")
    if kind not in KINDS:
        raise ScnError(f"there is no input {nearest(kind, KINDS)}")
    return KINDS[kind].said(f",{options}" if options else rest)
