"""Shared fixtures, marks that follow from what a test uses, and one line for each thing that was missing.

Real data are found by SCN_DATA_DIR; without them their tests are skipped.
"""

from __future__ import annotations

import gc
import inspect
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import settings

from commands import in_this_process
from needs import chromium, real_file, summary
from scn import SCN, data, runs
from scn.backbones import MLP
from scn.experiment.plan import plan_run
from scn.explorer import grid
from scn.training.recipe import Recipe

__all__ = ["real_file"]

torch.set_num_threads(1)
# A first call may import, and machines are shared: no deadline. Where a result decides (CI), the examples of
# properties are the same every time; elsewhere they are new ones.
settings.register_profile("scn", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("scn")

DRAWING = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
CAMERA = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
FLAGS = ["--no-sandbox", *DRAWING, *CAMERA]

# A test, or a fixture or function of the tests that it uses, marks it by calling one of these.
MARKING = {"real_file": "data", "real_data": "data", "emulated": "emulator", "chromium": "browser"}

# Whole files go to a worker, so that each trains, compiles and opens a browser once: the longest first.
LONGEST_FIRST = (
    "reproduce/test_entries.py",
    "training/test_step.py",
    "pages/test_pages.py",
    "project/test_docs.py",
    "training/test_train.py",
    "experiment/test_compare.py",
    "search/test_search.py",
    "training/test_structure.py",
    "core/test_compile.py",
    "device/test_device.py",
    "experiment/test_tasks.py",
    "cli/test_regression.py",
    "runs/test_published.py",
    "project/test_examples.py",
    "experiment/test_engines.py",
    "transforms/test_own_parts.py",
    "data/test_forms.py",
)
TESTS = Path(__file__).parent


def _of_tests(function: Callable[..., Any]) -> bool:
    return Path(inspect.unwrap(function).__code__.co_filename).is_relative_to(TESTS)


def _names(code: CodeType) -> Iterator[str]:
    """What a function calls, and the functions within it."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _used(function: Callable[..., Any], seen: set[str]) -> None:
    """The names that a function uses, also by way of other functions of the tests."""
    function = inspect.unwrap(function)
    for name in _names(function.__code__):
        if name not in seen:
            seen.add(name)
            inner = function.__globals__.get(name)
            if inspect.isfunction(inner) and _of_tests(inner):
                _used(inner, seen)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark by what is used, and begin with the longest files."""
    for item in items:
        assert isinstance(item, pytest.Function)
        fixtures = [found[-1].func for found in item._fixtureinfo.name2fixturedefs.values()]
        used: set[str] = set()
        for function in (item.function, *fixtures):
            if _of_tests(function):
                _used(function, used)
        for name, mark in MARKING.items():
            if name in used:
                item.add_marker(mark)
    places = {name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path.relative_to(TESTS).as_posix(), len(places)))


def pytest_collection_finish() -> None:
    """What is imported stays: it need not be looked through for garbage again and again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What was skipped and why, in one line for each reason."""
    reports = terminalreporter.stats.get("skipped", [])
    for line in summary(report.longrepr[2] for report in reports):
        terminalreporter.write_line(line)


@pytest.fixture
def small_run(tmp_path: Path) -> Path:
    """On a data set of 40 test samples."""
    arrays = data.load("digits").arrays
    np.savez(
        tmp_path / "small.npz",
        allow_pickle=False,
        **{f"{kind}_{split}": arrays[f"{kind}_{split}"][:40] for kind in "xy" for split in ("train", "test")},
    )
    config = plan_run(
        str(tmp_path / "small.npz"),
        "rotation",
        "mlp",
        "scn",
        Recipe(batch_size=8),
        dims=2,
        sizes={"width": 4},
    )
    made = runs.create(tmp_path / "run", config)
    torch.manual_seed(0)
    made.save_network(SCN(MLP((1, 32, 32), 10, 4), alpha_dim=2, dims=2, seed=0))
    return made.folder


@pytest.fixture(scope="session", autouse=True)
def _compiled_anew(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What an earlier session compiled must not hide what this one cannot. The workers of one share it."""
    base = tmp_path_factory.getbasetemp()
    session = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCHINDUCTOR_CACHE_DIR", str(session / "compiled"))
        yield


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.fixture
def coarse_explorers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Explorers with few settings, where how fine they are does not matter."""
    monkeypatch.setattr(grid, "INTERVALS", (36, 8, 4))


@pytest.fixture
def without_processes() -> Iterator[None]:
    """Comparisons of the whole test run here."""
    with in_this_process():
        yield


@pytest.fixture(scope="session")
def small_data(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A part of the digits as a data file of the user's own."""
    arrays = data.load("digits").arrays
    path = tmp_path_factory.mktemp("data") / "small.npz"
    np.savez(
        path,
        x_train=arrays["x_train"][:400],
        y_train=arrays["y_train"][:400],
        x_test=arrays["x_test"][:100],
        y_test=arrays["y_test"][:100],
    )
    return str(path)


@pytest.fixture(scope="session")
def few_samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a part of every real data set that is here: each n-th sample, in the same form."""
    folder = tmp_path_factory.mktemp("few")
    for path in Path(os.environ.get("SCN_DATA_DIR", "nowhere")).glob("*.npz"):
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        for split, count in (("train", 1200), ("val", 100), ("test", 150)):
            of_split = [name for name in arrays if split in name.split("_")]
            total = len(arrays.get(f"y_{split}", []))
            for name in of_split:
                arrays[name] = arrays[name][:: max(1, total // count)]
        np.savez(folder / path.name, **arrays)
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One for all pages."""
    program = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=program, args=FLAGS)
        yield opened
        opened.close()
