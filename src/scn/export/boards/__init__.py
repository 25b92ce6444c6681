"""Projects for boards around the C code of a network: the templates and what fills them.

A `${word}` of a template is a value of the network. What these projects need of their boards (libraries,
compilers) is not here: only the C files and the syntax of the rest can be checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any

from scn.core.errors import ScnError
from scn.export import c
from scn.export.base import Options
from scn.export.predictions import meaning_of
from scn.export.sensors import Sensor, fitting
from scn.export.sensors import get as get_sensor
from scn.export.sensors.threshold import Threshold
from scn.export.staging import write_staged
from scn.export.subject import Subject

FOLDER = Path(__file__).parent
SAID = {"CLASSES": "class", "TARGETS": "values in their units", "OUTPUTS": "outputs"}


def fill(template: str, values: dict[str, str]) -> str:
    """A template with its words replaced; a word without a value is an error."""
    return Template((FOLDER / template).read_text()).substitute(values)


def fill_said(template: str, subject: Subject) -> str:
    """The statements of a template that say what the outputs mean: its file for their kind."""
    stem, _, ending = template.partition(".")
    values = values_of(subject)
    return fill(f"{stem}_{values['SIZE'].lower()}.{ending}", values)


def values_of(subject: Subject) -> dict[str, str]:
    """What every template may say about a network."""
    parameters, meaning = subject.transform.parameters, meaning_of(subject)
    return {
        "name": subject.name,
        "NAME": subject.name.upper(),
        "title": f"{subject.name}: {meaning.title} from {_shape(subject)} values",
        "outputs": meaning.outputs,
        "SIZE": meaning.size,
        "params": ", ".join(f"{p.name} from {p.low:g} to {p.high:g} {p.unit}".rstrip() for p in parameters),
        "mean": floats(subject.normalisation.mean),
        "deviation": floats(subject.normalisation.deviation),
    }


def said_of(subject: Subject) -> str:
    """What a board says for an input, in words."""
    return SAID[meaning_of(subject).size]


def sensor_of(subject: Subject, options: Options) -> Sensor | None:
    """The sensor that was asked for, or the one that measures what the network needs."""
    if not is_configured(subject, options):
        return None
    if options.sensor is not None:
        return get_sensor(options.sensor, subject.transform)
    return fitting(subject.transform)


def threshold_said(facts: dict[str, Any]) -> str:
    """The threshold of the sensor, and why it is that."""
    found = Threshold(**facts["threshold"])
    return f"{found.step:g} ({found.unit}): {found.about()}"


def is_configured(subject: Subject, options: Options) -> bool:
    return subject.is_scn and options.theta != "fixed"


def generated(subject: Subject, options: Options) -> tuple[c.Generated, Sensor | None]:
    """The C code, with the threshold of the sensor in its header, and that sensor."""
    sensor = sensor_of(subject, options)
    return c.generate(subject, replace(options, sensor=sensor.name if sensor else None)), sensor


def check(subject: Subject, options: Options) -> None:
    """What a board's project refuses beside what C code does."""
    if options.state == "explicit":
        raise ScnError("a board's project holds the state itself: leave out `state=explicit`")
    if options.sensor is not None and not is_configured(subject, options):
        raise ScnError("the network is not configured on the board: leave out `sensor`")
    if options.guard is not None:
        raise ScnError("the project calls no guard: export to c with `guard`, or leave it out")
    c.check(subject, options)


def write(folder: Path, files: dict[str, str]) -> list[Path]:
    """Write texts by their places in a folder."""
    made = []
    for name, text in files.items():
        path = folder / name
        write_staged(path, text.encode())
        made.append(path)
    return made


def _shape(subject: Subject) -> str:
    return " x ".join(str(size) for size in subject.shape)


def floats(values: Sequence[float]) -> str:
    """Constants that read back as the same float32."""
    return ", ".join(f"{value:#.9g}f" for value in values)
