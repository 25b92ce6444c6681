"""The run folder: one trained network with everything needed to use and to repeat it.

config.json          what it is: method, data, transform, backbone, recipe, seed, versions
model.safetensors    the network, once training has ended
metrics.jsonl        one line for each epoch
checkpoint/          where training goes on, until it has ended
scores.csv           params, alpha and the score on the test data, as `evaluate` wrote them (see scores.py)
evaluation.json      what that score was measured on, and its mean, lowest and highest value
search-*.json, .png  how well the run finds the setting itself, as `search` measured it
device.json          flash, RAM and instructions on emulated processors, as `device` measured them
estimator.safetensors  an estimator of the setting, which knows the data but not the network
"""

from __future__ import annotations

import functools
import json
import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import nn

from scn import backbones, methods, objectives, transforms
from scn.backbones.build import find_class
from scn.core.compact import FULL
from scn.core.errors import AlreadyThere, NotThere, ScnError
from scn.core.maps import LEARNED
from scn.core.registry import allowed
from scn.core.storage import write_atomically
from scn.data import Normalisation
from scn.methods import Method
from scn.objectives import Objective
from scn.runs.scores import FORMER_STEM, STEM
from scn.training.recipe import Recipe
from scn.transforms import Transform

FORMAT = 2
CONFIG, METRICS, DEVICE = "config.json", "metrics.jsonl", "device.json"
CHECKPOINT = Path("checkpoint") / "state.safetensors"
MEASURED = (f"{STEM}*.csv", f"{FORMER_STEM}*.csv", "evaluation*.json", "search-*.*", DEVICE)


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
    map: dict[str, Any] = field(default_factory=lambda: {"name": LEARNED})
    subspace: str = FULL
    objective: dict[str, Any] = field(default_factory=lambda: {"name": objectives.USUAL})
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
    def config_file(self) -> Path:
        return self.folder / CONFIG

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

    @property
    def metrics_file(self) -> Path:
        return self.folder / METRICS

    @property
    def checkpoint_file(self) -> Path:
        return self.folder / CHECKPOINT

    @property
    def device_file(self) -> Path:
        return self.folder / DEVICE

    @property
    def estimator_file(self) -> Path:
        return self.folder / "estimator.safetensors"

    def search_file(self, way: str, ending: str = "json") -> Path:
        return self.folder / f"search-{way}.{ending}"

    def search_files(self) -> list[Path]:
        """Of all searches that were measured."""
        return sorted(self.folder.glob("search-*.json"))

    def recipe(self) -> Recipe:
        return Recipe(**self.config.recipe)

    def objective(self) -> Objective:
        recipe, arguments = self.recipe(), dict(self.config.objective)
        kind = objectives.get(arguments.pop("name"))
        kept = {name: tuple(v) if isinstance(v, list) else v for name, v in arguments.items()}
        return kind(**kept, **{name: getattr(recipe, name) for name in kind.tuned_by})

    def method(self, preset: str | None = None) -> Method:
        """The method of this run, with its own preset of the transform or another."""
        fixed = None if self.config.fixed is None else torch.tensor(self.config.fixed)
        return methods.get(self.config.method)(
            self.transform(preset),
            self.recipe(),
            self.config.dims,
            fixed,
            tuple(self.config.configurable),
            self.objective(),
            self.config.map,
            self.config.subspace,
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
        with torch.random.fork_rng():
            return self.method().load(self.model_file, backbone or backbone_of(self))

    def save_network(self, net: nn.Module) -> None:
        """Write the network; what was measured of another one is void."""
        self.void_measurements()
        self.method().save(net, self.model_file)

    def write_config(self) -> None:
        """Write what the run is, in place of what it was."""
        write_json(self.config_file, asdict(self.config))

    def void_measurements(self) -> None:
        """Remove everything that was measured of a network that is no longer there."""
        for pattern in MEASURED:
            for old in self.folder.glob(pattern):
                old.unlink()


def is_run(folder: Path) -> bool:
    """Whether this folder holds a run."""
    return (folder / CONFIG).exists()


def create(folder: Path, config: RunConfig) -> Run:
    """A new run folder; a folder that holds a run already is refused."""
    if is_run(folder):
        raise AlreadyThere(f"{folder} holds a run already: choose another folder for the new one")
    if folder.exists() and not folder.is_dir():
        raise AlreadyThere(f"{folder} is a file: choose a folder for the run")
    folder.mkdir(parents=True, exist_ok=True)
    run = Run(folder, config)
    run.write_config()
    return run


def read(folder: Path) -> Run:
    """The run in this folder."""
    path = folder / CONFIG
    if not path.is_file():
        raise NotThere(f"{folder} is not a run: it has no {CONFIG}. `scn train` makes a run")
    try:
        content = json.loads(path.read_text())
        if content["format"] > FORMAT:
            raise ScnError(f"format {content['format']} is newer than this scn")
        for name in ("method", "data", "transform", "preset"):
            if not isinstance(content[name], str):
                raise ScnError(f"{name} must be a name, but is {content[name]!r}")
        _refuse_newer_recipe(content["recipe"])
        if content["format"] == 1:
            content["preset"] = transforms.former_preset(content["transform"], content["preset"])
        return Run(folder, RunConfig(**content))
    except (ValueError, KeyError, TypeError) as error:
        raise ScnError(f"{path} is not the description of a run: {error}") from error


def _refuse_newer_recipe(recipe: dict[str, Any]) -> None:
    """A value that is not known may be the one that matters."""
    unknown = sorted(recipe.keys() - {field.name for field in fields(Recipe)})
    if unknown:
        raise ScnError(f"its recipe has {', '.join(unknown)}, which this scn does not know: use a newer one")


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
        raise ScnError(f"{run.folder} has a backbone of your own: say `backbone={own}`")
    return functools.partial(find_class(own), **description.get("arguments", {}))
