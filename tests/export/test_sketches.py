"""Packages for boards: complete, and correct C and C++ as far as a compiler without their tools can tell.

The headers in `stubs` declare what the packages use of Arduino, ESP-IDF and Zephyr. This checks syntax and
types against them; it is no build by the boards' own tools, and the packages say so.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from needs import tool
from packaged import CASES, STUBS, WARNINGS
from scn.export import Options, Subject, targets


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[Subject, Options]:
    return CASES[request.param]


def sketches(library: Path) -> list[Path]:
    found = sorted(library.glob("examples/*/*.ino"))
    assert found
    return found


def test_the_examples_pass_the_compiler_against_stubs_of_the_arduino_api(
    case: tuple[Subject, Options], tmp_path: Path
) -> None:
    tool("g++")
    report = targets.get("arduino")(*case, tmp_path)
    library = tmp_path / "toy"
    for sketch in sketches(library):
        assert sketch in report.files
        places = [f"-I{library / 'src'}", f"-I{STUBS}"]
        command = ["g++", "-std=gnu++14", *WARNINGS, "-fsyntax-only", *places, "-x", "c++", str(sketch)]
        subprocess.run(command, check=True)
    for source in (library / "src").glob("*.c"):
        subprocess.run(["gcc", "-std=c99", *WARNINGS, "-fsyntax-only", source], check=True)


SYSTEMS = {"esp-idf": "examples/toy_example/main/main.c", "zephyr": "samples/toy/src/main.c"}
PORTS = {"atomics": [], "no atomics": ["-U__GCC_ATOMIC_INT_LOCK_FREE", "-D__GCC_ATOMIC_INT_LOCK_FREE=1"]}


@pytest.mark.parametrize("atomics", PORTS)
@pytest.mark.parametrize("target", SYSTEMS)
def test_a_component_and_a_module_pass_the_compiler_against_stubs_of_their_systems(
    target: str, atomics: str, case: tuple[Subject, Options], tmp_path: Path
) -> None:
    tool("gcc")
    report = targets.get(target)(*case, tmp_path)
    place = tmp_path / "toy"
    main = place / SYSTEMS[target]
    assert main in report.files
    own = [f"-I{place / 'include'}", f"-I{place / 'src'}", f"-I{STUBS}"]
    port = ['-DSCN_PORT_HEADER="scn_port.h"', *PORTS[atomics]]
    for source in (*place.glob("src/*.c"), main):
        command = [
            "gcc",
            "-std=gnu99",
            *WARNINGS,
            "-Wno-builtin-macro-redefined",
            "-fsyntax-only",
            *own,
            *port,
        ]
        subprocess.run([*command, source], check=True)
    listed = (place / "CMakeLists.txt").read_text()
    assert all(f"src/{source.name}" in listed for source in place.glob("src/*.c"))


@pytest.mark.parametrize(
    ("name", "sensor"),
    [("accelerometer", "accelerometer"), ("colours and light", "light"), ("fixed", None), ("plain", None)],
)
def test_a_sketch_has_the_sensor_that_measures_its_setting(
    name: str, sensor: str | None, tmp_path: Path
) -> None:
    report = targets.get("arduino")(*CASES[name], tmp_path)
    assert report.facts["sensor"] == sensor
    written = {path.name for path in report.files if path.name.startswith("scn_")}
    assert written == ({"scn_sensor.h", f"scn_{sensor}.h", f"scn_{sensor}.c"} if sensor else set())


# A board without the sensor that the sketch was written for: setup must end, and params come by serial.
OTHER_BOARD = """
#include "Nano33BLESense.ino"
static const char *sent = "p\\0\\0\\0\\0";
static int place;
SerialStub Serial;
void SerialStub::begin(unsigned long) {}
void SerialStub::setTimeout(unsigned long) {}
size_t SerialStub::print(const char *) { return 0; }
size_t SerialStub::print(double, int) { return 0; }
size_t SerialStub::println(const char *) { return 0; }
size_t SerialStub::println(unsigned long, int) { return 0; }
int SerialStub::available() { return place < 5; }
int SerialStub::read() { return sent[place++]; }
size_t SerialStub::readBytes(char *to, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = sent[place++];
    return count;
}
unsigned long micros() { return 0; }
void delay(unsigned long) {}
ImuStub IMU;
int ImuStub::begin() { return 0; }
int ImuStub::accelerationAvailable() { return 1; }
int ImuStub::readAcceleration(float &, float &, float &) { return 0; }
int main() { setup(); loop(); return ready ? 0 : 1; }
"""


def test_a_sketch_goes_on_where_the_sensor_does_not_answer(tmp_path: Path) -> None:
    gcc = tool("g++")
    targets.get("arduino")(*CASES["accelerometer"], tmp_path)
    folder = tmp_path / "toy" / "src"
    (folder / "other.cpp").write_text(OTHER_BOARD)
    for source in folder.glob("*.c"):
        subprocess.run(["gcc", "-std=c99", "-c", source, "-o", source.with_suffix(".o")], check=True)
    sketch = tmp_path / "toy" / "examples" / "Nano33BLESense"
    places = [
        f"-I{STUBS}",
        f"-I{sketch}",
        f"-I{folder}",
        "-std=gnu++14",
        str(folder / "other.cpp"),
        *map(str, folder.glob("*.o")),
    ]
    subprocess.run([gcc, *places, "-lm", "-o", str(tmp_path / "board")], check=True)
    assert subprocess.run([str(tmp_path / "board")], check=False, timeout=20).returncode == 0


@pytest.mark.parametrize("target", ["arduino", "esp-idf", "zephyr"])
def test_a_project_says_what_was_not_checked(target: str, tmp_path: Path) -> None:
    report = targets.get(target)(*CASES["accelerometer"], tmp_path)
    readme = (tmp_path / "toy" / "README.md").read_text()
    assert "not run on a board" in readme
    assert "not built with them" in report.facts["checked"]


@pytest.mark.parametrize("target", ["arduino", "esp-idf", "zephyr"])
def test_a_project_holds_the_state_itself(target: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="leave out `state=explicit`"):
        targets.get(target)(CASES["plain"][0], Options(state="explicit"), tmp_path)


def test_c_code_comes_with_a_sensor_on_request(tmp_path: Path) -> None:
    subject, _ = CASES["accelerometer"]
    report = targets.get("c")(subject, Options(sensor="accelerometer"), tmp_path)
    assert {path.name for path in report.files} >= {"toy.h", "toy.c", "scn_accelerometer.c", "scn_sensor.h"}
    with pytest.raises(ValueError, match="the sensor accelerometer measures"):
        targets.get("c")(CASES["two params"][0], Options(sensor="accelerometer"), tmp_path)
