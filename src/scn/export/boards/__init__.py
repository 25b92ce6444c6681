"""Projects for boards around the C code of a network: the templates and what fills them.

A `${word}` of a template is a value of the network. What these projects need of their boards (libraries,
compilers) is not here: only the C files and the syntax of the rest can be checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Template

from scn.core.errors import ScnError
from scn.export.base import Options
from scn.export.sensors import Sensor, fitting
from scn.export.sensors import get as get_sensor
from scn.export.subject import Subject

FOLDER = Path(__file__).parent


def fill(template: str, values: dict[str, str]) -> str:
    """A template with its words replaced; a word without a value is an error."""
    return Template((FOLDER / template).read_text()).substitute(values)


def values_of(subject: Subject) -> dict[str, str]:
    """What every template may say about a network."""
    parameters = subject.transform.parameters
    return {
        "name": subject.name,
        "NAME": subject.name.upper(),
        "title": f"{subject.name}: {len(subject.classes)} classes from {_shape(subject)} values",
        "params": ", ".join(f"{p.name} from {p.low:g} to {p.high:g} {p.unit}".rstrip() for p in parameters),
        "mean": floats(subject.normalisation.mean),
        "deviation": floats(subject.normalisation.deviation),
    }


def sensor_of(subject: Subject, options: Options) -> Sensor | None:
    """The sensor that was asked for, or the one that measures what the network needs."""
    if not is_configured(subject, options):
        return None
    if options.sensor is not None:
        return get_sensor(options.sensor, subject.transform)
    return fitting(subject.transform)


def is_configured(subject: Subject, options: Options) -> bool:
    return subject.is_scn and options.theta != "fixed"


def refuse_explicit(options: Options) -> None:
    if options.state == "explicit":
        raise ScnError("a board's project holds the state itself: leave out `state=explicit`")


def write(folder: Path, files: dict[str, str]) -> list[Path]:
    """Write texts by their places in a folder."""
    made = []
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        made.append(path)
    return made


def _shape(subject: Subject) -> str:
    return " x ".join(str(size) for size in subject.shape)


def floats(values: Sequence[float]) -> str:
    """Constants that read back as the same float32."""
    return ", ".join(f"{value:#.9g}f" for value in values)
