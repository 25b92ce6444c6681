"""An Arduino library: what its written specification asks for, and what Arduino's and PlatformIO's tools say.

The rules are those of the library specification 1.5 (rev. 2.2), with what Arduino's linter asks beyond it.
Arduino's builder compiles for a board that is this machine, with stubs as its core.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from needs import installed, tool
from packaged import CASES, SAID, STUBS, asked, exported
from scn.backbones import MLP
from scn.export import Options, Package, targets
from sensed import seeing, x_of

REQUIRED = (
    *("name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url"),
    "architectures",
)
OPTIONAL = ("depends", "dot_a_linkage", "includes", "precompiled", "ldflags")
CATEGORIES = (
    *("Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing"),
    *("Data Storage", "Data Processing", "Other"),
)
LIBRARY_NAME = re.compile(r"(?!arduino)(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9 _.-]{0,62}", re.IGNORECASE)
NUMBER = r"(0|[1-9]\d*)"
VERSION = re.compile(rf"{NUMBER}\.{NUMBER}\.{NUMBER}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
KEYWORDS = ("KEYWORD1", "KEYWORD2", "KEYWORD3", "LITERAL1", "LITERAL2")


def properties(library: Path) -> dict[str, str]:
    lines = (library / "library.properties").read_text("utf-8").splitlines()
    pairs = [line.split("=", 1) for line in lines]
    assert len({key for key, _ in pairs}) == len(pairs)
    return {pair[0]: pair[1] for pair in pairs}


@pytest.mark.parametrize("package", [Package(), SAID])
@pytest.mark.parametrize("case", CASES)
def test_the_manifest_of_a_library_has_what_arduino_asks_for(
    case: str, package: Package, tmp_path: Path
) -> None:
    library = exported("arduino", tmp_path, case, package=package)
    found = properties(library)
    assert set(REQUIRED) <= set(found) <= {*REQUIRED, *OPTIONAL}
    assert all(value.strip() == value != "" for value in found.values())
    assert LIBRARY_NAME.fullmatch(found["name"])
    assert VERSION.fullmatch(found["version"])
    assert found["category"] in CATEGORIES
    assert re.fullmatch(r"https?://\S+", found["url"])
    assert not found["maintainer"].lower().startswith("arduino")
    assert found["sentence"] not in found["paragraph"]
    assert re.fullmatch(r"[a-z0-9_]+(,[a-z0-9_]+)*", found["architectures"])
    assert found["dot_a_linkage"] in ("true", "false")
    assert {"version": package.version, "author": package.author}.items() <= found.items()
    for header in found["includes"].split(","):
        assert (library / "src" / header).is_file()


@pytest.mark.parametrize("case", CASES)
def test_a_library_has_the_layout_of_the_specification(case: str, tmp_path: Path) -> None:
    library = exported("arduino", tmp_path, case)
    files = {str(path.relative_to(library)) for path in library.rglob("*") if path.is_file()}
    own = {"library.properties", "keywords.txt", "LICENSE", "README.md"}
    assert {name for name in files if "/" not in name} == own
    rest = files - own
    assert {name.split("/")[0] for name in rest} == {"src", "examples"}
    assert {Path(name).suffix for name in rest if name.startswith("src/")} == {".c", ".h"}
    examples = [Path(name) for name in rest if name.startswith("examples/")]
    assert examples
    for example in examples:
        assert len(example.parts) == 3
        assert example.parent.name == example.stem
        assert example.suffix == ".ino"
    assert "src/toy.h" in files


def test_there_are_examples_for_three_boards_with_their_imus_and_for_a_camera(tmp_path: Path) -> None:
    library = exported("arduino", tmp_path)
    found = {path.stem: path.read_text() for path in library.glob("examples/*/*.ino")}
    imus = {
        "Nano33BLESense": "Arduino_LSM9DS1",
        "Nano33BLESenseRev2": "Arduino_BMI270_BMM150",
        "NanoRP2040Connect": "Arduino_LSM6DSOX",
    }
    assert set(found) == {*imus, "ESP32S3Camera"}
    for board, imu in imus.items():
        assert [other for other in imus.values() if f"#include <{other}.h>" in found[board]] == [imu]
    assert "esp_camera_fb_get()" in found["ESP32S3Camera"]


@pytest.mark.parametrize("case", ["two params", "fixed", "plain"])
def test_without_a_sensor_an_example_takes_everything_by_the_serial_port(case: str, tmp_path: Path) -> None:
    library = exported("arduino", tmp_path, case)
    assert {path.stem for path in library.glob("examples/*/*.ino")} == {"SerialPort", "ESP32S3Camera"}


@pytest.mark.parametrize("case", ["accelerometer", "plain"])
def test_keywords_are_words_of_the_header_and_their_kinds(case: str, tmp_path: Path) -> None:
    library = exported("arduino", tmp_path, case)
    declared = (library / "src" / "toy.h").read_text()
    for line in (library / "keywords.txt").read_text().splitlines():
        word, kind = line.split("\t")
        assert kind in KEYWORDS
        assert re.search(rf"\b{word}\b", declared)


def test_platformio_packs_the_library_by_the_same_manifest(tmp_path: Path) -> None:
    pio = installed("pio")
    library = exported("arduino", tmp_path, package=SAID)
    done = asked(pio, "pkg", "pack", "-o", tmp_path / "toy.tar.gz", library, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    with tarfile.open(tmp_path / "toy.tar.gz") as archive:
        names = set(archive.getnames())
    assert {"library.properties", "src/toy.c", "examples/ESP32S3Camera/ESP32S3Camera.ino"} <= names
    manifest = library / "library.properties"
    manifest.write_text(manifest.read_text().replace("version=2.1.0-rc.1", "version=two"))
    assert asked(pio, "pkg", "pack", library, folder=tmp_path).returncode != 0


# The compiler of this machine as a board: its core is the stubs, and what they declare does nothing.
PLATFORM = """\
name=Stub
version=1.0.0
recipe.c.o.pattern=gcc -std=gnu99 -Wall -Wextra -Werror -c {includes} "{source_file}" -o "{object_file}"
recipe.cpp.o.pattern=g++ -std=gnu++14 -Wall -Wextra -Werror -c {includes} "{source_file}" -o "{object_file}"
recipe.ar.pattern=ar rcs "{archive_file_path}" "{object_file}"
recipe.c.combine.pattern=g++ -o "{build.path}/{build.project_name}.elf" {object_files} \
"{archive_file_path}" -lm
recipe.objcopy.hex.pattern=cp "{build.path}/{build.project_name}.elf" "{build.path}/{build.project_name}.hex"
recipe.size.pattern=size -A "{build.path}/{build.project_name}.hex"
recipe.size.regex=^\\.text\\s+([0-9]+).*
recipe.preproc.macros=g++ -w -x c++ -E -CC {includes} "{source_file}" -o "{preprocessed_file_path}"
tools.ctags.pattern="arduino-ctags" -u --language-force=c++ -f - --c++-kinds=svpf --fields=KSTtzns \
--line-directives "{source_file}"
"""
BOARD = (
    "host.name=This machine\nhost.build.board=HOST\nhost.build.core=stub\nhost.upload.maximum_size=9999999\n"
)


def arduino_platform(folder: Path, architecture: str) -> Path:
    place = folder / "hardware" / "stub" / architecture
    core = place / "cores" / "stub"
    core.mkdir(parents=True)
    (place / "platform.txt").write_text(PLATFORM)
    (place / "boards.txt").write_text(BOARD)
    for header in STUBS.glob("*.h"):
        (core / header.name).write_text(header.read_text())
    shutil.copy(STUBS / "board.cpp", core)
    return folder / "hardware"


def built_by_arduino(
    library: Path, example: str, folder: Path, architecture: str = "esp32"
) -> tuple[str, Path]:
    """What Arduino's builder says about an example, and the program it made."""
    builder = tool("arduino-builder")
    tool("g++")
    (folder / "build").mkdir()
    sketch = library / "examples" / example / f"{example}.ino"
    libraries = ("-libraries", library.parent, "-built-in-libraries", library.parent)
    board = ("-hardware", arduino_platform(folder, architecture), "-fqbn", f"stub:{architecture}:host")
    places = ("-tools", folder, "-build-path", folder / "build")
    done = asked(builder, "-compile", "-verbose", *board, *libraries, *places, sketch, folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr, folder / "build" / f"{example}.ino.elf"


@pytest.mark.parametrize(
    "example", ["Nano33BLESense", "Nano33BLESenseRev2", "NanoRP2040Connect", "ESP32S3Camera"]
)
def test_arduinos_builder_finds_the_library_and_builds_its_examples(example: str, tmp_path: Path) -> None:
    tool("arduino-builder")
    library = exported("arduino", tmp_path / "libraries")
    said, program = built_by_arduino(library, example, tmp_path)
    assert f"Using library toy at version 1.0.0 in folder: {library}" in said
    assert "may be incompatible" not in said
    answers = subprocess.run([program], capture_output=True, text=True, check=True, timeout=20).stdout
    assert "self-test" not in answers
    assert ("configured for 0.00" in answers) == (example != "ESP32S3Camera")


def test_arduinos_builder_warns_on_a_board_that_is_too_small(tmp_path: Path) -> None:
    tool("arduino-builder")
    library = exported("arduino", tmp_path / "libraries")
    said, _ = built_by_arduino(library, "Nano33BLESense", tmp_path, architecture="avr")
    assert "may be incompatible with your current board" in said


def test_two_networks_with_one_kind_of_sensor_are_linked_to_one_sketch(tmp_path: Path) -> None:
    tool("arduino-builder")
    library = exported("arduino", tmp_path / "libraries")
    exported("arduino", tmp_path / "libraries", name="other")
    sketch = library / "examples" / "Nano33BLESense" / "Nano33BLESense.ino"
    sketch.write_text(f"{sketch.read_text()}\n#include <other.h>\nint both() {{ return other_poll(); }}\n")
    said, _ = built_by_arduino(library, "Nano33BLESense", tmp_path)
    assert "Using library other at version 1.0.0" in said


SEES = """
#include "ESP32S3Camera.ino"
#include <stdio.h>
int main() {
    begin_camera();
    if (!seeing) return 1;
    look();
    printf("x:");
    for (unsigned i = 0; i < sizeof x / sizeof x[0]; i++) printf("%.9g\\n", x[i]);
    return 0;
}
"""


def boxes(image: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The means of the boxes of an image (H, W, C) with the shape of the result (C, rows, columns)."""
    high, wide, _ = image.shape
    flat = wide * rows > high * columns
    used, tall = (high * columns // rows, high) if flat else (wide, wide * rows // columns)
    left, top = (wide - used) // 2, (high - tall) // 2
    x = [left + i * used // columns for i in range(columns + 1)]
    y = [top + i * tall // rows for i in range(rows + 1)]
    found = [
        [image[y[i] : y[i + 1], x[j] : x[j + 1]].mean((0, 1)) for j in range(columns)] for i in range(rows)
    ]
    return np.array(found).transpose(2, 0, 1)


def seen_by(library: Path, folder: Path) -> np.ndarray:
    """The input that the camera example makes of the frame of the stub."""
    gcc = tool("g++")
    (folder / "sees.cpp").write_text(SEES)
    for source in (library / "src").glob("*.c"):
        subprocess.run(["gcc", "-c", source, "-o", source.with_suffix(".o")], check=True)
    places = [
        f"-I{STUBS}",
        f"-I{library / 'src'}",
        f"-I{library / 'examples' / 'ESP32S3Camera'}",
        "-DNO_MAIN",
    ]
    sources = [folder / "sees.cpp", STUBS / "board.cpp", *(library / "src").glob("*.o")]
    subprocess.run([gcc, *places, *sources, "-lm", "-o", folder / "sees"], check=True)
    said = subprocess.run([folder / "sees"], capture_output=True, text=True, check=True).stdout
    return np.array([float(line) for line in said.split("x:")[1].split()], np.float32)


def frame() -> np.ndarray:
    """The frame of the stub: its grey values."""
    y, x = np.mgrid[0:120, 0:160]
    return (3 * x + 5 * y + x * y // 16) % 256


@pytest.mark.parametrize("case", ["plain", "several channels, no sensor", "wide"])
def test_the_camera_example_sees_the_means_of_the_frame(case: str, tmp_path: Path) -> None:
    x = seen_by(exported("arduino", tmp_path, case), tmp_path)
    subject, grey = CASES[case][0], frame()
    channels, rows, columns = subject.shape
    pixel = grey << 8 | (255 - grey)
    colour = np.stack(
        [(pixel >> 11) * 255 // 31, (pixel >> 5 & 63) * 255 // 63, (pixel & 31) * 255 // 31], -1
    )
    seen = boxes(grey[..., None] if channels == 1 else colour, rows, columns) / 255
    mean = np.array(subject.normalisation.mean)[:, None, None]
    np.testing.assert_allclose(x.reshape(subject.shape), (seen - mean) / mean, atol=1e-5)


@pytest.mark.parametrize(("form", "channels"), [("grey", 1), ("rgb565", 3), ("rgb565", 1)])
def test_the_camera_example_sees_what_python_sees_where_the_network_takes_frames(
    form: str, channels: int, tmp_path: Path
) -> None:
    what = replace(seeing(MLP((channels, 9, 9), 3, 4), (channels, 9, 9)), name="toy")
    said = f"camera:160x120:{form}"
    targets.get("arduino")(what, Options(input=said), tmp_path)
    grey = frame().astype(np.uint8)
    sent = grey if form == "grey" else np.stack([grey, 255 - grey], -1)
    expected = x_of(what, said, np.ascontiguousarray(sent).reshape(-1))
    np.testing.assert_array_equal(seen_by(tmp_path / "toy", tmp_path), expected.numpy().reshape(-1))


@pytest.mark.parametrize(
    "said", ["camera:160x120:yuyv", "camera:100x100:grey", "camera:160x120:grey,stride=192"]
)
def test_frames_that_the_driver_does_not_give_have_no_camera_example(said: str, tmp_path: Path) -> None:
    what = replace(seeing(MLP((1, 9, 9), 3, 4), (1, 9, 9)), name="toy")
    targets.get("arduino")(what, Options(input=said), tmp_path)
    assert [path.stem for path in tmp_path.glob("toy/examples/*/*.ino")] == ["SerialPort"]
