"""The run folder: one trained network with everything needed to use and to repeat it.

config.json          what it is: method, data, transform, backbone, recipe, seed, versions
model.safetensors    the network, once training has ended
metrics.jsonl        one line for each epoch
checkpoint/          where training goes on, until it has ended
accuracy.csv         params, alpha and accuracy on the test data, as `evaluate` wrote them
evaluation.json      what that accuracy was measured on, and its mean, lowest and highest value
device.json          flash, RAM and instructions on emulated processors, as `device` measured them
"""

from __future__ import annotations

import csv
import functools
import io
import json
import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import nn

from scn import backbones, methods, transforms
from scn.backbones.build import find_class
from scn.core.errors import AlreadyThere, NotThere, ScnError
from scn.core.network import SCN
from scn.core.registry import allowed, build_backbone, describe_backbone
from scn.core.storage import load_model, save_model, write_atomically
from scn.data import Normalisation
from scn.methods import Method
from scn.runs.evaluate import Accuracy
from scn.training.recipe import Recipe
from scn.transforms import Transform

FORMAT = 1


def versions() -> dict[str, str]:
    """What a result depends on beside the code that made it."""
    names = ("scn", "torch", "numpy")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


@dataclass(frozen=True)
class RunConfig:
    """What a run is, as config.json says it."""

    method: str
    data: str
    transform: str
    preset: str
    backbone: dict[str, Any]
    dims: int = 1
    fixed: list[float] | None = None
    configurable: list[str] = field(default_factory=lambda: ["*"])
    seed: int = 0
    recipe: dict[str, Any] = field(default_factory=dict)
    normalisation: dict[str, Any] = field(default_factory=lambda: asdict(Normalisation()))
    samples: dict[str, int] = field(default_factory=dict)
    checksum: str = ""
    source: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=versions)
    format: int = FORMAT


@dataclass(frozen=True)
class Run:
    """A run folder on disk."""

    folder: Path
    config: RunConfig

    @property
    def model_file(self) -> Path:
        return self.folder / "model.safetensors"

    @property
    def is_own_class(self) -> bool:
        """Whether the backbone is a class of the user's own."""
        return "name" not in self.config.backbone

    @property
    def is_trained(self) -> bool:
        return self.model_file.is_file()

    def method(self, preset: str | None = None) -> Method:
        """The method of this run, with its own preset of the transform or another."""
        fixed = None if self.config.fixed is None else torch.tensor(self.config.fixed)
        return methods.get(self.config.method)(
            self.transform(preset),
            Recipe(**self.config.recipe),
            self.config.dims,
            fixed,
            tuple(self.config.configurable),
        )

    def transform(self, preset: str | None = None) -> Transform:
        return transforms.get(self.config.transform, preset or self.config.preset)

    def normalisation(self) -> Normalisation:
        return Normalisation(**{k: tuple(v) for k, v in self.config.normalisation.items()})

    def network(self, backbone: Callable[[], nn.Module] | None = None) -> nn.Module:
        """The trained network; a backbone of the user's own class must be given."""
        if not self.is_trained:
            raise NotThere(
                f"{self.folder} has no trained network yet: `scn train --resume {self.folder}` goes on"
            )
        pattern = backbone() if backbone else None
        if methods.get(self.config.method).mixes:
            return SCN.load(self.model_file, pattern)
        tensors, content = load_model(self.model_file)
        net = pattern or build_backbone(content["backbone"])
        net.load_state_dict(tensors)
        return net

    def save_network(self, net: nn.Module) -> None:
        """Write the network; what was measured of another one is void."""
        for pattern in ("accuracy*.csv", "evaluation*.json", "device.json"):
            for old in self.folder.glob(pattern):
                old.unlink()
        if isinstance(net, SCN):
            net.save(self.model_file)
        else:
            save_model(self.model_file, net.state_dict(), {"backbone": describe_backbone(net)})

    def write_accuracy(
        self, result: Accuracy, transform: Transform, facts: dict[str, Any], suffix: str = ""
    ) -> Path:
        """Write the table and its summary; `suffix` keeps a special evaluation apart."""
        table = io.StringIO()
        writer = csv.writer(table, lineterminator="\n")
        names = [p.name for p in transform.parameters]
        alphas = [f"alpha_{i}" for i in range(1, transform.alpha_dim + 1)]
        writer.writerow([*names, *alphas, "accuracy"])
        columns = (result.params.tolist(), result.alpha.tolist(), result.accuracy.tolist())
        for params, alpha, accuracy in zip(*columns, strict=True):
            writer.writerow(f"{v:.9g}" for v in (*params, *alpha, accuracy))
        path = self.folder / f"accuracy{suffix}.csv"
        write_atomically(path, table.getvalue().encode())
        write_json(self.folder / f"evaluation{suffix}.json", {**facts, **result.summary()})
        return path


def create(folder: Path, config: RunConfig) -> Run:
    """A new run folder; a folder that holds a run already is refused."""
    if (folder / "config.json").exists():
        raise AlreadyThere(f"{folder} holds a run already: choose another folder for the new one")
    if folder.exists() and not folder.is_dir():
        raise AlreadyThere(f"{folder} is a file: choose a folder for the run")
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", asdict(config))
    return Run(folder, config)


def read(folder: Path) -> Run:
    """The run in this folder."""
    path = folder / "config.json"
    if not path.is_file():
        raise NotThere(f"{folder} is not a run: it has no config.json. `scn train` makes a run")
    try:
        content = json.loads(path.read_text())
        if content["format"] > FORMAT:
            raise ScnError(f"format {content['format']} is newer than this scn")
        for name in ("method", "data", "transform", "preset"):
            if not isinstance(content[name], str):
                raise ScnError(f"{name} must be a name, but is {content[name]!r}")
        return Run(folder, RunConfig(**content))
    except (ValueError, KeyError, TypeError) as error:
        raise ScnError(f"{path} is not the description of a run: {error}") from error


def write_json(path: Path, content: dict[str, Any]) -> None:
    write_atomically(path, (json.dumps(content, indent=2) + "\n").encode())


def backbone_of(run: Run, named: str | None = None) -> Callable[[], nn.Module]:
    """Makes new backbones for a run.

    A class of the user's own is named by the user, never by the file alone: reading a run must not
    execute what the run says.
    """
    description = run.config.backbone
    if "name" in description:
        return functools.partial(backbones.get(description["name"]), **description.get("arguments", {}))
    own = description["class"]
    if own != named and own not in allowed():
        raise ScnError(f"{run.folder} has a backbone of your own: say --backbone {own}")
    return functools.partial(find_class(own), **description.get("arguments", {}))
