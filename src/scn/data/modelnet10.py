"""ModelNet10 (Z. Wu et al., 2015): meshes in OFF files become clouds of points on their surfaces.

A cloud is centred at the middle of its bounding box and scaled so that its farthest point lies on the
unit sphere; coordinates are kept as int16, where 32767 means 1.
"""

from __future__ import annotations

import zlib
from itertools import pairwise
from typing import Any

import numpy as np

from scn.core.errors import Failed, ScnError
from scn.data.archives import Entry, entries
from scn.data.dataset import Arrays
from scn.data.download import Remote
from scn.data.forms import POINTS, in_unit_ball
from scn.data.sources import Request, Source, register

ARCHIVE, FOLDER = "ModelNet10.zip", "ModelNet10"
SPLITS = ("train", "test")

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]


def read(request: Request) -> Arrays | None:
    """The official archive or its folder: CLASS/train|test/CLASS_0001.off -> (N, 4096, 3) int16."""
    path = request.find(ARCHIVE, FOLDER)
    if path is None:
        return None
    clouds: dict[str, dict[str, np.ndarray[Any, Any]]] = {split: {} for split in SPLITS}
    count = sum(_is_mesh(entry) for entry in entries(path))
    meshes = (entry for entry in entries(path) if _is_mesh(entry))
    for entry in request.watch(meshes, "points on meshes", count):
        name = "/".join(entry.parts[-3:])
        clouds[entry.parts[-2]][name] = cloud(entry.read(), name)
    if not all(clouds.values()):
        raise ScnError(f"{path} has no meshes CLASS/train/*.off and CLASS/test/*.off")
    classes = sorted({name.split("/")[0] for split in SPLITS for name in clouds[split]})
    arrays: Arrays = {}
    for split in SPLITS:
        names = sorted(clouds[split])
        arrays[f"x_{split}"] = np.stack([clouds[split][name] for name in names])
        arrays[f"y_{split}"] = np.array([classes.index(n.split("/")[0]) for n in names], dtype=np.uint8)
    arrays["classes"] = np.array(classes)
    arrays["provenance"] = np.array(
        f"ModelNet10, Z. Wu et al. 2015, {POINTS} surface points a mesh, in the unit ball; academic use"
    )
    return arrays


def _is_mesh(entry: Entry) -> bool:
    parts = entry.parts
    return (
        len(parts) >= 3
        and parts[-2] in SPLITS
        and entry.file.endswith(".off")
        and not entry.file.startswith("._")  # what macOS adds to archives
    )


def cloud(raw: bytes, name: str) -> np.ndarray[Any, Any]:
    """(4096, 3) int16 points, spread evenly over the surface; the same for the same name."""
    try:
        import trimesh
    except ImportError as error:
        raise Failed("meshes are read by trimesh: pip install 'scn[mesh]'") from error

    vertices, faces = parse_off(raw, name)
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    if not mesh.area > 0:
        raise ScnError(f"{name} has no surface")
    points, _ = trimesh.sample.sample_surface(mesh, POINTS, seed=zlib.crc32(name.encode()))
    return in_unit_ball(np.asarray(points))


def parse_off(raw: bytes, name: str) -> tuple[Floats, Integers]:
    """Vertices (V, 3) and triangles (F, 3). Some files have the counts glued to the word OFF."""
    text = raw.decode("ascii", "replace").lstrip()
    if not text.startswith("OFF"):
        raise ScnError(f"{name} is not an OFF file")
    lines = [line for line in text[3:].splitlines() if line.strip() and not line.lstrip().startswith("#")]
    try:
        vertex_count, face_count = (int(number) for number in lines[0].split()[:2])
        vertices = _numbers(lines[1 : 1 + vertex_count]).reshape(vertex_count, 3)
        faces = _triangles(lines[1 + vertex_count : 1 + vertex_count + face_count], face_count)
    except (ValueError, IndexError) as error:
        raise ScnError(f"{name} is not a whole OFF file: {error}") from error
    if not len(faces) or faces.min() < 0 or faces.max() >= vertex_count or not np.isfinite(vertices).all():
        raise ScnError(f"{name} has no faces, or faces without their vertices")
    return vertices, faces


def _numbers(lines: list[str]) -> Floats:
    return np.array(list(map(float, " ".join(lines).split())))


def _triangles(lines: list[str], count: int) -> Integers:
    """A line is a number of corners and the corners; a polygon becomes a fan of triangles."""
    if len(lines) != count:
        raise ScnError(f"{count} faces are announced, but {len(lines)} are there")
    numbers = _numbers(lines).astype(np.int64)
    if numbers.size == 4 * count and (numbers[::4] == 3).all():
        return numbers.reshape(-1, 4)[:, 1:]
    fans = []
    for line in lines:
        corners = [int(number) for number in line.split()[1 : 1 + int(line.split()[0])]]
        fans += [(corners[0], *pair) for pair in pairwise(corners[1:])]
    return np.array(fans, dtype=np.int64).reshape(-1, 3)


register(
    Source(
        name="modelnet10",
        description="4,899 meshes of furniture, 10 classes; needs the extra `mesh`",
        licence="academic use",
        read=read,
        files=(
            Remote("https://3dvision.princeton.edu/projects/2014/3DShapeNets/ModelNet10.zip", 473_402_300),
        ),
        folders=(FOLDER,),
    )
)
