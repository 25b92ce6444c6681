"""Readings of a sensor: their spread, their ranges and their labels, where they are not as expected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from commands import run
from scn import data, transforms
from scn.core.errors import ScnError
from scn.data.dataset import Arrays, _checked
from scn.experiment.plan import plan_run
from scn.training.recipe import Recipe


def readings(light: tuple[float, float] = (10, 760), count: int = 300, **more: Any) -> Arrays:
    rng = np.random.default_rng(0)
    found: Arrays = {}
    for split in ("train", "test"):
        found[f"x_{split}"] = rng.integers(0, 1000, (count, 3)).astype(np.int16)
        found[f"y_{split}"] = (found[f"x_{split}"][:, 0] > 500).astype(np.uint8)
        found[f"params_{split}"] = rng.uniform(*light, (count, 1)).astype(np.float32)
    return {**found, **more}


def written(folder: Path, arrays: Arrays) -> str:
    np.savez(folder / "mine.npz", **arrays)  # type: ignore[arg-type]
    return str(folder / "mine.npz")


@pytest.mark.parametrize("factor", [1, 100])
def test_readings_are_normalised_however_small_their_spread(factor: int) -> None:
    few = torch.from_numpy(np.random.default_rng(0).normal(100, 9, (500, 3)).round()).to(torch.int16)
    samples = few * factor
    normalised = data.measured_normalisation(samples)(data.to_float(samples))
    torch.testing.assert_close(normalised.mean(0), torch.zeros(3), atol=1e-4, rtol=0)
    torch.testing.assert_close(normalised.std(0), torch.ones(3), atol=1e-3, rtol=0)


def test_a_constant_reading_stays_finite() -> None:
    samples = torch.full((20, 2), 7, dtype=torch.int16)
    assert data.measured_normalisation(samples).deviation == (1.0, 1.0)
    assert data.measured_normalisation(samples[:1])(data.to_float(samples)).abs().max() < 1e-6


def test_other_measurements_are_other_data() -> None:
    dim, bright = (_checked("mine", readings(light)) for light in ((10, 100), (300, 760)))
    assert (dim.arrays["x_train"] == bright.arrays["x_train"]).all()
    assert dim.checksum != bright.checksum


def test_what_lies_outside_a_range_is_counted() -> None:
    light = transforms.get("light")
    (found,) = light.outside(torch.tensor([[9.0], [10.0], [760.0], [1000.0], [5000.0]]))
    assert (found.count, found.total, found.lowest, found.highest) == (3, 5, 9, 5000)
    assert str(found) == "3 of 5 values (9 to 5000) lie outside the range, light from 10 to 760 counts"
    assert light.outside(torch.tensor([[10.0], [760.0]])) == []
    assert light.clamped(torch.tensor([[9.0], [5000.0]])).tolist() == [[10], [760]]


def test_ends_of_a_range_that_single_precision_rounds_are_inside() -> None:
    narrow = transforms.Light(1.1, 3.3)
    assert narrow.outside(torch.tensor(np.array([[1.1], [3.3]], np.float32))) == []


def test_a_circle_has_no_outside() -> None:
    assert transforms.get("rotation").outside(torch.tensor([[-30.0], [720.0]])) == []


def test_light_outside_its_range_is_refused_in_training(tmp_path: Path) -> None:
    lux = written(tmp_path, readings((1000, 5000)))
    result = run("train", "--data", lux, "--transform", "light", "-o", str(tmp_path / "run"))
    assert result.code == 2
    assert "mine: params_train: 300 of 300 values (1024.71 to 4998.01)" in result.err
    assert "lie outside the range, light from 10 to 760 counts" in result.err
    assert "or set --clamp" in result.err
    assert not (tmp_path / "run").exists()


def test_clamping_is_asked_for_and_what_is_outside_is_said(tmp_path: Path) -> None:
    arrays = readings()
    for split in ("train", "test"):
        arrays[f"params_{split}"][:7] = 2000
    file, folder = written(tmp_path, arrays), str(tmp_path / "run")
    small = ("--batch-size", "64", "--epochs", "1", "--width", "4", "--dims", "2", "--quiet")
    made = run("train", "--data", file, "--transform", "light", *small, "--clamp", "-o", folder)
    assert made.code == 0, made.err
    shown = run("evaluate", folder, "--json", "--quiet")
    assert "7 of 300 values (2000) lie outside the range, light from 10 to 760 counts" in shown.err
    (found,) = json.loads(shown.out)["outside"]
    assert (found["parameter"], found["count"], found["highest"]) == ("light", 7, 2000)
    assert run("report", folder, "-o", str(tmp_path / "report.html")).code == 0
    assert "7 of 300 values (2000) lie outside the range" in (tmp_path / "report.html").read_text()


def test_a_range_of_ones_own(tmp_path: Path) -> None:
    office = transforms.Light(1000, 5000, "lux")
    assert office.encode(torch.tensor([[1000.0], [5000.0]])).tolist() == [[0], [1]]
    assert office.regular().flatten().tolist() == pytest.approx(np.linspace(1000, 5000, 11))
    with pytest.raises(ScnError, match="must go from low to high, but is 5 to 5"):
        transforms.Light(5, 5)
    with pytest.raises(ScnError, match="low must be at least 1, not 0"):
        transforms.Light(0, 5)


@pytest.mark.parametrize("periodic", [False, True])
def test_a_measured_condition_is_encoded_over_its_range(periodic: bool) -> None:
    class Hour(transforms.Measured):
        name = "hour"

    clock = Hour(0, 24, "h", periodic=periodic)
    alpha = clock.encode(torch.tensor([[0.0], [6.0], [24.0]]))
    expected = [[1, 0], [0, 1], [1, 0]] if periodic else [[-1], [-0.5], [1]]
    torch.testing.assert_close(alpha, torch.tensor(expected).to(alpha), atol=1e-6, rtol=0)
    assert alpha.shape[1] == clock.alpha_dim


def of_labels(train: list[int], test: list[int], **more: Any) -> Arrays:
    x = np.zeros((1, 3), np.int16)
    both = {"train": train, "test": test}
    found: Arrays = {f"y_{split}": np.array(y) for split, y in both.items()}
    return {**found, **{f"x_{split}": x.repeat(len(y), 0) for split, y in both.items()}, **more}


def test_gaps_between_labels_are_refused() -> None:
    with pytest.raises(
        ScnError, match=r"mine: the labels go up to 40, but only 5 occur .there is no 1, 2, 3"
    ):
        _checked("mine", of_labels([0, 10, 20, 30, 40], [0, 40]))
    with pytest.raises(ScnError, match=r"go up to 4000000000, but only 2 occur: number the classes from 0"):
        _checked("mine", of_labels([0, 4_000_000_000], [0]))


def test_named_classes_may_be_absent() -> None:
    found = _checked("mine", of_labels([0, 2, 2], [0], classes=np.array(["a", "b", "c", "d"])))
    assert found.classes == ["a", "b", "c", "d"]
    found.refuse_unlearnable()


@pytest.mark.parametrize("split", ["val", "test"])
def test_a_class_that_only_other_samples_have_is_refused_in_training(split: str, tmp_path: Path) -> None:
    arrays = readings(classes=np.array(["apple", "pear", "plum"]))
    arrays |= {f"{key}_val": arrays[f"{key}_test"].copy() for key in ("x", "y", "params")}
    arrays[f"y_{split}"][:5] = 2
    file = written(tmp_path, arrays)
    with pytest.raises(
        ScnError, match=rf'mine: y_{split} has 1 class\(es\) that no training sample .* 2 \("plum"\)'
    ):
        plan_run(file, "light", "mlp", "one4all", Recipe(batch_size=64))


def test_one_class_is_nothing_to_learn(tmp_path: Path) -> None:
    arrays = readings()
    arrays |= {"y_train": np.zeros(300, int), "y_test": np.zeros(300, int)}
    with pytest.raises(ScnError, match=r"belong to one class \(0\): there is nothing to tell apart"):
        plan_run(written(tmp_path, arrays), "light", "mlp", "one4all", Recipe(batch_size=64))
