"""Data: the embedded digits, Fashion-MNIST in both official forms, and files that are wrong."""

from __future__ import annotations

import gzip
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from needs import real_file
from scn import data
from scn.core.errors import Failed, ScnError
from scn.data import dataset
from scn.data.fashion_mnist import CLASSES, FILES


def idx(array: np.ndarray) -> bytes:
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


@pytest.fixture
def small(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {
        "x_train": rng.integers(0, 256, (20, 28, 28), dtype=np.uint8),
        "y_train": rng.integers(0, 10, 20, dtype=np.uint8),
        "x_test": rng.integers(0, 256, (10, 28, 28), dtype=np.uint8),
        "y_test": rng.integers(0, 10, 10, dtype=np.uint8),
    }


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_the_embedded_digits_need_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCN_DATA_DIR", str(tmp_path))
    digits = data.load("digits")
    assert digits.counts == {"train": 1347, "test": 450}
    assert digits.classes == [str(i) for i in range(10)]
    images, labels = digits.split("test")
    assert images.shape == (450, 1, 32, 32)
    assert images.dtype == torch.uint8
    assert int(images.max()) == 255
    assert labels.dtype == torch.int64
    assert torch.bincount(labels).min() >= 43
    assert digits.checksum == data.load("digits").checksum


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("subfolder", ["", "fashion-mnist"])
def test_fashion_mnist_from_its_official_files(
    small: dict[str, np.ndarray],
    packed: bool,
    subfolder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SCN_DATA_DIR", str(tmp_path))
    folder = tmp_path / subfolder
    folder.mkdir(exist_ok=True)
    for key, name in FILES.items():
        content = idx(small[key])
        path = folder / (f"{name}.gz" if packed else name)
        path.write_bytes(gzip.compress(content) if packed else content)
    dataset = data.load("fashion-mnist")
    assert dataset.classes == list(CLASSES)
    assert dataset.counts == {"train": 20, "test": 10}
    assert all((dataset.arrays[key] == small[key]).all() for key in small)


def test_colour_images_become_channels_first(rng: np.random.Generator, tmp_path: Path) -> None:
    x = rng.integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
    y = np.arange(4)
    np.savez(tmp_path / "mine.npz", x_train=x, y_train=y, x_test=x, y_test=y)
    images, _ = data.load(str(tmp_path / "mine.npz")).split("train")
    assert (images.numpy() == x.transpose(0, 3, 1, 2)).all()


def test_fashion_mnist_is_the_same_from_the_npz_file() -> None:
    path = real_file("SCN_DATA_DIR", "fashion-mnist.npz")
    dataset = data.load("fashion-mnist")
    assert dataset.counts == {"train": 60000, "test": 10000}
    assert dataset.classes == list(CLASSES)
    assert dataset.checksum == data.load(str(path)).checksum


def test_a_missing_data_set_says_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCN_DATA_DIR", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=f"fashion-mnist is not in {tmp_path}.*SCN_DATA_DIR"):
        data.load("fashion-mnist")
    with pytest.raises(FileNotFoundError, match=r"there is no data file .*none\.npz"):
        data.load(str(tmp_path / "none.npz"))
    with pytest.raises(ValueError, match='Did you mean "digits"'):
        data.load("digit")


def test_an_incomplete_set_names_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCN_DATA_DIR", str(tmp_path))
    (tmp_path / FILES["x_train"]).write_bytes(idx(np.zeros((1, 28, 28), np.uint8)))
    with pytest.raises(FileNotFoundError, match="lacks train-labels-idx1-ubyte, t10k-images"):
        data.load("fashion-mnist")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not an idx file"),
        (b"\x00\x00\x0d\x01\x00\x00\x00\x01\x00", "is not an idx file of unsigned bytes"),
        (idx(np.zeros((2, 3, 3), np.uint8))[:-1], "should hold 2 x 3 x 3 bytes, but holds 17"),
        (idx(np.zeros((2, 3, 3), np.uint8)) + b"\x00", "but holds 19"),
        (b"\x00\x00\x08\x03\x00", "should hold"),
    ],
)
def test_damaged_idx_files(
    content: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCN_DATA_DIR", str(tmp_path))
    for name in FILES.values():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        data.load("fashion-mnist")


def test_a_cut_gzip_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCN_DATA_DIR", str(tmp_path))
    for name in FILES.values():
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(idx(np.zeros((9, 9, 9), np.uint8)))[:-9])
    with pytest.raises(ValueError, match="is not a whole gzip file"):
        data.load("fashion-mnist")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x_train": None}, "lacks x_train"),
        ({"x_train": np.zeros((20, 28, 28))}, "x_train must be uint8 images"),
        ({"x_train": np.zeros((20, 28), np.uint8)}, "x_train must be uint8 images"),
        ({"y_train": np.zeros(19, np.uint8)}, "y_train must be one whole number for each of 20"),
        ({"y_train": np.zeros(20)}, "y_train must be one whole number"),
        ({"y_train": np.array(["shoe"] * 20)}, "y_train must be one whole number"),
        ({"y_val": np.zeros(5, np.uint8)}, "lacks x_val"),
        ({"classes": np.array("shoe")}, "`classes` is a list of names"),
        ({"x_test": np.zeros((10, 3, 28, 28), np.uint8)}, "up to 4 channels"),
        (
            {"y_test": np.full(10, 200), "classes": np.array(["a"] * 10)},
            "labels 0 to 200, but names 10 classes",
        ),
        ({"y_test": np.full(10, -1)}, "labels -1 to "),
    ],
)
def test_files_of_the_wrong_form(
    small: dict[str, np.ndarray],
    change: dict[str, np.ndarray | None],
    message: str,
    tmp_path: Path,
) -> None:
    arrays = {key: value for key, value in {**small, **change}.items() if value is not None}
    np.savez(tmp_path / "mine.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        data.load(str(tmp_path / "mine.npz"))


@pytest.mark.parametrize("content", [b"", b"nothing", b"PK\x03\x04 broken"])
def test_a_file_that_is_no_npz(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "mine.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"mine\.npz is not a readable \.npz file"):
        data.load(str(tmp_path / "mine.npz"))


def test_an_npz_with_a_pickle_inside_is_not_executed(tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", x_train=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="is not a readable"):
        data.load(str(tmp_path / "mine.npz"))


def test_an_array_that_is_no_npz(tmp_path: Path) -> None:
    np.save(tmp_path / "mine.npy", np.zeros(3))
    (tmp_path / "mine.npy").rename(tmp_path / "mine.npz")
    with pytest.raises(ValueError, match="is not a readable"):
        data.load(tmp_path / "mine.npz")


def test_one_channel_at_the_end_is_a_channel(small: dict[str, np.ndarray], tmp_path: Path) -> None:
    np.savez(tmp_path / "plain.npz", **small)  # type: ignore[arg-type]
    with_channel = {k: v[..., None] if k.startswith("x") else v for k, v in small.items()}
    np.savez(tmp_path / "channel.npz", **with_channel)  # type: ignore[arg-type]
    plain, _ = data.load(tmp_path / "plain.npz").split("test")
    channel, _ = data.load(tmp_path / "channel.npz").split("test")
    assert torch.equal(plain, channel)


def test_changing_what_was_loaded_does_not_change_the_data_set(tmp_path: Path) -> None:
    x, y = np.zeros((4, 32, 32), np.uint8), np.zeros(4, np.uint8)
    np.savez(tmp_path / "mine.npz", x_train=x, y_train=y, x_test=x, y_test=y)
    dataset = data.load(tmp_path / "mine.npz")
    dataset.split("test")[0].fill_(9)
    assert int(dataset.split("test")[0].max()) == 0


@pytest.mark.parametrize("threads", [1, 2])
def test_the_measured_normalisation_is_exact_on_any_number_of_threads(threads: int) -> None:
    images = torch.randint(
        0, 256, (500, 3, 32, 32), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
    )
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        found = data.measured_normalisation(images)
    finally:
        torch.set_num_threads(before)
    values = images.numpy().astype(np.int64).transpose(1, 0, 2, 3).reshape(3, -1)
    assert found.mean == tuple(int(v.sum()) / v.size / 255 for v in values)
    normalised = found(data.to_float(images)).double()
    torch.testing.assert_close(normalised.mean((0, 2, 3)), torch.zeros(3).double(), atol=1e-5, rtol=0)
    torch.testing.assert_close(normalised.std((0, 2, 3)), torch.ones(3).double(), atol=1e-5, rtol=0)


def test_the_last_file_stays_in_memory_until_it_changes(tmp_path: Path, small: dict[str, np.ndarray]) -> None:
    path = tmp_path / "mine.npz"
    np.savez(path, **small)  # type: ignore[arg-type]
    first = data.load(path)
    assert data.load(path) is first
    np.savez(path, **{**small, "x_train": small["x_train"][:10], "y_train": small["y_train"][:10]})  # type: ignore[arg-type]
    assert data.load(path).counts["train"] == 10


def test_an_unknown_split() -> None:
    with pytest.raises(ValueError, match=r'digits has no split "val"\. It has: train, test'):
        data.load("digits").split("val")


@pytest.mark.parametrize("shape", [(5, 28, 28), (4, 48, 48, 3), (3, 32, 32), (3, 20, 45, 3)])
def test_images_are_resized_as_pillow_does(shape: tuple[int, ...]) -> None:
    images = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    labels = np.zeros(len(images), np.uint8)
    arrays = {"x_train": images, "y_train": labels, "x_test": images, "y_test": labels}
    found, _ = dataset._checked("mine", arrays).split("train")
    one_by_one = [Image.fromarray(i).resize((32, 32), Image.Resampling.BILINEAR) for i in images]
    expected = np.stack([np.asarray(i).reshape(32, 32, -1).transpose(2, 0, 1) for i in one_by_one])
    difference = np.abs(found.numpy().astype(int) - expected)
    assert difference.max() <= (shape[1] != shape[2])


@pytest.mark.parametrize("named", [9, 10])
def test_every_label_has_a_name(named: int, small: dict[str, np.ndarray], tmp_path: Path) -> None:
    """Labels count from 0: the highest of ten is 9."""
    small["y_train"][0] = 9
    np.savez(tmp_path / "mine.npz", **small, classes=np.array(list("abcdefghij")[:named]))  # type: ignore[arg-type]
    if named == 10:
        assert data.load(str(tmp_path / "mine.npz")).classes[9] == "j"
        return
    with pytest.raises(ValueError, match="labels 0 to 9, but names 9 classes"):
        data.load(str(tmp_path / "mine.npz"))


def test_the_deviation_is_that_of_a_sample() -> None:
    """As torch has it, with one less than the number of values: it matters where there are few."""
    samples = torch.tensor([[[[10]]], [[[20]]], [[[60]]]], dtype=torch.uint8)
    found = data.measured_normalisation(samples)
    assert found.mean == pytest.approx((30 / 255,))
    assert found.deviation == pytest.approx((data.to_float(samples).std().item(),))


def test_a_data_set_that_is_given_needs_no_file(small_data: str, tmp_path: Path) -> None:
    path = tmp_path / "moved.npz"
    path.write_bytes(Path(small_data).read_bytes())
    parcel = data.parcel(str(path))
    path.unlink()
    with data.given({str(path): parcel}):
        assert data.load(str(path)).checksum == data.load(small_data).checksum
        assert data.load(path).name == "moved"
    with pytest.raises(ScnError, match="there is no data file"):
        data.load(str(path))


def test_a_data_set_that_did_not_arrive_as_it_was_sent_is_refused(small_data: str) -> None:
    parcel = data.parcel(small_data)
    damaged = {**parcel.dataset.arrays, "y_train": parcel.dataset.arrays["y_train"][::-1]}
    other = replace(parcel, dataset=replace(parcel.dataset, arrays=damaged))
    with (
        data.given({small_data: other}),
        pytest.raises(Failed, match="the data small did not arrive as they were"),
    ):
        data.load(small_data)
