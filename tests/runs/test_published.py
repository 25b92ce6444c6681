"""Checkpoints of the paper's authors, imported, give the published accuracy at every degree."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from commands import run
from needs import real_file
from published_files import Arrays, checkpoint
from scn import SCN, transforms
from scn.experiment.published import read_checkpoint


@pytest.mark.parametrize(
    ("dims", "step"),
    [(3, 15), (8, 5), *(pytest.param(dims, 1, marks=pytest.mark.slow) for dims in (3, 8))],
)
def test_published_accuracy_and_beta_at_every_degree(dims: int, step: int, tmp_path: Path) -> None:
    real_file("SCN_DATA_DIR", "fashion-mnist.npz")
    curves = np.load(real_file("SCN_REFERENCE_DIR", "rotation_mlp_fmnist_curves.npz"))
    checkpoint = real_file("SCN_REFERENCE_DIR", f"rotation_mlp_fmnist_d{dims}_weights.npz")
    folder = tmp_path / "run"
    assert run("import", str(checkpoint), "-o", str(folder)).code == 0
    assert run("evaluate", str(folder), "--step", str(step), "--preset", "paper").code == 0

    rows = list(csv.DictReader((folder / "scores.csv").read_text().splitlines()))
    assert [float(row["angle"]) for row in rows] == list(range(0, 360, step))
    accuracy = np.array([float(row["accuracy"]) for row in rows])
    assert np.abs(accuracy - curves[f"scn_d{dims}_accuracy"][::step]).max() <= 0.0002
    beta = SCN.load(folder / "model.safetensors").beta(
        transforms.get("rotation").encode(torch.arange(360.0)[:, None])
    )
    assert np.abs(beta.detach().numpy() - curves[f"scn_d{dims}_beta"]).max() <= 1e-4


def test_published_accuracy_of_one_configuration_on_all_angles(tmp_path: Path) -> None:
    real_file("SCN_DATA_DIR", "fashion-mnist.npz")
    curves = np.load(real_file("SCN_REFERENCE_DIR", "rotation_mlp_fmnist_curves.npz"))
    checkpoint = real_file("SCN_REFERENCE_DIR", "rotation_mlp_fmnist_d3_weights.npz")
    run("import", str(checkpoint), "-o", str(tmp_path / "run"))
    result = json.loads(run("evaluate", str(tmp_path / "run"), "--step", "30", "--fixed", "0", "--json").out)
    published = curves["scn_d3_accuracy_fixed0"][::30]
    assert np.abs(np.array(result["accuracy"]) - published).max() <= 0.0002


@pytest.mark.parametrize("widths", [(1024, 4, 3), (1024, 5, 5, 3)])
def test_every_array_finds_its_place(widths: tuple[int, ...], tmp_path: Path) -> None:
    arrays = checkpoint(widths=widths)
    np.savez(tmp_path / "c.npz", **arrays)  # type: ignore[arg-type]
    net = read_checkpoint(tmp_path / "c.npz")
    alpha = np.array([0.6, 0.8], np.float32)
    hidden = np.maximum(arrays["hyper_stack.0.weight"] @ alpha + arrays["hyper_stack.0.bias"], 0)
    scores = np.exp(arrays["hyper_stack.2.weight"] @ hidden + arrays["hyper_stack.2.bias"])
    beta = scores / scores.sum()
    x = np.random.default_rng(1).normal(size=1024).astype(np.float32)
    out = x
    for n in range(1, len(widths)):
        weight = sum(b * arrays[f"weight_list_fc{n}.{i}"] for i, b in enumerate(beta))
        bias = sum(b * arrays[f"bias_list_fc{n}.{i}"] for i, b in enumerate(beta))
        out = weight @ out + bias
        out = np.maximum(out, 0) if n < len(widths) - 1 else out
    ours = net(torch.from_numpy(x).view(1, 1, 32, 32), alpha)[0].detach().numpy()
    np.testing.assert_allclose(ours, out, rtol=1e-3, atol=1e-3)


def without(name: str) -> Arrays:
    arrays = checkpoint()
    del arrays[name]
    return arrays


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, r"has no array hyper_stack\.0\.weight of 2 dimension\(s\): a published checkpoint holds"),
        (without("weight_list_fc2.1"), r"has no array weight_list_fc2\.1"),
        (without("hyper_stack.2.bias"), r"has no array hyper_stack\.2\.bias"),
        (
            {**checkpoint(), "weight_list_fc2.1": np.zeros((3, 9))},
            r"weight_list_fc2\.1 has shape \(3, 9\)",
        ),
        ({**checkpoint(), "hyper_stack.0.weight": np.zeros((32, 2))}, "32 hidden units, ours 64"),
        (checkpoint(widths=(100, 4, 3)), "first layer takes 100 values"),
        (checkpoint(widths=(1024, 3)), "has a single linear layer"),
        ({**checkpoint(), "hyper_stack.2.bias": np.full(2, np.nan)}, "not finite real numbers"),
        ({**checkpoint(), "hyper_stack.0.weight": np.zeros(64)}, r"hyper_stack\.0\.weight"),
    ],
)
def test_checkpoints_of_another_form(arrays: Arrays, message: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "c.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        read_checkpoint(tmp_path / "c.npz")


def test_a_checkpoint_that_is_no_npz(tmp_path: Path) -> None:
    (tmp_path / "c.npz").write_text("hello")
    with pytest.raises(ValueError, match=r"c\.npz is not an \.npz file of plain arrays"):
        read_checkpoint(tmp_path / "c.npz")
