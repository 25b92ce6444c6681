"""Readers of the official forms, on tiny files of the true form, right and wrong."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import official_files as official
from needs import real_file
from scn.core.errors import ScnError
from scn.data import cifar10, fashion_mnist, fruit, gtsrb, modelnet10, svhn
from scn.data.dataset import Arrays, registry
from scn.data.sources import Request, Source, sources


def read(name: str, *places: Path, classes: tuple[str, ...] | None = None) -> Arrays:
    arrays = sources.get(name).read(Request(places, classes))
    assert arrays is not None
    return arrays


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize("name", [n for n in sources if sources.get(n).files])
def test_a_folder_without_official_files_gives_nothing(name: str, tmp_path: Path) -> None:
    assert sources.get(name).read(Request((tmp_path,))) is None
    assert registry.get(name)(tmp_path) is None


def test_every_row_says_where_it_comes_from() -> None:
    for source in map(sources.get, sources):
        assert source.description
        assert source.licence
        for file in source.files:
            assert file.url.startswith("https://"), file.url
        for mirror in source.mirrors:
            for file in mirror:
                assert file.url.startswith("https://") or (file.checksum or "").startswith("sha256:")


def test_official_files_in_the_data_folder_are_loaded_by_name(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    images = rng.integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    (tmp_path / "svhn").mkdir()
    for split in ("train", "test"):
        official.svhn(tmp_path / "svhn", split, images, np.array([1, 9, 10]))
    loaded = registry.get("svhn")(tmp_path)
    assert loaded is not None
    assert (loaded["x_test"] == images).all()


# SVHN


def test_svhn_has_its_images_first_and_calls_the_digit_zero_0(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    train = rng.integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
    test = rng.integers(0, 256, (1, 32, 32, 3), dtype=np.uint8)
    official.svhn(tmp_path, "train", train, np.array([1, 2, 10, 9]))
    official.svhn(tmp_path, "test", test, np.array([10]))
    arrays = read("svhn", tmp_path)
    assert (arrays["x_train"] == train).all()
    assert arrays["y_train"].tolist() == [1, 2, 0, 9]
    assert (arrays["x_test"] == test).all()
    assert arrays["y_test"].tolist() == [0]
    assert arrays["classes"].tolist() == [str(digit) for digit in range(10)]


def test_svhn_needs_both_files(tmp_path: Path) -> None:
    official.svhn(tmp_path, "train", np.zeros((1, 32, 32, 3), np.uint8), np.array([1]))
    with pytest.raises(FileNotFoundError, match=r"lacks test_32x32\.mat"):
        read("svhn", tmp_path)


def test_a_cut_or_wrong_matlab_file(tmp_path: Path) -> None:
    from scipy.io import savemat

    official.svhn(tmp_path, "train", np.zeros((9, 32, 32, 3), np.uint8), np.ones(9))
    path = tmp_path / "train_32x32.mat"
    whole = path.read_bytes()
    for content in (b"", b"no matlab", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"train_32x32\.mat is not a whole Matlab file"):
            svhn.read_mat(path)
    savemat(path, {"X": np.zeros((32, 32, 3, 2), np.uint8)})
    with pytest.raises(ValueError, match="has no array 'y'"):
        svhn.read_mat(path)
    savemat(path, {"X": np.zeros((32, 32, 3, 2), np.uint8), "y": np.array([[1], [11]])})
    with pytest.raises(ValueError, match="labels 1 to 11"):
        svhn.read_mat(path)


# CIFAR-10


def test_cifar10_from_batches_that_python_2_wrote(tmp_path: Path, rng: np.random.Generator) -> None:
    batches = {
        name: (rng.integers(0, 256, (2, 32, 32, 3), dtype=np.uint8), [i, 9])
        for i, name in enumerate((*cifar10.TRAIN, cifar10.TEST))
    }
    # The order in the archive is not the order of the batches.
    pickles = {name: official.python2_batch(*batches[name]) for name in reversed(batches)}
    path = official.cifar(tmp_path / "cifar-10-python.tar.gz", pickles)
    arrays = read("cifar10", path)
    assert (arrays["x_train"] == np.concatenate([batches[name][0] for name in cifar10.TRAIN])).all()
    assert arrays["y_train"].tolist() == [0, 9, 1, 9, 2, 9, 3, 9, 4, 9]
    assert (arrays["x_test"] == batches["test_batch"][0]).all()
    assert arrays["y_test"].tolist() == [5, 9]
    assert arrays["classes"].tolist()[5] == "dog"


def test_the_hand_made_batch_is_what_pickle_itself_reads(rng: np.random.Generator) -> None:
    images = rng.integers(0, 256, (2, 32, 32, 3), dtype=np.uint8)
    content = pickle.loads(official.python2_batch(images, [3, 4]), encoding="bytes")
    assert content[b"labels"] == [3, 4]
    assert (content[b"data"].reshape(2, 3, 32, 32).transpose(0, 2, 3, 1) == images).all()


@pytest.mark.parametrize("protocol", [3, 4])
def test_batches_of_python_3(protocol: int, rng: np.random.Generator) -> None:
    rows = rng.integers(0, 256, (2, 3072), dtype=np.uint8)
    raw = pickle.dumps({"data": rows, "labels": [1, 2]}, protocol=protocol)
    images, labels = cifar10.parse_batch(raw, Path("batch"))
    assert (images.transpose(0, 3, 1, 2).reshape(2, 3072) == rows).all()
    assert labels.tolist() == [1, 2]


class Malicious:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        import os

        return os.system, ("touch executed",)


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_malicious_pickle_is_refused_and_not_executed(
    protocol: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    raw = pickle.dumps({"data": Malicious(), "labels": []}, protocol=protocol)
    with pytest.raises(ValueError, match=r"batch is not a python batch: it asks for \w+\.system"):
        cifar10.parse_batch(raw, Path("batch"))
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    "content",
    [
        {"data": np.zeros((1, 3072), np.float64), "labels": [1]},
        {"data": np.zeros((2, 3072), np.uint8), "labels": [1]},
        {"data": np.zeros((1, 3072), np.uint8), "labels": [10]},
        {"data": np.zeros((1, 3072), np.uint8), "labels": ["cat"]},
        {"data": [0] * 3072, "labels": [1]},
        {"labels": [1]},
        [1, 2, 3],
    ],
)
def test_a_batch_of_another_form(content: object) -> None:
    with pytest.raises(ValueError, match=r"python batch|rows of 3072|has labels"):
        cifar10.parse_batch(pickle.dumps(content, protocol=4), Path("batch"))


def test_a_cut_batch(rng: np.random.Generator) -> None:
    raw = official.python2_batch(rng.integers(0, 256, (2, 32, 32, 3), dtype=np.uint8), [1, 2])
    for end in (0, 1, 50, len(raw) - 1):
        with pytest.raises(ValueError, match="is not a python batch"):
            cifar10.parse_batch(raw[:end], Path("batch"))


def test_cifar10_names_the_batch_that_is_missing(tmp_path: Path) -> None:
    raw = official.python2_batch(np.zeros((1, 32, 32, 3), np.uint8), [1])
    path = official.cifar(tmp_path / "cifar-10-python.tar.gz", {"data_batch_1": raw})
    with pytest.raises(ValueError, match="lacks data_batch_2"):
        read("cifar10", path)


def test_cifar10_is_the_same_from_the_npm_package(tmp_path: Path, rng: np.random.Generator) -> None:
    names = (*cifar10.TRAIN, cifar10.TEST)
    sheets = {name: rng.integers(0, 256, (2, 32, 32, 3), dtype=np.uint8) for name in names}
    train, test = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0], [3, 4]
    labels = [*train, *test]
    pickles = {n: official.python2_batch(sheets[n], labels[2 * i : 2 * i + 2]) for i, n in enumerate(names)}
    one = read("cifar10", official.cifar(tmp_path / "cifar-10-python.tar.gz", pickles))
    other = read("cifar10", official.cifar_package(tmp_path / cifar10.PACKAGE, sheets, train, test))
    for key in ("x_train", "y_train", "x_test", "y_test", "classes"):
        assert (one[key] == other[key]).all(), key
    path = official.cifar_package(tmp_path / cifar10.PACKAGE, sheets, train, test[:1])
    with pytest.raises(ValueError, match="12 images, but 11 labels"):
        read("cifar10", path)


# Fashion-MNIST


def test_fashion_mnist_from_debians_package(tmp_path: Path, rng: np.random.Generator) -> None:
    small = {
        "x_train": rng.integers(0, 256, (3, 28, 28), dtype=np.uint8),
        "y_train": np.array([1, 2, 3], np.uint8),
        "x_test": rng.integers(0, 256, (2, 28, 28), dtype=np.uint8),
        "y_test": np.array([4, 5], np.uint8),
    }
    path = official.fashion_package(tmp_path / fashion_mnist.PACKAGE.name, small, fashion_mnist.FILES)
    arrays = read("fashion-mnist", path)
    assert all((arrays[key] == small[key]).all() for key in small)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ValueError, match="is not a whole archive"):
        read("fashion-mnist", path)
    path.write_bytes(b"!<arch>\n" + b"x" * 100)
    with pytest.raises(ValueError, match="is not a whole Debian package"):
        read("fashion-mnist", path)


# ModelNet10


def test_off_files_with_counts_glued_to_the_first_line_and_with_polygons() -> None:
    plain = modelnet10.parse_off(f"OFF\n{official.CUBE}".encode(), "plain")
    glued = modelnet10.parse_off(f"OFF{official.CUBE}".encode(), "glued")
    assert (plain[0] == glued[0]).all()
    assert (plain[1] == glued[1]).all()
    vertices, faces = plain
    assert vertices.shape == (8, 3)
    assert faces.shape == (12, 3)
    sides = np.cross(
        vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]]
    )
    assert np.linalg.norm(sides, axis=1).sum() / 2 == pytest.approx(2 * (4 + 8 + 8))


def test_off_files_of_triangles() -> None:
    vertices, faces = modelnet10.parse_off(official.TETRAHEDRON.encode(), "it")
    assert vertices.shape == (4, 3)
    assert faces.tolist() == [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PLY\n", "is not an OFF file"),
        ("OFF\n", "is not a whole OFF file"),
        ("OFF\n" + official.CUBE[:-10], "is not a whole OFF file"),
        ("OFF\n" + official.CUBE.replace("4 0 1 2 3", "4 0 1 2 8"), "faces without their vertices"),
        ("OFF\n1 0 0\n0 0 0\n", "has no faces"),
    ],
)
def test_damaged_off_files(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        modelnet10.parse_off(text.encode(), "it")


def test_modelnet10_becomes_points_in_the_unit_ball(tmp_path: Path) -> None:
    pytest.importorskip("trimesh", reason="needs trimesh (make venv installs it)")
    path = official.modelnet(tmp_path / "ModelNet10.zip")
    arrays = read("modelnet10", path)
    assert arrays["classes"].tolist() == ["bed", "table"]
    assert arrays["x_train"].shape == (3, 4096, 3)
    assert arrays["x_train"].dtype == np.int16
    assert arrays["y_train"].tolist() == [0, 0, 1]
    assert arrays["y_test"].tolist() == [0, 1]
    bed = arrays["x_train"][0] / 32767
    assert np.linalg.norm(bed, axis=1).max() == pytest.approx(1, abs=1e-3)
    assert (bed.max(axis=0) + bed.min(axis=0)) / 2 == pytest.approx(np.zeros(3), abs=1e-3)
    # A box of 2 x 2 x 4: its longest side is up, and half of every ten points lie on two opposite sides.
    box = bed.max(axis=0)
    assert box[2] / box[0] == pytest.approx(2, abs=0.02)
    on_sides = (np.abs(bed) > box - 1e-3).mean(axis=0)
    assert on_sides == pytest.approx([0.4, 0.4, 0.2], abs=0.03)
    again = read("modelnet10", path)
    assert (again["x_train"] == arrays["x_train"]).all()


def test_without_trimesh_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    with pytest.raises(ScnError, match=r"pip install 'scn\[mesh\]'"):
        modelnet10.cloud(official.TETRAHEDRON.encode(), "it")


# Speech Commands


@pytest.fixture
def clips(rng: np.random.Generator) -> dict[str, np.ndarray]:
    names = [f"{word}/{speaker}_nohash_0.wav" for word in ("yes", "no", "cat") for speaker in "abc"]
    return {name: rng.integers(-32768, 32768, 16_000).astype(np.int16) for name in names}


def test_speech_commands_follow_the_official_lists(tmp_path: Path, clips: dict[str, np.ndarray]) -> None:
    clips["yes/a_nohash_0.wav"] = clips["yes/a_nohash_0.wav"][:9_000]
    clips["cat/a_nohash_0.wav"] = np.tile(clips["cat/a_nohash_0.wav"], 2)
    validation, testing = [f"{w}/b_nohash_0.wav" for w in ("yes", "no", "cat")], ["yes/c_nohash_0.wav"]
    path = official.speech(tmp_path / "speech_commands_v0.02.tar.gz", clips, validation, testing)
    arrays = read("speech-commands", path)
    assert arrays["classes"].tolist() == ["cat", "no", "yes"]
    assert int(arrays["sample_rate"]) == 16_000
    assert arrays["y_train"].tolist() == [0, 0, 1, 1, 2]
    assert arrays["y_val"].tolist() == [0, 1, 2]
    assert arrays["y_test"].tolist() == [2]
    assert arrays["x_train"].shape == (5, 16_000)
    assert arrays["x_train"].dtype == np.int16
    assert (arrays["x_train"][0] == clips["cat/a_nohash_0.wav"][:16_000]).all()
    assert (arrays["x_val"][1] == clips["no/b_nohash_0.wav"]).all()
    assert (arrays["x_train"][4][:9_000] == clips["yes/a_nohash_0.wav"]).all()
    assert not arrays["x_train"][4][9_000:].any()


def test_a_choice_of_words_keeps_its_order(tmp_path: Path, clips: dict[str, np.ndarray]) -> None:
    path = official.speech(tmp_path / "speech_commands_v0.01.tar.gz", clips, [], ["yes/c_nohash_0.wav"])
    arrays = read("speech-commands-v0.01", path, classes=("yes", "cat"))
    assert arrays["classes"].tolist() == ["yes", "cat"]
    assert arrays["y_train"].tolist() == [0, 0, 1, 1, 1]
    assert arrays["x_val"].shape == (0, 16_000)
    assert (arrays["x_train"][2] == clips["cat/a_nohash_0.wav"]).all()
    with pytest.raises(ValueError, match=r'has no word "yess"\. Did you mean "yes"'):
        read("speech-commands-v0.01", path, classes=("yess",))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"RIFF", "is not a WAV file"),
        (official.wav(np.zeros(10), rate=8_000), r"should be mono, 16 bits, 16000 Hz, but has .* 8000 Hz"),
        (official.wav(np.zeros(10), channels=2), r"but has 2 channel\(s\)"),
    ],
)
def test_wrong_recordings(content: bytes, message: str, tmp_path: Path) -> None:
    members = {"yes/a.wav": content, "validation_list.txt": b"", "testing_list.txt": b""}
    path = official.tar(tmp_path / "speech_commands_v0.02.tar.gz", members)
    with pytest.raises(ValueError, match=message):
        read("speech-commands", path)


def test_speech_commands_need_the_lists(tmp_path: Path) -> None:
    path = official.tar(tmp_path / "speech_commands_v0.02.tar.gz", {"yes/a.wav": official.wav(np.zeros(9))})
    with pytest.raises(ValueError, match=r"lacks its clips or one of validation_list\.txt"):
        read("speech-commands", path)


# GTSRB


def test_gtsrb_takes_classes_from_the_tables_and_resizes(tmp_path: Path, rng: np.random.Generator) -> None:
    def image(height: int, width: int) -> np.ndarray:
        return rng.integers(0, 256, (height, width, 3), dtype=np.uint8)

    train = {0: [image(30, 29), image(60, 61)], 42: [image(32, 32)]}
    test = [(image(40, 40), 14), (image(25, 27), 3)]
    official.gtsrb(tmp_path, train, test)
    arrays = read("gtsrb", tmp_path)
    assert arrays["x_train"].shape == (3, 32, 32, 3)
    assert arrays["y_train"].tolist() == [0, 0, 42]
    assert arrays["train_track"].tolist() == [0, 1, 0]
    assert arrays["train_frame"].tolist() == [7, 7, 7]
    assert (arrays["x_train"][2] == train[42][0]).all()
    small = Image.fromarray(train[0][1]).resize((32, 32), Image.Resampling.BILINEAR)
    assert (arrays["x_train"][1] == np.asarray(small)).all()
    assert arrays["y_test"].tolist() == [14, 3]
    assert arrays["classes"].tolist()[14] == "Stop"


def test_gtsrb_misses_an_image_of_its_table(tmp_path: Path) -> None:
    image = np.zeros((9, 9, 3), np.uint8)
    official.gtsrb(tmp_path, {0: [image]}, [(image, 1)])
    table = official.signs_table([("00000.ppm", 1), ("00001.ppm", 2)])
    official.zipped(tmp_path / gtsrb.TRUTH, {"GT-final_test.csv": table})
    with pytest.raises(ValueError, match=r"lacks 1 of its images: Images/00001\.ppm"):
        read("gtsrb", tmp_path)
    wrong = official.signs_table([("00000.ppm", 43)])
    official.zipped(tmp_path / gtsrb.TRUTH, {"GT-final_test.csv": wrong})
    with pytest.raises(ValueError, match="has classes other than 0 to 42"):
        read("gtsrb", tmp_path)


def test_a_cut_ppm() -> None:
    raw = official.ppm(np.zeros((9, 9, 3), np.uint8))
    for content in (b"", raw[:50], b"\x89PNG\r\n\x1a\n"):
        with pytest.raises(ValueError, match="it is not a whole PPM image"):
            gtsrb.read_ppm(content, "it")


# Fruit


def test_fruit_from_one_table_a_fruit(tmp_path: Path) -> None:
    official.fruit(tmp_path)
    arrays = read("fruit", tmp_path)
    assert arrays["rgb_milli"].dtype == np.int16
    assert arrays["rgb_milli"][:3].tolist() == [[400, 330, 200], [410, 330, 200], [420, 330, 200]]
    assert arrays["brightness"][-1] == 402
    assert arrays["y"].tolist() == [i // 3 for i in range(15)]
    assert arrays["order"].tolist() == [1, 2, 3] * 5
    assert arrays["classes"].tolist() == list(fruit.CLASSES)
    (tmp_path / "kiwi.csv").write_text("No,Red\n1,2\n")
    with pytest.raises(ValueError, match=r"kiwi\.csv is not a table of No, Red, Green"):
        read("fruit", tmp_path)
    (tmp_path / "kiwi.csv").unlink()
    with pytest.raises(FileNotFoundError, match=r"lacks kiwi\.csv"):
        read("fruit", tmp_path)


# All of them, against the files that development uses


@pytest.mark.parametrize(("name", "classes"), [("gtsrb", gtsrb.CLASSES), ("cifar10", cifar10.CLASSES)])
def test_classes_agree_with_the_files_at_hand(name: str, classes: tuple[str, ...]) -> None:
    with np.load(real_file("SCN_DATA_DIR", f"{name}.npz")) as arrays:
        assert arrays["classes"].tolist() == list(classes)


def test_fruit_has_the_form_of_the_file_at_hand(tmp_path: Path) -> None:
    official.fruit(tmp_path)
    arrays = read("fruit", tmp_path)
    with np.load(real_file("SCN_DATA_DIR", "fruit.npz")) as real:
        assert sorted(real.files) == sorted(arrays)
        for key in ("rgb_milli", "brightness", "y", "order", "classes"):
            assert real[key].dtype.kind == arrays[key].dtype.kind
            assert real[key].shape[1:] == arrays[key].shape[1:]
        assert real["classes"].tolist() == arrays["classes"].tolist()


def test_a_row_is_made_of_its_parts() -> None:
    source = sources.get("gtsrb")
    assert isinstance(source, Source)
    assert source.size == 276_294_756 + 88_978_620 + 99_620
    assert source.check == "size and md5"
