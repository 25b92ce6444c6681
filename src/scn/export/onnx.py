"""ONNX: the whole SCN, (x, alpha) -> outputs, and the network configured for one setting, x -> outputs.

The batch size is free in both; alpha (S,) is one for the batch. Each file is run by onnxruntime before it
is kept, and its outputs must be those of torch.
"""

from __future__ import annotations

import importlib.util
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from scn.core.errors import Failed, ScnError
from scn.core.network import SCN
from scn.core.storage import failures_named
from scn.export.base import Options, Report, target
from scn.export.onnx_attributes import drop_idle
from scn.export.predictions import meaning_of
from scn.export.staging import final
from scn.export.subject import Subject

NEEDED = ("onnx", "onnxscript", "onnxruntime")
TOLERANCE = 1e-5  # of the largest output, or of 1
BATCHES = (1, 5)  # that a file is tried on


class _Whole(nn.Module):
    """An SCN without the checks of its arguments, which look at values and cannot be part of a graph."""

    def __init__(self, net: SCN) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor, alpha: Tensor) -> Tensor:
        return self.net.answer(x, self.net.map(alpha.unsqueeze(0)))


def check(subject: Subject, options: Options) -> None:
    """An ONNX file has none of the options of C code."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise Failed(f"an ONNX export needs {', '.join(missing)}: `pip install 'scn[export]'`")
    for name, value in vars(options).items():
        if value not in (getattr(Options(), name), "fixed"):
            raise ScnError(f"{name}={value} is for C code: an ONNX file holds float32 weights, and no state")


@target("onnx", check)
def write(subject: Subject, options: Options, folder: Path) -> Report:
    """NAME.onnx, and for an SCN NAME_configured.onnx."""
    net, files = subject.network, [folder / f"{subject.name}.onnx"]
    facts: dict[str, Any] = {"name": subject.name, **meaning_of(subject).facts}
    if not isinstance(net, SCN):
        return Report(files, {**facts, "max_difference": _export(net, (), subject, files[0])})
    chosen = subject.transform.regular()[0] if subject.params is None else subject.params
    alpha = subject.transform.encode(chosen)
    files.append(folder / f"{subject.name}_configured.onnx")
    found = [
        _export(_Whole(net), (alpha,), subject, files[0]),
        _export(subject.plain(chosen), (), subject, files[1]),
    ]
    facts |= {
        "inputs": {"x": ["batch", *subject.shape], "alpha": [net.alpha_dim]},
        "configured_for": chosen.tolist(),
        "configured_by": "default: the first setting of the grid" if subject.params is None else "params",
        "max_difference": max(found),
    }
    return Report(files, facts)


def _export(net: nn.Module, alpha: tuple[Tensor, ...], subject: Subject, path: Path) -> float:
    """Write one file and return how far onnxruntime's outputs are from those of torch."""
    with _quiet():
        program = torch.onnx.export(
            net.eval(),
            (torch.zeros(2, *subject.shape), *alpha),
            dynamo=True,
            verbose=False,
            input_names=["x", "alpha"][: 1 + len(alpha)],
            output_names=[meaning_of(subject).outputs],
            dynamic_shapes=({0: torch.export.Dim("batch")}, *(None for _ in alpha)),
        )
    assert program is not None
    with failures_named(final(path)):
        program.save(path, external_data=False)
        drop_idle(path)
    difference, scale = differences(path, net, alpha, subject.shape)
    if not difference <= TOLERANCE * max(1.0, scale):
        raise Failed(
            f"onnxruntime's outputs differ from torch's by {difference:g}, with outputs up to {scale:g}: "
            f"{path.name} was not kept"
        )
    return difference


@torch.no_grad()
def differences(
    path: Path, net: nn.Module, alpha: tuple[Tensor, ...], shape: tuple[int, ...]
) -> tuple[float, float]:
    """The largest difference between onnxruntime and torch, over several batch sizes; the largest output."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    generator, difference, scale = torch.Generator().manual_seed(0), 0.0, 0.0
    for batch in BATCHES:
        x = torch.randn(batch, *shape, generator=generator)
        given = dict(zip(["x", "alpha"], (value.numpy() for value in (x, *alpha)), strict=False))
        (ours,) = session.run(None, given)
        theirs = net(x, *alpha).numpy()
        difference = max(difference, float(np.abs(ours - theirs).max()))
        scale = max(scale, float(np.abs(theirs).max()))
    return difference, scale


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what torch's exporter says about its own inner parts."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        logger.setLevel(level)
