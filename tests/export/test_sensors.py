"""The sensor adapters in C, compiled for this machine: noise does not reconfigure, a real change does."""

from __future__ import annotations

import ctypes
import math
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch

from generated import shared
from needs import tool
from scn import SCN, methods, transforms
from scn.backbones import MLP
from scn.data import Normalisation
from scn.export import Subject, sensors
from scn.export.sensors.threshold import MATTERS

STEADY, RECONFIGURE, REJECTED = 0, 1, 2
STRICT = (
    *("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Wshadow"),
    *("-Wcast-align", "-Wundef", "-Werror"),
)
NAN, INFINITY = math.nan, math.inf


class Accelerometer(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_float) for name in ("smoothing", "threshold", "mounting", "x", "y", "committed")),
        ("started", ctypes.c_int),
        ("configured", ctypes.c_int),
    ]


class Light(ctypes.Structure):
    _fields_ = [
        *(
            (name, ctypes.c_float)
            for name in (
                *("smoothing", "threshold", "raw_low", "raw_high"),
                *("low", "high", "level", "committed"),
            )
        ),
        ("started", ctypes.c_int),
        ("configured", ctypes.c_int),
    ]


@pytest.fixture(scope="session", params=["-O2", "-Ofast"])
def library(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Any:
    out = tmp_path_factory.mktemp("sensors") / "sensors.so"
    sources = sorted(sensors.FOLDER.glob("*.c"))
    trap = ("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")
    found = shared(sources, out, tool("gcc"), request.param, *STRICT, *trap)
    for name in (
        "scn_accelerometer_begin",
        "scn_accelerometer_update",
        "scn_accelerometer_commit",
        "scn_light_begin",
        "scn_light_update",
        "scn_light_commit",
    ):
        takes = {
            "begin": {"accelerometer": 2, "light": 4},
            "update": {"accelerometer": 3, "light": 1},
            "commit": {"accelerometer": 1, "light": 1},
        }
        _, kind, what = name.split("_")
        out_pointer = [ctypes.c_void_p] if what == "update" else []
        getattr(found, name).argtypes = [
            ctypes.c_void_p,
            *[ctypes.c_float] * takes[what][kind],
            *out_pointer,
        ]
    return found


class Compass:
    """The accelerometer adapter of a board that is turned about its camera's axis."""

    def __init__(self, library: Any, smoothing: float = 0.2, threshold: float = 10.0) -> None:
        self.library, self.state, self.angle = library, Accelerometer(), ctypes.c_float(-1.0)
        library.scn_accelerometer_begin(ctypes.byref(self.state), smoothing, threshold)
        self.busy = False  # whether the network could not be configured

    def feel(self, x: float, y: float, z: float = 0.0) -> int:
        found = self.library.scn_accelerometer_update(
            ctypes.byref(self.state), x, y, z, ctypes.byref(self.angle)
        )
        if found == RECONFIGURE and not self.busy:
            self.library.scn_accelerometer_commit(ctypes.byref(self.state), self.angle.value)
        return found

    def at(self, degrees: float, noise: float = 0.0) -> int:
        """A board turned clockwise, so that the image is turned counter-clockwise by as much."""
        angle = math.radians(degrees)
        return self.feel(
            -math.sin(angle) + random.gauss(0, noise),
            math.cos(angle) + random.gauss(0, noise),
            random.gauss(0, noise),
        )


@pytest.mark.parametrize("degrees", [0, 1, 45, 90, 179, 180, 181, 270, 359])
def test_the_first_reading_configures_for_the_angle(library: Any, degrees: float) -> None:
    compass = Compass(library)
    assert compass.at(degrees) == RECONFIGURE
    assert compass.angle.value == pytest.approx(degrees, abs=1e-3)
    assert 0 <= compass.angle.value < 360


def test_noise_does_not_reconfigure(library: Any) -> None:
    random.seed(0)
    compass = Compass(library)
    compass.at(30)
    assert all(compass.at(30, noise=0.05) == STEADY for _ in range(10_000))


def test_without_the_filter_the_same_noise_would_reconfigure(library: Any) -> None:
    random.seed(0)
    compass = Compass(library, smoothing=1.0)
    compass.at(30)
    assert any(compass.at(30, noise=0.05) == RECONFIGURE for _ in range(10_000))


def test_a_real_turn_reconfigures_and_ends_at_the_new_angle(library: Any) -> None:
    random.seed(0)
    compass = Compass(library)
    compass.at(30)
    results = [compass.at(120, noise=0.02) for _ in range(60)]
    assert 1 <= results.count(RECONFIGURE) <= 90 / 10
    assert abs(compass.angle.value - 120) <= 10
    assert RECONFIGURE not in results[-30:]


def test_the_wrap_around_is_no_jump(library: Any) -> None:
    compass = Compass(library)
    compass.at(358)
    assert [compass.at(degrees) for degrees in (359, 0, 1, 2, 3)] == [STEADY] * 5
    for _ in range(40):
        compass.at(12)
    assert compass.angle.value < 13, "the mean of 358 and 12 goes over 0, not over 180"
    assert compass.angle.value == pytest.approx(10, abs=3)


def test_a_slow_drift_is_followed_in_steps_of_the_threshold(library: Any) -> None:
    compass = Compass(library, smoothing=1.0)
    compass.at(0)
    reported = []
    for i in range(1, 7201):
        if compass.at(0.1 * i) == RECONFIGURE:
            reported.append(compass.angle.value)
    assert len(reported) == 71  # two turns: every 10 degrees and a little, but not the first
    steps = [(b - a) % 360 for a, b in zip([0, *reported], reported, strict=False)]
    assert all(10 < step <= 10.2 for step in steps)


@pytest.mark.parametrize(
    "reading",
    [
        (NAN, 1, 0),
        (0, NAN, 0),
        (0, 1, NAN),
        (INFINITY, 0, 0),
        (0, -INFINITY, 0),
        (1e30, 1e30, 0),
        (0, 0, 0),
        (0.1, 0.1, 0.1),
        (0, 2, 0),
        (0, 0.1, 0.99),
    ],
    ids=["nan x", "nan y", "nan z", "inf", "-inf", "overflow", "free fall", "falling", "shock", "flat"],
)
def test_readings_that_say_nothing_are_rejected_and_change_nothing(
    library: Any, reading: tuple[float, float, float]
) -> None:
    compass = Compass(library)
    assert compass.feel(*reading) == REJECTED
    assert compass.angle.value == -1, "before a good reading there is no angle"
    compass.at(45)
    before = bytes(compass.state)
    assert compass.feel(*reading) == REJECTED
    assert bytes(compass.state) == before
    assert compass.angle.value == pytest.approx(45, abs=1e-3)


def test_a_turn_is_reported_until_the_network_was_configured_for_it(library: Any) -> None:
    compass = Compass(library, smoothing=1.0)
    compass.at(0)
    compass.busy = True
    assert [compass.at(degrees) for degrees in (40, 40, 41)] == [RECONFIGURE] * 3
    compass.busy = False
    assert compass.at(42) == RECONFIGURE
    assert compass.at(43) == STEADY
    assert compass.state.committed == pytest.approx(42, abs=1e-3)


def test_the_first_angle_is_not_lost_while_the_network_is_busy(library: Any) -> None:
    compass = Compass(library)
    compass.busy = True
    assert [compass.at(30), compass.at(30)] == [RECONFIGURE] * 2


def test_a_light_is_reported_until_the_network_was_configured_for_it(library: Any) -> None:
    meter = Photometer(library, smoothing=1.0)
    meter.busy = True
    assert [meter.see(100), meter.see(100)] == [RECONFIGURE] * 2
    meter.busy = False
    assert [meter.see(100), meter.see(110)] == [RECONFIGURE, STEADY]


def test_a_half_turn_at_once_is_followed(library: Any) -> None:
    """The filtered vector passes zero, where it has no direction."""
    compass = Compass(library)
    compass.at(0)
    for _ in range(100):
        compass.at(180)
    assert compass.angle.value == pytest.approx(180, abs=10)


def test_a_mounting_is_added_to_the_angle(library: Any) -> None:
    compass = Compass(library)
    compass.state.mounting = 90.0
    compass.at(300)
    assert compass.angle.value == pytest.approx(30, abs=1e-3)


@pytest.mark.parametrize(("given", "taken"), [(0.0, 0.001), (-1, 0.001), (NAN, 0.001), (7, 1.0), (0.5, 0.5)])
def test_a_smoothing_out_of_range_is_taken_as_the_nearest_allowed(
    library: Any, given: float, taken: float
) -> None:
    assert Compass(library, smoothing=given).state.smoothing == pytest.approx(taken)


class Photometer:
    def __init__(self, library: Any, smoothing: float = 0.2, threshold: float = 0.2) -> None:
        self.library, self.state, self.level = library, Light(), ctypes.c_float(-1.0)
        library.scn_light_begin(ctypes.byref(self.state), 10.0, 760.0, smoothing, threshold)
        self.busy = False

    def see(self, reading: float) -> int:
        found = self.library.scn_light_update(ctypes.byref(self.state), reading, ctypes.byref(self.level))
        if found == RECONFIGURE and not self.busy:
            self.library.scn_light_commit(ctypes.byref(self.state), self.level.value)
        return found


def test_light_noise_does_not_reconfigure_and_a_lamp_does(library: Any) -> None:
    random.seed(0)
    meter = Photometer(library)
    assert meter.see(100) == RECONFIGURE
    assert all(meter.see(random.gauss(100, 10)) == STEADY for _ in range(10_000))
    results = [meter.see(random.gauss(400, 10)) for _ in range(60)]
    assert RECONFIGURE in results[:5]
    assert RECONFIGURE not in results[-30:]
    assert meter.level.value == pytest.approx(400, rel=0.2)


def test_light_matters_by_ratios(library: Any) -> None:
    dark, bright = Photometer(library, smoothing=1.0), Photometer(library, smoothing=1.0)
    dark.see(20)
    bright.see(600)
    assert dark.see(40) == RECONFIGURE
    assert bright.see(620) == STEADY
    assert bright.see(400) == RECONFIGURE


@pytest.mark.parametrize(("reading", "level"), [(0, 10), (5, 10), (760, 760), (1e9, 760)])
def test_levels_stay_in_the_trained_range(library: Any, reading: float, level: float) -> None:
    meter = Photometer(library)
    assert meter.see(reading) == RECONFIGURE
    assert meter.level.value == pytest.approx(level)


def test_a_sensor_of_another_range_is_mapped(library: Any) -> None:
    meter = Photometer(library)
    meter.state.raw_low, meter.state.raw_high = 0.0, 4095.0
    meter.see(4095 / 2)
    assert meter.level.value == pytest.approx((10 + 760) / 2, rel=1e-4)


def test_a_range_without_width_is_the_lowest_level(library: Any) -> None:
    meter = Photometer(library)
    meter.state.raw_low = meter.state.raw_high = 5.0
    meter.see(5)
    assert meter.level.value == 10


@pytest.mark.parametrize("reading", [NAN, INFINITY, -INFINITY, -1.0])
def test_light_readings_that_say_nothing_are_rejected(library: Any, reading: float) -> None:
    meter = Photometer(library)
    assert meter.see(reading) == REJECTED
    meter.see(100)
    before = bytes(meter.state)
    assert meter.see(reading) == REJECTED
    assert bytes(meter.state) == before


@pytest.mark.parametrize("path", sorted(sensors.FOLDER.glob("*.c")), ids=lambda path: path.name)
@pytest.mark.parametrize(
    "compiler",
    [("gcc",), ("clang",), ("g++", "-x", "c++"), ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb")],
    ids=lambda command: command[0],
)
def test_the_adapters_compile_without_a_warning_everywhere(
    path: Path, compiler: tuple[str, ...], tmp_path: Path
) -> None:
    tool(compiler[0])
    flags = STRICT if "c++" not in compiler else STRICT[1:]
    subprocess.run([*compiler, *flags, "-c", path, "-o", tmp_path / "out.o"], check=True)


def test_atan2f_is_the_only_function_of_libm(tmp_path: Path) -> None:
    tool("gcc")
    needed = set()
    for path in sensors.FOLDER.glob("*.c"):
        subprocess.run(["gcc", "-O2", "-c", path, "-o", tmp_path / "out.o"], check=True)
        out = subprocess.run(["nm", "-u", tmp_path / "out.o"], capture_output=True, text=True, check=True)
        needed |= set(out.stdout.split()) - {"U"}
    assert needed - {"_GLOBAL_OFFSET_TABLE_"} == {"atan2f"}


def a_subject(transform: str, dims: int = 3) -> Subject:
    method = methods.get("scn")(transforms.get(transform), dims=dims)
    net = SCN(MLP((1, 4, 4), 3, 4), method.transform.alpha_dim, dims)
    return Subject("net", net, method, (1, 4, 4), Normalisation(), "no such file.npz")


@pytest.mark.parametrize(
    ("transform", "name"), [("rotation", "accelerometer"), ("light", "light"), ("scaling", None)]
)
def test_a_transform_finds_the_sensor_that_measures_it(transform: str, name: str | None) -> None:
    found = sensors.fitting(transforms.get(transform))
    assert (found.name if found else None) == name


def test_a_sensor_that_measures_something_else_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"the sensor accelerometer measures the angle of the image, .* needs fac"
    ):
        sensors.get("accelerometer", transforms.get("scaling"))
    with pytest.raises(ValueError, match=r'there is no sensor "x-ray"\. Known: accelerometer, light'):
        sensors.get("x-ray", transforms.get("rotation"))


@pytest.mark.parametrize("transform", ["rotation", "light"])
def test_without_data_the_threshold_is_the_largest_step_that_hardly_changes_beta(transform: str) -> None:
    subject = a_subject(transform)
    sensor = sensors.fitting(subject.transform)
    assert sensor is not None
    assert isinstance(subject.network, SCN)
    slow = sensor.threshold(subject, 0.002)
    settings = subject.transform.grid(100)
    with torch.no_grad():
        subject.network.map.get_parameter("output.weight").mul_(8)  # a network that changes faster
        fast = sensor.threshold(subject, 0.002)
        beta = subject.network.beta(subject.transform.encode(settings))
        moved = subject.network.beta(subject.transform.encode(sensor.moved(settings, fast.step)))
    assert fast.step < slow.step
    assert (moved - beta).abs().max() <= MATTERS or fast.step == sensor.steps[0]
    assert "was not measured" in fast.about()


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    for sensor in sensors.SENSORS.values():
        sensor.copy(tmp_path)
    return tmp_path


def test_copies_are_complete(copied: Path) -> None:
    assert {path.name for path in copied.iterdir()} == {
        path.name for path in sensors.FOLDER.iterdir() if path.suffix in (".h", ".c")
    }
