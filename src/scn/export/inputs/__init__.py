"""Inputs as a sensor sends them: the C that makes of a camera's frame, or of PCM, what inference starts from.

What a sensor's samples are is defined in `scn.data.sensing`; the C gives the same to the last bit. To add a
kind of sensor, add it there, a file here that makes its `Entrance`, and a row below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scn.core.errors import ScnError
from scn.data.sensing import Camera, Pcm, sensor_of
from scn.export.base import Options
from scn.export.inputs import camera, pcm
from scn.export.parts import Parts
from scn.export.subject import Subject

KINDS: dict[type, tuple[Callable[..., None], Callable[..., Any]]] = {
    Camera: (camera.check, camera.add),
    Pcm: (pcm.check, pcm.add),
}


def check(subject: Subject, options: Options) -> None:
    """Refuse an input that cannot be what this network is given."""
    if options.input is None:
        return
    sensor = sensor_of(options.input)
    if not subject.method.shows_the_sample:
        raise ScnError(
            f"the method {subject.method_name or type(subject.method).__name__} gives its network something "
            "else than the sample: leave out `input`, and prepare x yourself"
        )
    if subject.has_no_data:
        raise ScnError(
            f"what the input is made of stands in the data {subject.data}, which are not here: get them, or "
            "leave out `input`"
        )
    KINDS[type(sensor)][0](subject, sensor)


def add(parts: Parts, subject: Subject, options: Options) -> None:
    """What a sensor's input needs, where there is one."""
    if options.input is not None:
        sensor = sensor_of(options.input)
        parts.entrance = KINDS[type(sensor)][1](parts, subject, sensor)
