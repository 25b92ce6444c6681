"""Runs found by their content: a run is named after everything that decides what comes of it.

Who asks for the same run again finds it, whatever was asked for around it; who asks for another one gets
another folder.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict
from typing import Any

from scn import methods
from scn.core.compact import FULL
from scn.data import short_name
from scn.experiment.jobs import job_name, kind_label
from scn.runs import RunConfig

COMPUTED = 1  # to be raised when the same configuration comes to another result
COMPUTED_BY = ("scn", "torch")  # of the versions that a run notes
DIGITS = 10  # of the key, in the name of a folder
LONGEST = 150  # letters of what is readable there


def content_key(config: RunConfig) -> str:
    """One text for one content: what is trained how on which data, and what computes it.

    Data are known by their checksum, wherever they are.
    """
    said = asdict(config)
    by = said.pop("versions")
    del said["format"]
    if config.checksum:
        del said["data"]
    content = {**said, "computed": COMPUTED, "by": {name: by[name] for name in COMPUTED_BY}}
    return hashlib.sha256(json.dumps(_comparable(content), sort_keys=True).encode()).hexdigest()


def run_name(config: RunConfig) -> str:
    """The name of a run, and of its folder: what a person knows it by, and the beginning of its key.

    Names of one task begin alike, so that a shell finds them together.
    """
    backbone = str(config.backbone.get("name") or config.backbone.get("class"))
    task = "-".join((config.transform, backbone, short_name(config.data)))
    readable = re.sub(r"[^\w.+-]", ".", f"{task}-{job_name(config.method, _label(config), config.seed)}")
    return f"{readable[:LONGEST]}-{content_key(config)[:DIGITS]}"


def _label(config: RunConfig) -> str:
    """What the name says between method and seed."""
    kind = methods.get(config.method)
    if config.fixed is not None:
        return "_".join(f"{value:g}" for value in config.fixed)
    if kind.factors:
        return f"{config.dims}x"
    chosen = {"map": config.map["name"], "subspace": "" if config.subspace == FULL else config.subspace}
    more = ", ".join(chosen[name] for name in kind.takes if chosen[name])
    return kind_label(more, config.dims if kind.mixes else None)


def _comparable(value: Any) -> Any:
    """The same text for what is equal: 1 and 1.0, a list and a tuple."""
    if isinstance(value, dict):
        return {name: _comparable(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_comparable(inner) for inner in value]
    return float(value) if type(value) is int else value
