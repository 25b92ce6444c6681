"""The run folder: one trained network with everything needed to use and to repeat it.

config.json          what it is: method, data, transform, backbone, versions
model.safetensors    the network
accuracy.csv         params, alpha and accuracy on the test data, as `evaluate` wrote them
evaluation.json      what that accuracy was measured on, and its mean, lowest and highest value
"""

from __future__ import annotations

import csv
import io
import json
import platform
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from scn import transforms
from scn.core.network import SCN
from scn.core.storage import write_atomically
from scn.evaluate import Accuracy
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
    dims: int
    source: dict[str, Any]
    versions: dict[str, str] = field(default_factory=versions)
    format: int = FORMAT


@dataclass(frozen=True)
class Run:
    """A run folder on disk."""

    folder: Path
    config: RunConfig

    def network(self) -> SCN:
        return SCN.load(self.folder / "model.safetensors")

    def transform(self, preset: str | None = None) -> Transform:
        """The transform of this run, with its own preset or another."""
        return transforms.get(self.config.transform, preset or self.config.preset)

    def write_accuracy(
        self, result: Accuracy, transform: Transform, facts: dict[str, Any], suffix: str = ""
    ) -> Path:
        """Write the table and its summary; `suffix` keeps a special evaluation apart."""
        table = io.StringIO()
        writer = csv.writer(table, lineterminator="\n")
        names = [p.name for p in transform.parameters]
        alphas = [f"alpha_{i}" for i in range(1, transform.alpha_dim + 1)]
        writer.writerow([*names, *alphas, "accuracy"])
        for params, alpha, accuracy in zip(
            result.params.tolist(), result.alpha.tolist(), result.accuracy.tolist(), strict=True
        ):
            writer.writerow(f"{v:.9g}" for v in (*params, *alpha, accuracy))
        path = self.folder / f"accuracy{suffix}.csv"
        write_atomically(path, table.getvalue().encode())
        write_json(self.folder / f"evaluation{suffix}.json", {**facts, **result.summary()})
        return path


def create(folder: Path, config: RunConfig, network: SCN) -> Run:
    """A new run folder; a folder that holds a run already is refused."""
    if (folder / "config.json").exists():
        raise FileExistsError(f"{folder} holds a run already: choose another folder for the new one")
    folder.mkdir(parents=True, exist_ok=True)
    network.save(folder / "model.safetensors")
    write_json(folder / "config.json", asdict(config))
    return Run(folder, config)


def read(folder: Path) -> Run:
    """The run in this folder."""
    path = folder / "config.json"
    if not path.is_file():
        raise FileNotFoundError(f"{folder} is not a run: it has no config.json. `scn import` makes a run")
    try:
        content = json.loads(path.read_text())
        if content["format"] > FORMAT:
            raise ValueError(f"format {content['format']} is newer than this scn")
        return Run(folder, RunConfig(**content))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not the description of a run: {error}") from error


def write_json(path: Path, content: dict[str, Any]) -> None:
    write_atomically(path, (json.dumps(content, indent=2) + "\n").encode())
