"""Write a package for a board as a user would, and ask tools about it."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from scn import SCN, methods, transforms
from scn.backbones import MLP
from scn.data import Normalisation
from scn.export import Options, Package, Subject, targets

STUBS = Path(__file__).with_name("stubs")
WARNINGS = ("-Wall", "-Wextra", "-Werror")
SAID = Package("2.1.0-rc.1", "A. Möller <a@example.org>", url="https://example.org/network")


def a_subject(transform: str, shape: tuple[int, ...], mixes: bool = True, params: Any = None) -> Subject:
    method = methods.get("scn" if mixes else "one4all")(transforms.get(transform), dims=2)
    backbone = MLP(shape, 3, 4)
    net: nn.Module = SCN(backbone, method.transform.alpha_dim, 2) if mixes else backbone
    mean = tuple(0.1 * (i + 1) for i in range(shape[0] if len(shape) > 1 else len(shape)))
    return Subject("toy", net, method, shape, Normalisation(mean, mean), "no such file.npz", params)


CASES: dict[str, tuple[Subject, Options]] = {
    "accelerometer": (a_subject("rotation", (1, 8, 8)), Options()),
    "colours and light": (a_subject("light", (3,)), Options()),
    "several channels, no sensor": (a_subject("scaling", (3, 8, 8)), Options()),
    "two params": (a_subject("translation", (1, 8, 8)), Options(theta="row")),
    "fixed": (a_subject("rotation", (1, 8, 8), params=torch.tensor([30.0])), Options(theta="fixed")),
    "plain": (a_subject("rotation", (1, 8, 8), mixes=False), Options()),
    "wide": (a_subject("rotation", (1, 7, 30), mixes=False), Options()),
}


def exported(target: str, folder: Path, case: str = "accelerometer", **more: Any) -> Path:
    """The folder of a package; `more` is what its subject has otherwise."""
    subject, options = CASES[case]
    subject = replace(subject, **more)
    targets.get(target)(subject, options, folder)
    return folder / subject.name


def asked(*command: str | Path, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What a tool says, with a home of its own and nothing sent anywhere."""
    quiet = {"HOME": str(folder), "PLATFORMIO_SETTING_ENABLE_TELEMETRY": "no", "NO_COLOR": "1"}
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **quiet, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
