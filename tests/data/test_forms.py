"""Samples that are no images: waveforms, points, solids and the readings of a sensor."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from commands import run
from needs import real_file
from scn import data, transforms
from scn.data import forms, gtsrb
from scn.data.dataset import Arrays, _checked


def arrays(x: np.ndarray, **more: object) -> Arrays:
    labels = np.arange(len(x), dtype=np.uint8) % 3
    both = {"x_train": x, "y_train": labels, "x_test": x, "y_test": labels}
    return {**both, **{name: np.array(value) for name, value in more.items()}}


def test_waveforms_have_one_channel() -> None:
    x = np.random.default_rng(0).integers(-32768, 32767, (6, 800)).astype(np.int16)
    samples, _ = _checked("mine", arrays(x, sample_rate=8000)).split("train")
    assert samples.dtype == torch.int16
    assert samples.shape == (6, 1, 800)
    assert data.to_float(samples).abs().max() <= 1.001
    normalised = data.dataset.measured_normalisation(samples)(data.to_float(samples))
    torch.testing.assert_close(normalised.mean(), torch.tensor(0.0), atol=1e-4, rtol=0)
    torch.testing.assert_close(normalised.std(), torch.tensor(1.0), atol=1e-3, rtol=0)


def test_solids_become_points_on_their_surface() -> None:
    grid = np.zeros((4, 9, 9, 9), bool)
    grid[0, 2:7, 2:7, 2:7] = True  # a cube
    grid[1, 4, :, 4] = True  # a stick
    grid[3, 1, 1, 1] = True
    bits = np.packbits(grid.reshape(4, -1), axis=1)
    found = _checked("mine", arrays(bits, shape=[9, 9, 9]))
    points, labels = found.split("train")
    assert points.shape == (3, forms.POINTS, 3)
    assert labels.tolist() == [0, 1, 0]  # the third was empty
    assert found.counts["train"] == 3
    radius = data.to_float(points).norm(dim=-1)
    torch.testing.assert_close(radius.amax(dim=1), torch.ones(3), atol=1e-3, rtol=0)
    cube = data.to_float(points[0]).abs().amax(dim=1)
    assert cube.min() > 0.5 / math.sqrt(3)  # nothing from the inside
    stick = data.to_float(points[1]).std(dim=0)
    assert stick[1] > 5 * stick[0]
    again, _ = _checked("mine", arrays(bits, shape=[9, 9, 9])).split("train")
    assert torch.equal(points, again)


@pytest.mark.parametrize(
    "x", [np.zeros((4, 5), np.float32), np.zeros((4, 5, 6, 7), np.int16), np.zeros(4, np.uint8)]
)
def test_other_forms_are_refused(x: np.ndarray) -> None:
    with pytest.raises(ValueError, match="must be uint8 images"):
        _checked("mine", arrays(x))


def test_a_transform_for_another_form_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    x = np.zeros((300, 80), np.int16)
    np.savez(tmp_path / "waves.npz", **arrays(x, sample_rate=8000))  # type: ignore[arg-type]
    folder = tmp_path / "run"
    result = run("train", "--data", str(tmp_path / "waves.npz"), "--transform", "rotation", "-o", str(folder))
    assert result.code == 2
    assert "images must be" in result.err
    assert not folder.exists()


def test_solids_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="mine: solids of shape"):
        _checked("mine", arrays(np.zeros((4, 5), np.uint8), shape=[9, 9, 9]))


def sensor_data(path: Path, count: int = 600) -> str:
    """One class looks like the other in other light: only the sensor tells them apart."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, count).astype(np.uint8)
    light = np.exp(rng.uniform(math.log(10), math.log(700), count))
    dark = light < 80
    signal = np.where(dark, labels, 1.0 - labels)
    x = np.stack([8000 * signal + rng.normal(0, 500, count), rng.normal(0, 500, count)], axis=1).astype(
        np.int16
    )
    content: Arrays = {}
    for split, part in (("train", slice(0, 400)), ("test", slice(400, None))):
        content |= {f"x_{split}": x[part], f"y_{split}": labels[part], f"params_{split}": light[part, None]}
    np.savez(path, **content)  # type: ignore[arg-type]
    return str(path)


def test_a_measured_parameter_comes_from_the_data_and_helps(tmp_path: Path) -> None:
    data_file = sensor_data(tmp_path / "mine.npz")
    found = {}
    for method in ("scn", "one4all"):
        folder = tmp_path / method
        sizes = [
            "--epochs",
            "150",
            "--batch-size",
            "50",
            "--width",
            "8",
            "--dims",
            "2",
            "--set",
            "alphas_per_batch=1",
        ]
        task = ("--data", data_file, "--transform", "light", "--method", method)
        result = run("train", *task, *sizes, "-o", str(folder), "--quiet")
        assert result.code == 0, result.err
        assert run("evaluate", str(folder), "--quiet").code == 0
        found[method] = json.loads((folder / "evaluation.json").read_text())["mean"]
    assert found["scn"] > found["one4all"] + 0.2


def test_what_needs_a_choice_of_the_parameter_is_refused(tmp_path: Path) -> None:
    data_file = sensor_data(tmp_path / "mine.npz")
    for method, more in (("one4one", ["--fixed", "50"]), ("inverse", [])):
        result = run(
            "train", "--data", data_file, "--transform", "light", "--method", method, *more, "-o", "x"
        )
        assert result.code == 2
        assert f"the method {method} does not work for light" in result.err
    plain = tmp_path / "plain.npz"
    np.savez(plain, **arrays(np.zeros((60, 2), np.int16)))  # type: ignore[arg-type]
    assert "has no measurements" in run("train", "--data", str(plain), "--transform", "light", "-o", "x").err


def test_light_is_encoded_on_a_logarithmic_scale() -> None:
    light = transforms.get("light")
    alpha = light.encode(torch.tensor([[10.0], [87.178], [760.0]])).flatten()
    torch.testing.assert_close(alpha, torch.tensor([0.0, 0.5, 1.0]), atol=1e-4, rtol=0)


def test_grey_signs_are_divided_by_track(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCN_DATA_DIR", str(real_file("SCN_DATA_DIR", "gtsrb.npz").parent))
    signs, colour = data.load("gtsrb-grey"), data.load("gtsrb")
    assert signs.counts == {"train": 7013, "val": 828, "test": 3000}
    tracks = list(zip(colour.arrays["y_train"], colour.arrays["train_track"], strict=True))
    held_back = {track for track in tracks if track[1] % 10 == 3}
    assert sum(track in held_back for track in tracks) == 828  # whole tracks, and nothing else
    assert set(signs.arrays["y_val"]) == set(range(43))


def test_grey_signs_have_even_contrast_in_the_middle() -> None:
    rng = np.random.default_rng(0)
    dim = rng.integers(90, 110, (1, 32, 32, 3), dtype=np.uint8)
    bright = dim * 2
    bright[:, :6] = 255  # a white sky above
    images = gtsrb.even_contrast(np.concatenate([dim, bright]))
    middle = images[:, 6:-6, 6:-6].astype(float)
    assert np.abs(middle.mean(axis=(1, 2)) - 127.5).max() < 1
    assert np.abs(middle.std(axis=(1, 2)) - 51).max() < 3  # as far as values do not leave the range
    assert gtsrb.even_contrast(np.full((1, 32, 32, 3), 7, np.uint8)).std() == 0


def test_the_fruit_are_divided_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCN_DATA_DIR", str(real_file("SCN_DATA_DIR", "fruit.npz").parent))
    fruit = data.load("fruit")
    assert fruit.counts == {"train": 3565, "val": 620, "test": 930}
    assert fruit.measured("test").shape == (930, 1)
