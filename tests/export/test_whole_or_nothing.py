"""An export that fails leaves nothing, and what was there before stays as it was."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from generated import subject
from scn import SCN
from scn.backbones import MLP
from scn.core.errors import Failed
from scn.export import Options, onnx, targets


def toy(transform: str = "rotation") -> Any:
    net = SCN(MLP((1, 4, 4), 3, 2), alpha_dim=2, dims=2, seed=0)
    return subject(net, (1, 4, 4), transform, name="toy")


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


class Program:
    def save(self, path: Path, external_data: bool) -> None:
        path.write_text("graph")


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime", reason="the extra `export` is not installed")
    monkeypatch.setattr(torch.onnx, "export", lambda *_, **__: Program())
    monkeypatch.setattr(onnx, "drop_idle", lambda _: None)


@pytest.mark.usefixtures("exporter")
def test_an_onnx_file_that_onnxruntime_cannot_run_is_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toy.onnx").write_text("of before")
    with pytest.raises(Exception, match=r"toy\.onnx"):  # onnxruntime finds no graph in the file
        targets.get("onnx")(toy(), Options(), tmp_path)
    assert everything(tmp_path) == ["toy.onnx"]
    assert (tmp_path / "toy.onnx").read_text() == "of before"


@pytest.mark.usefixtures("exporter")
def test_no_onnx_file_is_left_when_the_second_one_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def differences(path: Path, *_: object) -> tuple[float, float]:
        return (1.0 if "configured" in path.name else 0.0), 1.0

    monkeypatch.setattr(onnx, "differences", differences)
    with pytest.raises(OSError, match=r"toy_configured\.onnx was not kept"):
        targets.get("onnx")(toy(), Options(), tmp_path / "new" / "folder")
    assert everything(tmp_path) == []


@pytest.mark.usefixtures("exporter")
def test_an_onnx_file_that_the_disk_has_no_space_for_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Program, "save", full)
    with pytest.raises(Failed, match=r"/out/toy\.onnx cannot be written: No space left on device"):
        targets.get("onnx")(toy(), Options(), tmp_path / "out")
    assert everything(tmp_path) == []


def test_c_code_with_a_sensor_that_does_not_fit_is_not_left(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the sensor light measures"):
        targets.get("c")(toy(), Options(sensor="light"), tmp_path / "out")
    assert everything(tmp_path) == []


@pytest.mark.parametrize("target", ["c", "arduino", "esp-idf", "zephyr"])
@pytest.mark.parametrize("full", [1, 2])
def test_a_disk_that_fills_up_leaves_nothing(
    target: str, full: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the first file, or the second one, cannot be written."""
    written, write = 0, Path.write_bytes

    def limited(path: Path, *arguments: Any, **more: Any) -> int:
        nonlocal written
        written += 1
        if written == full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, *arguments, **more)

    monkeypatch.setattr(Path, "write_bytes", limited)
    with pytest.raises(Failed, match=r"/out/[^.]\S* cannot be written: No space left on device"):
        targets.get(target)(toy(), Options(), tmp_path / "out")
    assert everything(tmp_path) == []


def test_a_network_that_cannot_be_exported_makes_no_folder(tmp_path: Path) -> None:
    net = nn.Sequential(nn.Linear(4, 5), nn.GELU(), nn.Linear(5, 3)).eval()
    with pytest.raises(ValueError, match="is a GELU"):
        targets.get("c")(subject(net, (4,)), Options(), tmp_path / "out")
    assert everything(tmp_path) == []


def test_files_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    targets.get("c")(toy(), Options(), tmp_path)
    assert everything(tmp_path) == ["notes.txt", "toy.c", "toy.cmake", "toy.h"]


@pytest.mark.parametrize("target", ["arduino", "esp-idf", "zephyr"])
def test_a_project_without_configuration_takes_no_sensor(target: str, tmp_path: Path) -> None:
    plain = subject(MLP((1, 4, 4), 3, 2), (1, 4, 4), name="toy")
    with pytest.raises(ValueError, match="not configured on the board: leave out `sensor`"):
        targets.get(target)(plain, Options(sensor="accelerometer"), tmp_path)
