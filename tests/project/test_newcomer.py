"""Without the tools and the data a newcomer gets green tests, and a line for each thing that was missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from needs import summary

TESTS = Path(__file__).parents[1]


def pytest_here(*arguments: str, **environment: str) -> str:
    """What a run of some tests prints on a machine without tools and data."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SCN_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
    done = subprocess.run(
        command, cwd=TESTS.parent, env={**kept, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_every_missing_thing_is_one_line(tmp_path: Path) -> None:
    few = [
        "device/test_emulator.py",
        "export/test_sensors.py",
        "runs/test_published.py",
        "project/test_docs.py",
    ]
    chosen = "instructions_are_counted or everywhere or published_accuracy"
    lines = pytest_here(
        *(f"tests/{name}" for name in few), "-k", chosen, PATH=str(tmp_path), XDG_CACHE_HOME=str(tmp_path)
    ).splitlines()
    said = [line for line in lines if line.startswith("skipped: ")]
    arm = "arm-none-eabi-gcc (apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi)"
    assert f"skipped: 5 tests need {arm}" in said
    assert any(line.startswith("skipped: 5 tests need SCN_DATA_DIR (") for line in said)
    assert len(said) == len({line.split(" need")[1].split(" (")[0] for line in said}), "each thing once"
    assert not [line for line in lines if line.startswith("SKIPPED")]


def test_a_line_counts_what_it_kept_from_running() -> None:
    reasons = ["Skipped: needs gcc (apt-get install gcc)"] * 2 + ["Skipped: needs ffmpeg (x)", "not today"]
    assert list(summary(reasons)) == [
        "skipped: 2 tests need gcc (apt-get install gcc)",
        "skipped: 1 test needs ffmpeg (x)",
        "skipped: 1: not today",
    ]


def test_marks_follow_from_what_a_test_uses() -> None:
    """So that `-m "not browser"` leaves out what opens one, by a fixture or by itself."""
    files = ("pages/test_pages.py", "device/test_device.py", "runs/test_published.py")
    unmarked = "not browser and not emulator and not data"
    rest = pytest_here(*(f"tests/{name}" for name in files), "--collect-only", "-qq", "-m", unmarked, "-vv")
    marked = {
        "test_the_dial_shows_what_torch_computes",  # by fixtures of a fixture
        "test_an_explorer_works_without_webgl",  # by a function
        "test_counts_are_the_same_every_time",  # by a function of a function
        "test_published_accuracy_of_one_configuration_on_all_angles",
    }
    unmarked_tests = {"test_arrays_are_packed_by_bytes", "test_every_array_finds_its_place"}
    assert not [name for name in marked if name in rest]
    assert all(name in rest for name in unmarked_tests)
