"""German Traffic Sign Recognition Benchmark (J. Stallkamp et al., 2012): PPM images and CSV tables.

Images differ in size and are brought to 32x32. Frames of one track show the same sign a moment apart,
so the track and frame of each training image are kept: a fair split never divides a track.
There is a grey form of them, of even contrast, for networks as small as those on a microcontroller.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from scn.core.errors import ScnError
from scn.data.archives import Entry, entries
from scn.data.dataset import Arrays, load
from scn.data.download import Remote
from scn.data.sources import Request, Source, register

SIZE = 32
BORDER = 6  # pixels that show little of the sign
CLASSES = (
    "Speed limit (20km/h)",
    "Speed limit (30km/h)",
    "Speed limit (50km/h)",
    "Speed limit (60km/h)",
    "Speed limit (70km/h)",
    "Speed limit (80km/h)",
    "End of speed limit (80km/h)",
    "Speed limit (100km/h)",
    "Speed limit (120km/h)",
    "No passing",
    "No passing for vehicles over 3.5 metric tons",
    "Right-of-way at the next intersection",
    "Priority road",
    "Yield",
    "Stop",
    "No vehicles",
    "Vehicles over 3.5 metric tons prohibited",
    "No entry",
    "General caution",
    "Dangerous curve to the left",
    "Dangerous curve to the right",
    "Double curve",
    "Bumpy road",
    "Slippery road",
    "Road narrows on the right",
    "Road work",
    "Traffic signals",
    "Pedestrians",
    "Children crossing",
    "Bicycles crossing",
    "Beware of ice/snow",
    "Wild animals crossing",
    "End of all speed and passing limits",
    "Turn right ahead",
    "Turn left ahead",
    "Ahead only",
    "Go straight or right",
    "Go straight or left",
    "Keep right",
    "Keep left",
    "Roundabout mandatory",
    "End of no passing",
    "End of no passing by vehicles over 3.5 metric tons",
)
# The final training set, or the smaller one of the first competition.
TRAIN = ("GTSRB_Final_Training_Images.zip", "GTSRB-Training_fixed.zip")
TEST = "GTSRB_Final_Test_Images.zip"
TRUTH = "GTSRB_Final_Test_GT.zip"
TRUTH_TABLE = "GT-final_test.csv"

Labels = dict[str, int]


def read(request: Request) -> Arrays | None:
    """Training images with a table in each class's folder, test images, and the table of the test."""
    paths = request.find_all(TRAIN, (TEST,), (TRUTH, TRUTH_TABLE))
    if paths is None:
        return None
    train, test, truth = paths
    labels = _labels_of_folders(train)
    x_train, y_train, names = _images(train, labels, request)
    tracks = np.array([[int(part) for part in _stem(name).split("_")] for name in names])
    x_test, y_test, _ = _images(test, _labels_of_test(truth), request)
    return {
        "x_train": x_train,
        "y_train": y_train,
        "train_track": tracks[:, 0].astype(np.int16),
        "train_frame": tracks[:, 1].astype(np.uint8),
        "x_test": x_test,
        "y_test": y_test,
        "classes": np.array(CLASSES),
        "provenance": np.array(
            f"GTSRB, J. Stallkamp et al. 2012, {train.name} and {test.name}, whole images resized to "
            f"{SIZE}x{SIZE} by Pillow's bilinear filter; research, cite the authors"
        ),
    }


def _stem(name: str) -> str:
    return name.rsplit("/", 1)[-1].removesuffix(".ppm")


def _table(raw: bytes, name: str) -> Labels:
    """File name -> class, from a table with the columns Filename and ClassId."""
    rows = csv.DictReader(io.StringIO(raw.decode("ascii", "replace")), delimiter=";")
    try:
        labels = {row["Filename"]: int(row["ClassId"]) for row in rows}
    except (KeyError, ValueError, TypeError) as error:
        raise ScnError(f"{name} is not a table with Filename and ClassId: {error!r}") from error
    if not all(0 <= label < len(CLASSES) for label in labels.values()):
        raise ScnError(f"{name} has classes other than 0 to {len(CLASSES) - 1}")
    return labels


def _labels_of_folders(path: Path) -> Labels:
    """FOLDER/FILE.ppm -> class, from the GT-xxxxx.csv in each folder."""
    labels: Labels = {}
    for entry in entries(path):
        if entry.file.startswith("GT-") and entry.file.endswith(".csv"):
            folder = entry.parts[-2] if len(entry.parts) > 1 else ""
            labels |= {f"{folder}/{name}": label for name, label in _table(entry.read(), entry.name).items()}
    return labels


def _labels_of_test(path: Path) -> Labels:
    if path.suffix == ".csv":
        return _among_images(_table(path.read_bytes(), str(path)))
    for entry in entries(path):
        if entry.file == TRUTH_TABLE:
            return _among_images(_table(entry.read(), entry.name))
    raise ScnError(f"{path} has no {TRUTH_TABLE}")


def _among_images(labels: Labels) -> Labels:
    return {f"Images/{name}": label for name, label in labels.items()}


def _key(entry: Entry) -> str:
    return "/".join(entry.parts[-2:])


def _images(path: Path, labels: Labels, request: Request) -> tuple[Any, Any, list[str]]:
    """Images (N, 32, 32, 3), labels (N,) and names, sorted by name."""
    wanted = (entry for entry in entries(path) if _key(entry) in labels)
    found = {}
    for entry in request.watch(wanted, f"read {path.name}", len(labels)):
        found[_key(entry)] = read_ppm(entry.read(), entry.name)
    missing = sorted(labels.keys() - found.keys())
    if missing or not found:
        raise ScnError(f"{path} lacks {len(missing)} of its images: {', '.join(missing[:3])} ...")
    names = sorted(found)
    images = np.stack([found[name] for name in names])
    return images, np.array([labels[name] for name in names], np.uint8), names


def read_ppm(raw: bytes, name: str) -> np.ndarray[Any, Any]:
    """(32, 32, 3) uint8."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(raw), formats=["PPM"]) as image:
            return np.asarray(image.convert("RGB").resize((SIZE, SIZE), Image.Resampling.BILINEAR))
    except (UnidentifiedImageError, OSError, ValueError) as error:
        raise ScnError(f"{name} is not a whole PPM image: {error}") from error


def grey(_: Request) -> Arrays:
    """The same signs as grey images of even contrast; every tenth track of a class is for validation."""
    arrays = load("gtsrb").arrays
    held_back = arrays["train_track"] % 10 == 3
    images, labels = even_contrast(arrays["x_train"]), arrays["y_train"]
    return {
        "x_train": images[~held_back],
        "y_train": labels[~held_back],
        "x_val": images[held_back],
        "y_val": labels[held_back],
        "x_test": even_contrast(arrays["x_test"]),
        "y_test": arrays["y_test"],
        "classes": arrays["classes"],
        "provenance": np.array(f"{arrays['provenance']} Here as grey images of even contrast."),
    }


def even_contrast(images: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """(N, 32, 32, 3) -> (N, 32, 32): the mean at mid-grey, and 2.5 deviations to black and white.

    Mean and deviation are those of the middle, where the sign is, not of the street around it.
    """
    shades = images @ np.array([0.299, 0.587, 0.114], np.float32)
    middle = shades[:, BORDER:-BORDER, BORDER:-BORDER]
    mean = middle.mean(axis=(1, 2), keepdims=True)
    deviation = np.maximum(middle.std(axis=(1, 2), keepdims=True), 1.0)
    return np.clip(np.round(127.5 + 51 * (shades - mean) / deviation), 0, 255).astype(np.uint8)


def _official(name: str, size: int, md5: str) -> Remote:
    folder = "https://sid.erda.dk/public/archives/daaeac0d7ce1152aea9b61d9f1e19370"
    return Remote(f"{folder}/{name}", size, f"md5:{md5}")


register(
    Source(
        name="gtsrb",
        description="51,839 colour images of traffic signs, 43 classes",
        licence="research, cite the authors",
        read=read,
        files=(
            _official(TRAIN[0], 276_294_756, "f33fd80ac59bff73c82d25ab499e03a3"),
            _official(TEST, 88_978_620, "c7e4e6327067d32654124b0fe9e82185"),
            _official(TRUTH, 99_620, "fe31e9c9270bbcd7b84b7f21a9d9d9e5"),
        ),
    )
)

register(
    Source(
        name="gtsrb-grey",
        description="the same signs as grey images of even contrast",
        licence="research, cite the authors",
        read=grey,
        of="gtsrb",
    )
)
