"""The whole test set through the exported C under the sanitizers, for a published network."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from commands import run
from generated import compiled
from needs import real_file, tool
from scn import data, runs
from scn.data import to_float
from scn.export import Options, subject_of, targets

ANGLE = torch.tensor([130.0])
MAIN = """
#include <stdio.h>
#include "net.h"
int main(void)
{
    static float x[NET_INPUT_SIZE], y[NET_CLASSES];
    float angle = 130.0f, alpha[NET_ALPHA_SIZE];
    FILE *in = fopen("x.bin", "rb"), *out = fopen("y.bin", "wb");
    if (!in || !out || net_encode(&angle, alpha) != SCN_OK || net_configure(alpha) != SCN_OK) return 1;
    while (fread(x, sizeof x, 1, in) == 1)
        if (net_infer(x, y) != SCN_OK || fwrite(y, sizeof y, 1, out) != 1) return 2;
    return fclose(in) || fclose(out);
}
"""


@pytest.mark.parametrize(
    ("options", "agreement"), [(Options(), 0.9999), (Options(weights="int8", inference="int8"), 0.98)]
)
def test_no_sanitizer_complains_over_the_whole_test_set(
    options: Options, agreement: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gcc = tool("gcc")
    checkpoint = real_file("SCN_REFERENCE_DIR", "rotation_mlp_fmnist_d3_weights.npz")
    real_file("SCN_DATA_DIR", "fashion-mnist.npz")
    monkeypatch.chdir(tmp_path)
    assert run("import", str(checkpoint), "-o", "run").code == 0
    subject = subject_of(runs.read(tmp_path / "run"), "net")
    images, labels = data.load(subject.data).split("test")
    x = subject.normalisation(subject.transform.apply(to_float(images), ANGLE)).contiguous()
    x.numpy().tofile("x.bin")
    files = targets.get("c")(subject, options, tmp_path).files
    (tmp_path / "main.c").write_text(MAIN)
    sanitizers = ("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")
    sources = [path for path in files if path.suffix == ".c"]
    compiled(gcc, "-std=c99", "-O1", *sanitizers, *sources, tmp_path / "main.c", "-o", tmp_path / "main")
    result = subprocess.run([str(tmp_path / "main")], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    found = torch.from_numpy(np.fromfile("y.bin", np.float32).reshape(len(labels), -1))
    with torch.no_grad():
        expected = subject.plain(ANGLE)(x)
    same = (found.argmax(1) == expected.argmax(1)).double().mean().item()
    assert same >= agreement
    drop = ((expected.argmax(1) == labels).double() - (found.argmax(1) == labels).double()).mean().item()
    assert drop <= 0.01
    print(f"{same:.4f} of {len(labels)} classes as torch's, drop {drop:.4f}")
