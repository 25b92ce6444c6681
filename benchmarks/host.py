"""One answer on this machine: exported C and onnxruntime with the same network, in turn, one thread each.

Both are called from Python. `python benchmarks/host.py`
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from kernels import ANGLE, INT8, Case, subject
from scn.export import Options, Subject
from scn.export import targets as exports
from timing import medians, report

ROUNDS, CALLS = 600, 5  # so short that another process seldom comes in between
FLAGS = ("-O3", "-march=native")
Answers = Callable[[], object]


def exported(what: Subject, options: Options, folder: Path, x: np.ndarray) -> Answers:
    """Calls of the C code, configured for one setting."""
    exports.get("c")(what, options, folder)
    library = folder / "net.so"
    command = ["gcc", "-std=c99", *FLAGS, "-fPIC", "-shared", str(folder / "net.c"), "-o", str(library)]
    subprocess.run(command, check=True)
    loaded = ctypes.CDLL(str(library))
    alpha, logits = what.transform.encode(ANGLE).numpy(), np.zeros(what.outputs, np.float32)
    assert loaded.net_configure(alpha.ctypes.data_as(ctypes.c_void_p)) == 0
    given = [array.ctypes.data_as(ctypes.c_void_p) for array in (x, logits)]
    assert loaded.net_infer(*given) == 0
    return lambda: [loaded.net_infer(*given) for _ in range(CALLS)]


def other(what: Subject, folder: Path, x: np.ndarray) -> Answers:
    """Calls of onnxruntime for the same configuration."""
    files = exports.get("onnx")(replace(what, params=ANGLE), Options(theta="fixed"), folder).files
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(files[1]), options, providers=["CPUExecutionProvider"])
    return lambda: [session.run(None, {"x": x}) for _ in range(CALLS)]


def main() -> None:
    torch.set_num_threads(1)
    x = np.random.default_rng(0).normal(size=(1, 1, 32, 32)).astype(np.float32)
    with tempfile.TemporaryDirectory() as place:
        contestants = {}
        for kind, options in (("float32", Options()), ("int8", INT8)):
            what = subject(Case(kind, "LeNet-5", options, 2, "infer", "call", None))
            contestants[f"C, {kind}"] = exported(what, options, Path(place) / kind, x)
        contestants["onnxruntime"] = other(what, Path(place) / "onnx", x)
        found = medians(contestants, ROUNDS)
    for name, seconds in found.items():
        print(f"{name:<14}{seconds / CALLS * 1e6:7.1f} µs an answer")
    report("LeNet-5", found, "onnxruntime", {"C, float32": 1.0, "C, int8": 1.0})


if __name__ == "__main__":
    main()
