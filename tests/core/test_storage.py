"""Model files: what is saved comes back; what is damaged or foreign is refused; nothing is executed."""

from __future__ import annotations

import errno
import os
import pickle
import struct
from pathlib import Path

import pytest
import safetensors.torch
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

import scn
from scn.core import storage
from scn.core.errors import Failed
from scn.core.storage import failures_named, write_atomically
from small_backbones import CASES, Case


def build() -> scn.SCN:
    return scn.SCN(scn.backbones.MLP((1, 4, 4), 3, width=6, depth=2, norm=True), 2, 3)


def test_a_network_of_ours_is_built_again_by_name(tmp_path: Path) -> None:
    net = build()
    net(torch.randn(8, 1, 4, 4), torch.randn(2))
    net.save(tmp_path / "net.safetensors")
    again = scn.SCN.load(tmp_path / "net.safetensors")
    assert type(again.backbone) is scn.backbones.MLP
    assert all(torch.equal(v, again.state_dict()[k]) for k, v in net.state_dict().items())
    x, alpha = torch.randn(8, 1, 4, 4), torch.randn(4, 2)
    assert torch.equal(again.eval()(x, alpha), net.eval()(x, alpha))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_a_users_own_class_is_filled(case: Case, tmp_path: Path) -> None:
    net = scn.SCN(case.backbone(), 2, 3).eval()
    net.save(tmp_path / "net.safetensors")
    again = scn.SCN.load(tmp_path / "net.safetensors", backbone=case.backbone()).eval()
    x, alpha = torch.randn(8, *case.shape), torch.randn(4, 2)
    assert torch.equal(again(x, alpha), net(x, alpha))


def test_a_users_own_class_without_a_backbone_is_a_clear_error(tmp_path: Path) -> None:
    scn.SCN(nn.Linear(4, 3), 2, 3).save(tmp_path / "net.safetensors")
    with pytest.raises(ValueError, match=r"Linear, which is not .* SCN.load\(path, backbone=module\)"):
        scn.SCN.load(tmp_path / "net.safetensors")


@pytest.mark.parametrize("other", [nn.Linear(4, 2), nn.Linear(4, 3, bias=False), nn.Conv1d(4, 3, 1)])
def test_a_backbone_of_another_shape_is_a_clear_error(other: nn.Module, tmp_path: Path) -> None:
    scn.SCN(nn.Linear(4, 3), 2, 3).save(tmp_path / "net.safetensors")
    with pytest.raises(ValueError, match="pass a backbone of the saved shape"):
        scn.SCN.load(tmp_path / "net.safetensors", backbone=other)


def test_precision_growth_and_sharing_survive(tmp_path: Path) -> None:
    net = scn.SCN(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)), 2, 3, configurable="1.*").double()
    net.grow(2)
    net.save(tmp_path / "net.safetensors")
    again = scn.SCN.load(
        tmp_path / "net.safetensors", backbone=nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
    )
    assert again.theta.dtype == torch.float64
    assert again.dims == 5
    assert again.configurable == ("1.*",)
    x = torch.randn(4, 4, dtype=torch.float64)
    assert torch.equal(again(x, torch.ones(2)), net(x, torch.ones(2)))


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("model") / "net.safetensors"
    build().save(path)
    return path.read_bytes()


@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_flipped_bit_is_found(place: float, bit: int, good: bytes, tmp_path: Path) -> None:
    changed = bytearray(good)
    changed[int(place * len(good))] ^= 1 << bit
    path = tmp_path / "changed.safetensors"
    path.write_bytes(changed)
    with pytest.raises(scn.ModelFileError, match=r"changed\.safetensors"):
        scn.SCN.load(path)


def test_every_bit_of_the_header_is_covered(good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "changed.safetensors"
    length = 8 + struct.unpack("<Q", good[:8])[0]
    for place in range(length):
        changed = bytearray(good)
        changed[place] ^= 1 << (place % 8)
        path.write_bytes(changed)
        with pytest.raises(scn.ModelFileError):
            scn.SCN.load(path)


@pytest.mark.parametrize("kept", [0, 1, 7, 8, 9, 100, 0.5, 0.999])
def test_a_truncated_file_is_refused(kept: float, good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cut.safetensors"
    path.write_bytes(good[: kept if isinstance(kept, int) else int(kept * len(good))])
    with pytest.raises(scn.ModelFileError, match=r"cut\.safetensors"):
        scn.SCN.load(path)


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[str, ...]]:
        return (Path.touch, (Path("exploded"),))  # type: ignore[return-value]


@pytest.mark.parametrize("kind", ["pickle", "torch", "safetensors", "text", "random", "json"])
def test_a_foreign_file_is_refused_and_not_executed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "foreign"
    content = {
        "pickle": pickle.dumps(Bomb()),
        "safetensors": safetensors.torch.save({"theta": torch.zeros(3)}, metadata={"made": "elsewhere"}),
        "text": b"not a model at all, but long enough",
        "random": bytes(range(256)) * 4,
        "json": struct.pack("<Q", 2) + b"[]",
        "torch": b"",
    }[kind]
    path.write_bytes(content)
    if kind == "torch":
        torch.save(Bomb(), path)
    with pytest.raises(scn.ModelFileError, match="foreign"):
        scn.SCN.load(path)
    assert not (tmp_path / "exploded").exists()


def test_a_file_of_a_newer_format_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "new.safetensors"
    with monkeypatch.context() as patch:
        patch.setattr(storage, "FORMAT", storage.NEWEST + 1)
        build().save(path)
    with pytest.raises(scn.ModelFileError, match="format 3, but this version of scn reads up to 2"):
        scn.SCN.load(path)


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.safetensors"):
        scn.SCN.load(tmp_path / "nothing.safetensors")


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "net.safetensors"
    build().save(path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        build().save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_others_may_read_a_file_as_any_that_is_written_here(tmp_path: Path) -> None:
    usual, path = tmp_path / "usual", tmp_path / "net.safetensors"
    usual.write_bytes(b"")
    build().save(path)
    assert path.stat().st_mode == usual.stat().st_mode


def test_the_state_is_an_ordinary_state_dict() -> None:
    net, other = build(), build()
    assert not torch.equal(net.theta, other.theta)
    other.load_state_dict(net.state_dict())
    assert torch.equal(net.theta, other.theta)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_said_with_the_name_of_the_file(tmp_path: Path) -> None:
    with (
        pytest.raises(Failed, match=r"metrics\.jsonl cannot be written: No space left on device"),
        failures_named(tmp_path / "metrics.jsonl"),
        Path("/dev/full").open("w") as file,
    ):
        file.write("a line")


def test_a_file_that_cannot_be_written_is_named_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Failed, match=r"config\.json cannot be written: No space left on device"):
        write_atomically(tmp_path / "config.json", b"{}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content", [{"aliases": {"b": "gone"}}, {"aliases": 3}, {"format": "first"}, {"format": None}]
)
def test_a_sealed_file_that_we_would_not_write_is_a_clear_error(
    content: dict[str, object], tmp_path: Path
) -> None:
    path = tmp_path / "odd.safetensors"
    storage.save_model(path, {"a": torch.zeros(2)}, content)
    with pytest.raises(
        storage.ModelFileError, match=r"odd\.safetensors is (not a model file of scn|damaged)"
    ):
        storage.load_model(path)
