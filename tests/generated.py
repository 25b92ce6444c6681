"""Compile generated C on this machine and call it from Python."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from needs import tool
from scn import SCN, methods, transforms
from scn.data import Normalisation
from scn.export import Options, Subject, c

STRICT = (
    *("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Wshadow"),
    *("-Wcast-align", "-Wundef", "-Werror"),
)
OK, NOT_CONFIGURED, BAD_ALPHA, BAD_PARAMS, BUSY, BAD_INPUT = range(6)
FloatPointer = ctypes.POINTER(ctypes.c_float)


def compiled(*arguments: str | Path) -> str:
    """Run a compiler; what it says is the reason why a test failed."""
    result = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def shared(sources: Sequence[Path], library: Path, compiler: str, *flags: str) -> ctypes.CDLL:
    """Compile C to a library and load it.

    It is linked without the flags it was compiled with: linked with -Ofast, a library that is loaded makes
    the whole process round small numbers to 0.
    """
    objects = [library.with_name(f"{source.stem}.o") for source in sources]
    for source, compiled_to in zip(sources, objects, strict=True):
        compiled(compiler, *flags, "-fPIC", "-c", source, "-o", compiled_to)
    compiled(compiler, "-shared", *objects, "-lm", "-o", library)
    loaded = ctypes.CDLL(str(library))
    assert sys.float_info.min / 2 > 0, f"{library} rounds small numbers to 0, in all that this process does"
    return loaded


def subject(net: nn.Module, shape: tuple[int, ...], transform: str = "rotation", **more: object) -> Subject:
    """A network as a run would give it."""
    kind = methods.get("scn" if isinstance(net, SCN) else "one4all")
    dims = net.dims if isinstance(net, SCN) else 1
    given = {"name": "net", "data": "no such file.npz", **more}
    method = kind(transforms.get(transform), dims=dims)
    return Subject(network=net, method=method, shape=shape, normalisation=Normalisation(), **given)  # type: ignore[arg-type]


@dataclass
class Program:
    """A network compiled to a shared library."""

    library: ctypes.CDLL
    name: str
    classes: int
    source: Path
    state: ctypes.Array[ctypes.c_char] | None = None

    def call(self, function: str, *arrays: np.ndarray) -> int:
        pointers = [a.ctypes.data_as(FloatPointer) for a in arrays]
        own = [self.state] if self.state is not None and function in ("mix", "configure", "infer") else []
        return int(getattr(self.library, f"{self.name}_{function}")(*own, *pointers))

    def encode(self, params: Tensor, size: int) -> tuple[int, Tensor]:
        alpha = np.zeros(size, np.float32)
        status = self.call("encode", params.float().numpy(), alpha)
        return status, torch.from_numpy(alpha)

    def beta(self, alpha: Tensor, dims: int) -> Tensor:
        beta = np.zeros(dims, np.float32)
        assert self.call("beta", alpha.float().numpy(), beta) == OK
        return torch.from_numpy(beta)

    def configure(self, alpha: Tensor) -> int:
        return self.call("configure", alpha.float().contiguous().numpy())

    def infer(self, x: Tensor) -> tuple[int, Tensor]:
        logits = np.zeros(self.classes, np.float32)
        status = self.call("infer", x.float().contiguous().numpy(), logits)
        return status, torch.from_numpy(logits)

    def answers(self, x: Tensor) -> Tensor:
        found = []
        for sample in x:
            status, logits = self.infer(sample)
            assert status == OK
            found.append(logits)
        return torch.stack(found)


def built(what: Subject, options: Options, folder: Path, *flags: str) -> Program:
    """Generate, compile as strictly as can be, and load."""
    gcc = tool("gcc")
    folder.mkdir(parents=True, exist_ok=True)
    report = c.write(what, options, folder)
    source, library = folder / f"{what.name}.c", folder / f"lib{what.name}.so"
    loaded = shared([source], library, gcc, "-std=c99", *STRICT, "-O1", *flags)
    state = None
    if options.state == "explicit":
        state = ctypes.create_string_buffer(report.facts["ram"]["total"] + 64)
    return Program(loaded, what.name, report.facts["outputs"], source, state)
