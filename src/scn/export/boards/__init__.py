"""Packages for boards around the C code of a network: the templates and what fills them.

A `${word}` of a template is a value of the network. What these packages need of their boards (libraries,
compilers) is not here: only the C files, the manifests and the syntax of the rest can be checked.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any

from scn.core.errors import ScnError
from scn.export import c
from scn.export.base import Options, Report
from scn.export.package import LICENCE, LICENCE_TEXT, NOBODY
from scn.export.predictions import meaning_of
from scn.export.sensors import Sensor, fitting
from scn.export.sensors import get as get_sensor
from scn.export.sensors.threshold import Threshold
from scn.export.staging import write_staged
from scn.export.subject import Subject

FOLDER = Path(__file__).parent
Files = dict[str, str]  # texts, by their places in a folder
SAID = {"CLASSES": "class", "TARGETS": "values in their units", "OUTPUTS": "outputs"}


def fill(template: str, values: dict[str, str]) -> str:
    """A template with its words replaced; a word without a value is an error."""
    return Template((FOLDER / template).read_text()).substitute(values)


def fill_said(template: str, subject: Subject, more: dict[str, str] | None = None) -> str:
    """The statements of a template that say what the outputs mean: its file for their kind."""
    stem, _, ending = template.partition(".")
    values = {**values_of(subject), **(more or {})}
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


def sensor_said(subject: Subject, sensor: Sensor, facts: dict[str, Any]) -> str:
    """How a program uses the sensor's adapter."""
    name = subject.name
    return (
        f"`scn_{sensor.name}.h` measures {sensor.measures}. `begin` takes a threshold, "
        f"{name.upper()}_THRESHOLD in `{name}.h`: {threshold_said(facts)}. "
        f"When `update` says SCN_SENSOR_RECONFIGURE, call `{name}_encode` and `{name}_request`, and once "
        f"that succeeded `scn_{sensor.name}_commit`; the task that asks the network calls `{name}_poll` "
        "first."
    )


def licence_said(subject: Subject) -> str:
    """Whose the code is, and whose the network; and what a registry needs that nobody has said."""
    said = [
        f"The code is under the licence in `LICENSE` ({LICENCE}); the weights are those of whoever trained "
        "them."
    ]
    if subject.package == NOBODY:
        said.append(
            "Before you publish this package, say who you are by `scn export --package maintainer=... "
            "--package url=... --package version=...`: now the manifest names the authors of scn and the "
            "page of the paper."
        )
    return " ".join(said)


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


def code(subject: Subject, made: c.Generated, sensor: Sensor | None, headers: str, sources: str) -> Files:
    """The network and its sensor: texts by their places, in a folder for headers and one for sources."""
    files = {f"{headers}/{subject.name}.h": made.header, f"{sources}/{subject.name}.c": made.source}
    for path in sensor.files if sensor else ():
        files[f"{headers if path.suffix == '.h' else sources}/{path.name}"] = path.read_text()
    return files


def report(place: Path, files: Files, made: c.Generated, sensor: Sensor | None, **facts: Any) -> Report:
    """Write a package with its licence, and say what it is and what was checked of it."""
    written = write(place, {**files, "LICENSE": LICENCE_TEXT.read_text()})
    return Report(written, {**made.facts, "sensor": sensor.name if sensor else None, **facts})


def yaml(values: dict[str, Any]) -> str:
    """A manifest: a line for each name, with its value in JSON, which is YAML."""
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items())


def write(folder: Path, files: Files) -> list[Path]:
    """Write texts into a folder."""
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
