"""ONNX files: onnxruntime answers as torch does, for the whole SCN and for a configured network."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from scn import SCN, backbones, methods, transforms
from scn.core.errors import ScnError
from scn.data import Normalisation
from scn.export import Options, Subject, onnx, targets

onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime (make venv installs it)")


def a_subject(
    backbone: str, shape: tuple[int, ...], mixes: bool = True, params: Tensor | None = None
) -> Subject:
    method = methods.get("scn" if mixes else "one4all")(transforms.get("rotation"), dims=3)
    sizes = {"width": 4} if backbone != "lenet5" else {}
    build, _ = backbones.factory(backbone, shape, 5, **sizes)
    net: nn.Module = SCN(build(), 2, 3) if mixes else build()
    for module in net.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            assert module.running_mean is not None
            module.running_mean.normal_()
    return Subject("toy", net, method, shape, Normalisation(), "digits", params)


def answers(path: Path, **given: Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (logits,) = session.run(["logits"], {name: value.numpy() for name, value in given.items()})
    return np.asarray(logits)


@pytest.mark.parametrize(
    ("backbone", "shape"),
    [
        ("lenet5", (1, 32, 32)),
        pytest.param("shallow-cnn", (3, 32, 32), marks=pytest.mark.slow),
        pytest.param("m5", (1, 2000), marks=pytest.mark.slow),
    ],
)
@torch.no_grad()
def test_onnxruntime_answers_as_torch_does(backbone: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    subject = a_subject(backbone, shape, params=torch.tensor([75.0]))
    report = targets.get("onnx")(subject, Options(theta="fixed"), tmp_path)
    assert report.files == [tmp_path / "toy.onnx", tmp_path / "toy_configured.onnx"]
    assert report.facts["configured_for"] == [75.0]
    plain = subject.plain(torch.tensor([75.0]))
    for batch in (1, 3):  # the batch size is free
        x, alpha = torch.randn(batch, *shape), torch.tensor([0.6, -0.8])
        expected = subject.network(x, alpha).numpy()
        np.testing.assert_allclose(answers(report.files[0], x=x, alpha=alpha), expected, atol=1e-5)
        np.testing.assert_allclose(answers(report.files[1], x=x), plain(x).numpy(), atol=1e-5)
    assert np.abs(expected - subject.network(x, -alpha).numpy()).max() > 1e-3, "alpha must matter"


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[tuple[nn.Module, str]]:
    """What would be written, without the time that torch's exporter takes."""
    found: list[tuple[nn.Module, str]] = []

    def export(net: nn.Module, alpha: object, shape: object, path: Path) -> float:
        found.append((net, path.name))
        return 0.0

    monkeypatch.setattr(onnx, "_export", export)
    return found


def test_a_plain_network_is_one_file(tried: list[tuple[nn.Module, str]], tmp_path: Path) -> None:
    subject = a_subject("mlp", (1, 8, 8), mixes=False)
    report = targets.get("onnx")(subject, Options(), tmp_path)
    assert report.files == [tmp_path / "toy.onnx"]
    assert tried == [(subject.network, "toy.onnx")]


def test_without_alpha_the_first_setting_of_the_grid_is_taken_and_said(
    tried: list[tuple[nn.Module, str]], tmp_path: Path
) -> None:
    report = targets.get("onnx")(a_subject("mlp", (1, 8, 8)), Options(), tmp_path)
    assert report.facts["configured_for"] == [0.0]
    assert "first setting of the grid" in report.facts["configured_by"]
    assert [name for _, name in tried] == ["toy.onnx", "toy_configured.onnx"]


@pytest.mark.parametrize(("difference", "scale", "fails"), [(2e-5, 1.0, True), (2e-5, 9.0, False)])
def test_answers_that_differ_are_an_error_and_leave_no_file(
    difference: float, scale: float, fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Program:
        def save(self, path: Path, external_data: bool) -> None:
            path.write_text("graph")

    monkeypatch.setattr(torch.onnx, "export", lambda *_, **__: Program())
    monkeypatch.setattr(onnx, "drop_idle", lambda _: None)
    monkeypatch.setattr(onnx, "differences", lambda *_: (difference, scale))
    write, subject = targets.get("onnx"), a_subject("mlp", (1, 8, 8), mixes=False)
    if not fails:
        assert write(subject, Options(), tmp_path).facts["max_difference"] == difference
        return
    with pytest.raises(ScnError, match=r"outputs differ from torch's by 2e-05.*toy\.onnx was not kept"):
        write(subject, Options(), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "options", [Options(weights="int8"), Options(state="explicit"), Options(theta="row")]
)
def test_options_of_c_code_are_refused(options: Options, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is for C code"):
        targets.get("onnx")(a_subject("mlp", (1, 8, 8)), options, tmp_path)


def test_without_the_extra_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec

    def without(name: str) -> object:
        return None if name == "onnxscript" else found(name)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    with pytest.raises(ScnError, match=r"needs onnxscript: `pip install 'scn\[export\]'`"):
        targets.get("onnx")(a_subject("mlp", (1, 8, 8)), Options(), tmp_path)


@pytest.mark.parametrize("backbone", ["lenet5", "mlp"])
def test_attributes_that_say_nothing_are_left_out(backbone: str, tmp_path: Path) -> None:
    """onnx2c refuses `allowzero` and `storage_order`, whatever their value."""
    import onnx as library

    report = targets.get("onnx")(a_subject(backbone, (1, 32, 32)), Options(), tmp_path)
    for path in report.files:
        nodes = library.load(path).graph.node
        assert nodes
        names = {attribute.name for node in nodes for attribute in node.attribute}
        assert not names & {"allowzero", "storage_order"}
