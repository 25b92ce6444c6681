"""Sensor adapters in C: from raw readings to the parameters that a network is configured for.

Each filters its readings and reports a new setting only when it moved enough to matter. How far that is,
follows from the network itself: until a mixing coefficient changes by a few percent, nothing is worth a
reconfiguration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from scn.core.errors import ScnError
from scn.core.network import SCN
from scn.core.registry import nearest
from scn.export.staging import write_staged
from scn.export.subject import Subject
from scn.transforms import Transform

FOLDER = Path(__file__).parent
COMMON = "scn_sensor.h"
MATTERS = 0.05  # the change of a mixing coefficient that is worth a reconfiguration
GRID = 720  # settings that a threshold is tried at


@dataclass(frozen=True)
class Sensor:
    """One adapter: `scn_NAME.h` and `scn_NAME.c`."""

    header: str
    measures: str
    suits: Callable[[Transform], bool]
    moved: Callable[[Tensor, float], Tensor]  # settings, moved up by a step of the threshold
    steps: tuple[float, ...]  # thresholds to choose from, rising

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

    @torch.no_grad()
    def threshold(self, subject: Subject) -> float:
        """The largest step that changes no mixing coefficient by more than a trace, from any setting."""
        net, transform = subject.network, subject.transform
        if not isinstance(net, SCN):
            return self.steps[0]
        settings = transform.grid(GRID)
        beta, chosen = net.beta(transform.encode(settings)), self.steps[0]
        for step in self.steps:
            there = net.beta(transform.encode(self.moved(settings, step)))
            if (there - beta).abs().max() > MATTERS:
                break
            chosen = step
        return chosen


def _turns(transform: Transform) -> bool:
    return [(p.unit, p.periodic) for p in transform.parameters] == [("degrees", True)]


def _is_level(transform: Transform) -> bool:
    return transform.measured and len(transform.parameters) == 1 and transform.parameters[0].low > 0


ACCELEROMETER, LIGHT = (
    Sensor(
        "scn_accelerometer.h", "the angle of the image, from gravity", _turns,
        lambda params, step: params + step, tuple(0.5 * i for i in range(1, 61)),
    ),
    Sensor(
        "scn_light.h", "the light level, from a photometer", _is_level,
        lambda params, step: params * (1 + step), tuple(0.01 * i for i in range(1, 101)),
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
