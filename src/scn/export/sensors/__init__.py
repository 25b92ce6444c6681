"""Sensor adapters in C: from raw readings to the parameters that a network is configured for.

Each filters its readings and reports a new setting only when it moved enough to matter. How far that is
follows from the network itself: see `threshold`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from scn.core.errors import ScnError
from scn.core.registry import nearest
from scn.export.sensors.threshold import Moved, Threshold, chosen
from scn.export.staging import write_staged
from scn.export.subject import Subject
from scn.transforms import Transform

FOLDER = Path(__file__).parent
COMMON = "scn_sensor.h"


@dataclass(frozen=True)
class Sensor:
    """One adapter: `scn_NAME.h` and `scn_NAME.c`."""

    header: str
    measures: str
    suits: Callable[[Transform], bool]
    moved: Moved
    steps: tuple[float, ...]  # thresholds to choose from, rising
    unit: str  # of a threshold

    @property
    def name(self) -> str:
        return self.header.removeprefix("scn_").removesuffix(".h")

    @property
    def files(self) -> tuple[Path, ...]:
        header = FOLDER / self.header
        return (FOLDER / COMMON, header, header.with_suffix(".c"))

    def copy(self, folder: Path) -> list[Path]:
        """Put the adapter beside a network's C code."""
        made = [folder / path.name for path in self.files]
        for source, copy in zip(self.files, made, strict=True):
            write_staged(copy, source.read_bytes())
        return made

    def threshold(self, subject: Subject, lose: float) -> Threshold:
        """The largest step that costs at most `lose` of the score."""
        return chosen(subject, self.moved, self.steps, self.unit, lose)


def _turns(transform: Transform) -> bool:
    return [(p.unit, p.periodic) for p in transform.parameters] == [("degrees", True)]


def _is_level(transform: Transform) -> bool:
    return transform.measured and len(transform.parameters) == 1 and transform.parameters[0].low > 0


def _turned(params: Tensor, step: float) -> Tensor:
    return params + step


def _by_ratio(params: Tensor, step: float) -> Tensor:
    return params * (1 + step) if step >= 0 else params / (1 - step)


ACCELEROMETER, LIGHT = (
    Sensor(
        "scn_accelerometer.h", "the angle of the image, from gravity", _turns,
        _turned, tuple(0.5 * i for i in range(1, 61)), "degrees",
    ),
    Sensor(
        "scn_light.h", "the light level, from a photometer", _is_level,
        _by_ratio, tuple(0.01 * i for i in range(1, 101)), "as a ratio",
    ),
)  # fmt: skip
SENSORS = {row.name: row for row in (ACCELEROMETER, LIGHT)}


def get(name: str, transform: Transform) -> Sensor:
    """The adapter of this name, if it measures what the transform needs."""
    if name not in SENSORS:
        raise ScnError(f"there is no sensor {nearest(name, SENSORS)}")
    sensor = SENSORS[name]
    if not sensor.suits(transform):
        needed = ", ".join(f"{p.name} {p.unit}".strip() for p in transform.parameters)
        raise ScnError(f"the sensor {name} measures {sensor.measures}, but the network needs {needed}")
    return sensor


def fitting(transform: Transform) -> Sensor | None:
    """The adapter that measures what this transform needs, if there is one."""
    return next((sensor for sensor in SENSORS.values() if sensor.suits(transform)), None)
